import {
  DEFAULT_LIMITS,
  type EnvironmentInfo,
  type JsonObject,
  type Limits,
  type LimitsRequest,
  type ToolInfo,
} from '@episodic/protocol'
import { monotonic, randomText } from '@episodic/protocol/extend'
import { z } from 'zod'
import { EnvError, notForkable, takesNoEvents } from '../env-error.ts'
import { type Connection, createConnection } from '../environment/connection.ts'
import type { CallOptions, Environment } from '../environment/environment.ts'
import type { ExternalEnvironment } from './external-environment.ts'
import { ExternalEpisode } from './external-episode.ts'
import { openEpisodeServer } from './external-episode-server.ts'
import { listTools } from './external-server.ts'

export interface ExternalConnectionOptions extends CallOptions {
  /** Monotonic milliseconds, for time limits. */
  readonly now?: () => number
}

/**
 * Connects to an external environment: starts its server once to read the tools, and stops it again.
 *
 * Every episode has its own server. Closing the connection stops the servers of unfinished episodes.
 */
export async function openExternalConnection(
  definition: ExternalEnvironment,
  { now = monotonic, ...options }: ExternalConnectionOptions = {},
): Promise<Connection> {
  const info = await describe(definition, options)
  const playing = new Set<ExternalEpisode>()
  let closed = false

  const end = async (episode: ExternalEpisode | null) => {
    if (episode && playing.delete(episode)) await episode.close()
  }
  const refuse = () => Promise.reject(notForkable(info))
  const create = (): Environment => {
    let episode: ExternalEpisode | null = null
    const close = async () => {
      const ended = episode
      episode = null
      await end(ended)
    }
    return {
      info,
      async reset(task = {}, { seed = task.seed ?? randomText(), signal } = {}) {
        const { params, limits } = checkTask(definition, info, task)
        await close()
        signal?.throwIfAborted()
        const opened = await ExternalEpisode.open({ definition, info, params, seed, limits, now }, { signal })
        playing.add(opened)
        if (closed) {
          await end(opened)
          throw new EnvError('connection-failed', 'The connection was closed. Open another one.')
        }
        episode = opened
        return opened.start
      },
      async step(action, stepOptions = {}) {
        if (!episode) throw new EnvError('not-playing', 'No episode is being played. Call reset first.')
        return episode.step(action, stepOptions)
      },
      publish: () => Promise.reject(takesNoEvents(info)),
      snapshot: refuse,
      restore: refuse,
      fork: refuse,
      close,
      [Symbol.asyncDispose]: close,
    }
  }
  const watch = (): never => {
    throw new EnvError('option-invalid', `${info.name} cannot be watched: an external server keeps its state.`)
  }
  return createConnection([info], create, watch, async () => {
    closed = true
    await Promise.all([...playing].map(end))
  })
}

async function describe(definition: ExternalEnvironment, options: CallOptions): Promise<EnvironmentInfo> {
  const { name, version, description, params, limits = {}, rewards } = definition
  return {
    name,
    version,
    description,
    paramsSchema: z.toJSONSchema(params, { io: 'input' }) as JsonObject,
    tools: chooseTools(definition, await readTools(definition, options)),
    terms: Object.keys(rewards),
    potential: false,
    forkable: false,
    limits: mergeLimits(DEFAULT_LIMITS, limits),
  }
}

async function readTools(definition: ExternalEnvironment, options: CallOptions): Promise<ToolInfo[]> {
  const params = typeof definition.target === 'function' ? parseParams(definition, {}) : {}
  const server = await openEpisodeServer(definition, { params, seed: randomText() }, options)
  try {
    return await listTools(server.channel, options)
  } finally {
    await server.close()
  }
}

function chooseTools({ name, tools: wanted }: ExternalEnvironment, listed: readonly ToolInfo[]): readonly ToolInfo[] {
  if (!wanted) return listed
  return wanted.map((tool) => {
    const found = listed.find((other) => other.name === tool)
    if (found) return found
    const names = listed.map((other) => other.name).join(', ')
    throw new EnvError('option-invalid', `${name} names the tool "${tool}", and its server has: ${names || 'none'}.`)
  })
}

function checkTask(definition: ExternalEnvironment, info: EnvironmentInfo, task: Parameters<Environment['reset']>[0]) {
  const { environment = info, params = {}, limits = {} } = task ?? {}
  if (environment.name !== info.name || environment.version !== info.version)
    throw new EnvError(
      'option-invalid',
      `This environment plays ${info.name} ${info.version}, and the task is for ${environment.name} ${environment.version}.`,
    )
  return { params: parseParams(definition, params), limits: mergeLimits(info.limits, limits) }
}

function parseParams({ name, params }: ExternalEnvironment, given: JsonObject): JsonObject {
  const parsed = params.safeParse(given)
  if (parsed.success) return parsed.data as JsonObject
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
  throw new EnvError(
    'option-invalid',
    `Wrong parameters for ${name}: ${issues}. Each parameter that the target is made from needs a default, for the tools to be read.`,
    { cause: parsed.error },
  )
}

function mergeLimits(own: Limits, requested: LimitsRequest): Limits {
  return {
    steps: requested.steps ?? own.steps,
    seconds: requested.seconds ?? own.seconds,
    bytes: requested.bytes ?? own.bytes,
  }
}
