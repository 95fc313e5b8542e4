export { openRedisStore } from './lib/redis/redis-store.ts'
