import type { Redis } from 'ioredis'
import { createEpisodeJournal, type JournalOptions, type ModelJournal } from './model-journal.ts'

/** Seconds until what was kept of an episode that was never sealed expires, since its last answer. */
const TTL_SECONDS = 7 * 86_400

export interface RedisJournalOptions extends JournalOptions {
  readonly prefix: string
  /** Signs what is kept, so that an answer that was changed in Redis is asked for again. Default: nothing is signed. */
  readonly signer?: LineSigner
}

export interface LineSigner {
  /** Returns a signed text, which can be opened only in the same place. */
  sign(place: string, text: string): string
  open(place: string, signed: string): string
}

const unsigned: LineSigner = { sign: (_, text) => text, open: (_, signed) => signed }

/**
 * Creates a journal in Redis: one list for each episode that is being played, which expires a week after its last
 * answer. The caller closes the connection.
 */
export function createRedisJournal(
  redis: Redis,
  { prefix, signer = unsigned, ...options }: RedisJournalOptions,
): ModelJournal {
  const keyOf = (policySeed: string) => `${prefix}answers:${policySeed}`
  return {
    async open(policySeed) {
      const key = keyOf(policySeed)
      const signed = await redis.lrange(key, 0, -1).catch(() => [])
      const lines = signed.flatMap((line) => opened(signer, key, line))
      const append = async (line: string): Promise<void> => {
        await redis
          .multi()
          .rpush(key, signer.sign(key, line))
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

function opened(signer: LineSigner, place: string, line: string): string[] {
  try {
    return [signer.open(place, line)]
  } catch {
    return []
  }
}
