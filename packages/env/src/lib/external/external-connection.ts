import {
  DEFAULT_LIMITS,
  type EnvironmentInfo,
  type JsonObject,
  type Limits,
  type LimitsRequest,
} from '@episodic/protocol'
import { monotonic, randomText } from '@episodic/protocol/internal'
import { EnvError, notForkable, optionInvalid, takesNoEvents } from '../env-error.ts'
import { type Connection, type ConnectionParts, createConnection } from '../environment/connection.ts'
import type { Environment } from '../environment/environment.ts'
import type { CallOptions, Playable } from '../session/call-options.ts'
import { createExternalEpisode, type ExternalEpisode } from './external-episode.ts'
import type { ExternalSession } from './external-session.ts'

/** The version of an environment whose server names none. Tasks of any version can be played in it. */
export const UNKNOWN_VERSION = '0.0.0'

/** What all environments of these servers have in common: their protocols have one number for each step. */
export const KEPT_OUTSIDE = { terms: ['reward'], potential: false, forkable: false, limits: DEFAULT_LIMITS } as const

export interface ExternalConnectionParts extends Pick<ConnectionParts, 'environments' | 'guarantees' | 'splits'> {
  open(info: EnvironmentInfo, setting: SessionSetting, options: CallOptions): Promise<ExternalSession>
  /** Monotonic milliseconds, for time limits. Default: the clock of the machine. */
  readonly now?: (() => number) | undefined
}

export interface SessionSetting {
  readonly params: JsonObject
  readonly seed: string
}

/**
 * Creates a connection to environments whose state an external server keeps. Each episode has a session of its own.
 * Closing the connection closes the sessions of unfinished episodes, and of those that open at that moment.
 */
export function createExternalConnection({ open, now = monotonic, ...parts }: ExternalConnectionParts): Connection {
  const playing = new Set<ExternalEpisode>()
  let closed = false
  const end = async (episode: ExternalEpisode | null) => {
    if (episode && playing.delete(episode)) await episode.close()
  }

  const create = (info: EnvironmentInfo): Environment => {
    let episode: ExternalEpisode | null = null
    const close = async () => {
      const ended = episode
      episode = null
      await end(ended)
    }
    const refuse = () => Promise.reject(notForkable(info))
    return {
      info,
      async reset(task = {}, { seed = task.seed ?? randomText(), signal } = {}) {
        assertPlays(info, task)
        await close()
        signal?.throwIfAborted()
        const session = await open(info, { params: task.params ?? {}, seed }, { signal })
        const opened = createExternalEpisode(session, { seed, limits: limitsOf(info.limits, task.limits), now })
        playing.add(opened)
        if (closed) {
          await end(opened)
          throw new EnvError('connection-failed', 'The connection was closed. Open another one.')
        }
        episode = opened
        return opened.start
      },
      async step(action, options = {}) {
        if (!episode) throw new EnvError('not-playing', 'No episode is being played. Call reset first.')
        return episode.step(action, options)
      },
      publish: () => Promise.reject(takesNoEvents(info)),
      snapshot: refuse,
      restore: refuse,
      fork: refuse,
      close,
      [Symbol.asyncDispose]: close,
    }
  }

  return createConnection({
    ...parts,
    create,
    watch({ name }) {
      throw optionInvalid(`${name} cannot be watched: an external server keeps its state.`)
    },
    async close() {
      closed = true
      await Promise.all([...playing].map(end))
    },
  })
}

function assertPlays({ name, version }: EnvironmentInfo, { environment }: Playable): void {
  if (!environment) return
  if (environment.name === name && [environment.version, UNKNOWN_VERSION].includes(version)) return
  throw optionInvalid(
    `This environment plays ${name} ${version}, and the task is for ${environment.name} ${environment.version}.`,
  )
}

/** Returns limits, of which a task may set some. */
function limitsOf(own: Limits, { steps, seconds, bytes }: LimitsRequest = {}): Limits {
  return { steps: steps ?? own.steps, seconds: seconds ?? own.seconds, bytes: bytes ?? own.bytes }
}
