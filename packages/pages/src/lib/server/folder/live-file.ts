import { join } from 'node:path'
import type { EpisodeInFlight, FollowedEpisode } from '@episodic/report/view/run-entry'
import { jsonInFile } from '@episodic/run/base/json'
import {
  type AskedEpisodes,
  MOST_FOLLOWED,
  stepsSchema,
  toEpisodeKey,
} from '@episodic/run/folder/record/followed-steps'
import { RUN_FILES, writeRunFile } from '@episodic/run/folder/record/run-folder'
import { z } from 'zod'

const liveSchema = z.object({
  format: z.literal(1),
  /** At most 256, the oldest first. */
  inFlight: z.array(
    z.object({
      task: z.string(),
      attempt: z.int().min(0),
      steps: z.int().min(0),
      call: z.string().nullable(),
      answer: z.string().nullable(),
      tokens: z.number().min(0),
      since: z.number(),
    }),
  ),
})

/** Returns the episodes that a running run plays; none if it does not say. */
export async function readInFlight(folder: string): Promise<readonly EpisodeInFlight[]> {
  return (await jsonInFile(liveSchema, join(folder, RUN_FILES.live)))?.inFlight ?? []
}

/** Milliseconds after which an episode is not asked for any more by a page that has not asked again. */
const ASK_TIMEOUT = 3_000

export class FollowedEpisodes {
  readonly #folder: string
  readonly #asked = new Map<string, { readonly episode: AskedEpisodes['episodes'][number]; readonly at: number }>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Asks the process that plays for the steps of an episode, and resolves with what it has written of it so far. */
  async follow(shown: EpisodeInFlight): Promise<FollowedEpisode> {
    const { task, attempt } = shown
    const now = performance.now()
    const key = toEpisodeKey(shown)
    this.#asked.delete(key)
    this.#asked.set(key, { episode: { task, attempt }, at: now })
    for (const [key, { at }] of this.#asked)
      if (now - at > ASK_TIMEOUT || this.#asked.size > MOST_FOLLOWED) this.#asked.delete(key)
    const asked: AskedEpisodes = { format: 1, episodes: [...this.#asked.values()].map(({ episode }) => episode) }
    // A folder that cannot be written to shows the last call and answer alone.
    await writeRunFile(this.#folder, RUN_FILES.asked, JSON.stringify(asked)).catch(() => {})
    const written = await jsonInFile(stepsSchema, join(this.#folder, RUN_FILES.steps))
    const { events = null, dropped = 0 } = written?.episodes.find((own) => toEpisodeKey(own) === key) ?? {}
    return { shown, events, dropped }
  }
}
