export { openRedisStore, type RedisStoreOptions } from './lib/redis/redis-store.ts'
