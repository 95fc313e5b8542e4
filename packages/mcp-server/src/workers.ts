export { createWorkerPool, type WorkerPool } from './lib/workers/worker-pool.ts'
