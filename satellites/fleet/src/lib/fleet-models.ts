import { createRedisJournal } from '@episodic/models/journal/redis-journal'
import { createRedisModelLimit } from '@episodic/models/limits/redis-model-limit'
import type { SealedRecord } from '@episodic/protocol'
import { policySeedsOf } from '@episodic/run/folder/plan/planned-episode'
import { connectQueue } from './redis/queue-connection.ts'
import { QUEUE_KEYS } from './redis/queue-keys.ts'
import type { Signer } from './signer.ts'

export type FleetModels = Awaited<ReturnType<typeof openFleetModels>>

/**
 * Connects to the Redis at `url`. Rejects as `openRedisQueue` does.
 *
 * @param signal - aborts when the process is to end, which does not wait for a Redis that does not answer.
 */
export async function openFleetModels(url: string, signer: Signer, signal: AbortSignal) {
  // The connection of the queue reports it when Redis does not answer.
  const redis = await connectQueue(url, { onNotice: () => {}, signal })
  const journalOf = (run: string, redact: (text: string) => string) =>
    createRedisJournal(redis, { prefix: `${QUEUE_KEYS.runPrefix}${run}:`, redact, signer })
  return {
    /** Holds for all runs and workers of the queue. */
    limit: createRedisModelLimit(redis, { prefix: QUEUE_KEYS.modelPrefix }),
    /**
     * Returns what keeps the answers in the episodes of a run for the worker that plays one again.
     *
     * @param redact - takes secrets out of a text. An answer that it changes is not kept.
     */
    journalOf,
    discard(run: string, record: SealedRecord): void {
      const journal = journalOf(run, (text) => text)
      for (const seed of policySeedsOf(record)) void journal.discard(seed)
    },
    async [Symbol.asyncDispose]() {
      redis.disconnect()
    },
  }
}
