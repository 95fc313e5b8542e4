export { openRedisStore, type RedisStoreOptions } from './lib/redis-store.ts'
