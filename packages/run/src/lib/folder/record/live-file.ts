import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Action } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/internal'
import type { EpisodeInFlight } from '@episodic/report/view/run-entry'
import { oneAtATime } from '../../base/one-at-a-time.ts'
import type { EpisodeName } from '../plan/planned-episode.ts'
import { type EpisodeEvent, FollowedSteps, MOST_EVENTS } from './followed-steps.ts'
import { RUN_FILES, writeRunFile } from './run-folder.ts'

export interface PlayListener {
  onBegin(text: string): void
  onStep(text: string): void
  onCall(action: Action): void
  onTokens(tokens: number): void
}

type PlayedEpisode = { -readonly [key in Exclude<keyof EpisodeInFlight, 'since'>]: EpisodeInFlight[key] } & {
  readonly begun: number
  readonly events: EpisodeEvent[]
  dropped: number
}

/** Milliseconds between two versions of the file. */
const INTERVAL = 1_000
/** Of a call and of an answer. */
const MOST_CHARACTERS = 300
/** Episodes in the file: the oldest ones. */
const MOST_EPISODES = 256

/**
 * The file `live.json` in the folder of a run that is being played: the episodes in flight, for a viewer. It is
 * replaced whole once a second and removed at the end. It is no part of what the run records: where it cannot be
 * written there is none.
 */
export class LiveFile implements AsyncDisposable {
  readonly #folder: string
  readonly #episodes = new Set<PlayedEpisode>()
  readonly #followed: FollowedSteps
  readonly #timer: NodeJS.Timeout
  #writing: Promise<void> = Promise.resolve()
  #written = ''

  constructor(folder: string) {
    this.#folder = folder
    this.#followed = new FollowedSteps(folder)
    this.#timer = setInterval(() => {
      this.#writing = this.#write()
    }, INTERVAL)
    this.#timer.unref()
  }

  /** Adds an episode that begins. Disposing it ends it. */
  begin({ task, attempt }: EpisodeName): PlayListener & Disposable {
    const episode: PlayedEpisode = {
      task: task.id,
      attempt,
      steps: 0,
      call: null,
      answer: null,
      tokens: 0,
      begun: performance.now(),
      events: [],
      dropped: 0,
    }
    this.#episodes.add(episode)
    const note = (event: EpisodeEvent) => {
      if (episode.events.push(event) < 2 * MOST_EVENTS) return
      episode.events.splice(0, MOST_EVENTS)
      episode.dropped += MOST_EVENTS
    }
    return {
      onBegin: (text) => note({ text }),
      onStep(text) {
        note({ text })
        episode.steps += 1
        episode.answer = shorten(text, MOST_CHARACTERS)
      },
      onCall(action) {
        note({ action })
        episode.call = shorten(`${action.tool} ${JSON.stringify(action.arguments)}`, MOST_CHARACTERS)
      },
      onTokens(tokens) {
        episode.tokens += tokens
      },
      [Symbol.dispose]: () => void this.#episodes.delete(episode),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    await rm(join(this.#folder, RUN_FILES.live), { force: true }).catch(() => {})
    await this.#followed.remove()
  }

  readonly #write = oneAtATime(async () => {
    await Promise.all([this.#writeInFlight(), this.#followed.write(this.#episodes)]).catch(() => {})
  })

  async #writeInFlight(): Promise<void> {
    const now = performance.now()
    const inFlight = [...this.#episodes].slice(0, MOST_EPISODES).map(
      ({ begun, events: _, dropped: __, ...episode }): EpisodeInFlight => ({
        ...episode,
        since: Math.round(now - begun),
      }),
    )
    const text = JSON.stringify({ format: 1, inFlight })
    if (text === this.#written) return
    this.#written = text
    await writeRunFile(this.#folder, RUN_FILES.live, text)
  }
}
