export { createWorkerPool, type WorkerPool, type WorkerPoolOptions } from './lib/workers/worker-pool.ts'
