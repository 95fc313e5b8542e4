import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Action } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/internal'
import { z } from 'zod'
import { RUN_FILES, writeRunFile } from './run-folder.ts'

export type EpisodeEvent = { readonly text: string } | { readonly action: Action }

interface EpisodeNow {
  readonly task: string
  readonly attempt: number
  readonly events: readonly EpisodeEvent[]
  readonly dropped: number
}

export const MOST_FOLLOWED = 8
/** Of each episode: the last ones. */
export const MOST_EVENTS = 500
/** Of each event. */
const MOST_CHARACTERS = 10_000
const MOST_ASKED = 64 * 1024
/** Looks after which a question that is not asked again is over. */
const IDLE_LOOKS = 5

const askedSchema = z.object({
  format: z.literal(1),
  episodes: z.array(z.object({ task: z.string(), attempt: z.int().min(0) })).max(MOST_FOLLOWED),
})
export type AskedEpisodes = z.infer<typeof askedSchema>

export const stepsSchema = z.object({
  format: z.literal(1),
  episodes: z.array(
    z.object({
      task: z.string(),
      attempt: z.int().min(0),
      events: z.array(z.object({ kind: z.enum(['seen', 'call']), text: z.string(), arguments: z.string().optional() })),
      dropped: z.int().min(0),
    }),
  ),
})

/**
 * The steps of episodes that are being played, for viewers that follow them: who follows writes `live-asked.json` again
 * and again, and finds the steps in `live-steps.json`. While nobody asks, this costs one look at the folder.
 */
export class FollowedSteps {
  readonly #asked: string
  readonly #folder: string
  #seen: number | null = null
  #looks = 0

  constructor(folder: string) {
    this.#folder = folder
    this.#asked = join(folder, RUN_FILES.asked)
  }

  async write(episodes: Iterable<EpisodeNow>): Promise<void> {
    const file = await stat(this.#asked).catch(() => null)
    if (!file?.isFile()) return
    this.#looks = file.mtimeMs === this.#seen ? this.#looks + 1 : 0
    this.#seen = file.mtimeMs
    if (this.#looks >= IDLE_LOOKS) return this.remove()
    if (file.size > MOST_ASKED) return
    const asked = askedSchema.parse(JSON.parse(await readFile(this.#asked, 'utf8')))
    const isAsked = new Set(asked.episodes.map(toEpisodeKey))
    const followed = [...episodes].filter((episode) => isAsked.has(toEpisodeKey(episode))).slice(0, MOST_FOLLOWED)
    const text = JSON.stringify({ format: 1, episodes: followed.map(toWritten) } satisfies z.infer<typeof stepsSchema>)
    await writeRunFile(this.#folder, RUN_FILES.steps, text)
  }

  async remove(): Promise<void> {
    const files = [this.#asked, join(this.#folder, RUN_FILES.steps)]
    await Promise.all(files.map((file) => rm(file, { force: true }).catch(() => {})))
  }
}

export function toEpisodeKey({ task, attempt }: { readonly task: string; readonly attempt: number }): string {
  return `${attempt} ${task}`
}

function toWritten({ task, attempt, events, dropped }: EpisodeNow): z.infer<typeof stepsSchema>['episodes'][number] {
  const last = events.slice(-MOST_EVENTS).map((event) => {
    if ('text' in event) return { kind: 'seen' as const, text: shorten(event.text, MOST_CHARACTERS) }
    const { tool, arguments: args } = event.action
    return { kind: 'call' as const, text: tool, arguments: shorten(JSON.stringify(args), MOST_CHARACTERS) }
  })
  return { task, attempt, events: last, dropped: dropped + events.length - last.length }
}
