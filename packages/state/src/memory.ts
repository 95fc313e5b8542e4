export { createMemoryStore } from './lib/store/memory-store.ts'
