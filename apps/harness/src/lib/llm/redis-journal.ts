import type { Redis } from 'ioredis'
import { createEpisodeJournal, type JournalOptions, type ModelJournal } from './model-journal.ts'

/** Seconds until what was kept of an episode that was never sealed expires, since its last answer. */
const TTL_SECONDS = 7 * 86_400

export interface RedisJournalOptions extends JournalOptions {
  /** The prefix of all keys. Different runs need different ones. */
  readonly prefix: string
}

/**
 * Creates a journal in Redis: one list for each episode that is being played, which expires a week after its last answer.
 * The caller closes the connection.
 */
export function createRedisJournal(redis: Redis, { prefix, ...options }: RedisJournalOptions): ModelJournal {
  const keyOf = (policySeed: string) => `${prefix}answers:${policySeed}`
  return {
    async open(policySeed) {
      const key = keyOf(policySeed)
      const lines = await redis.lrange(key, 0, -1).catch(() => [])
      const append = async (line: string): Promise<void> => {
        await redis
          .multi()
          .rpush(key, line)
          .expire(key, TTL_SECONDS)
          .exec()
          .catch(() => null)
      }
      return createEpisodeJournal(lines, append, options)
    },
    async discard(policySeed) {
      await redis.del(keyOf(policySeed)).catch(() => 0)
    },
  }
}
