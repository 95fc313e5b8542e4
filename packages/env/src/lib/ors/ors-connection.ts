import { DEFAULT_LIMITS, type EnvironmentInfo, type JsonObject } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/extend'
import { EnvError, notForkable, takesNoEvents } from '../env-error.ts'
import { type Connection, createConnection } from '../environment/connection.ts'
import type { CallOptions, Environment } from '../environment/environment.ts'
import { OrsClient } from './ors-client.ts'
import { OrsEpisode } from './ors-episode.ts'
import type { OrsTarget } from './ors-target.ts'

/**
 * Connects to a server of the Open Reward Standard, whose environments are then played like others.
 *
 * The parameters of an episode name its task: `split` (default: the first one) and `index` (default 0), or `task` with a
 * row of its own. The protocol has no seed, so the seed of a task changes nothing, and an episode cannot be replayed. The
 * server keeps the state: there are no snapshots, no hashes of states, and no events. A lost call is played at most once.
 */
export async function openOrsConnection(target: OrsTarget, options: CallOptions = {}): Promise<Connection> {
  const client = new OrsClient(target)
  const names = await client.environments(options)
  const infos = await Promise.all(names.map((name) => describe(client, name, options)))
  const playing = new Set<OrsEpisode>()
  const end = async (episode: OrsEpisode | null) => {
    if (episode && playing.delete(episode)) await episode.close()
  }

  const create = (info: EnvironmentInfo): Environment => {
    let episode: OrsEpisode | null = null
    const close = async () => {
      const ended = episode
      episode = null
      await end(ended)
    }
    const refuse = () => Promise.reject(notForkable(info))
    return {
      info,
      async reset(task = {}, { seed = task.seed, signal } = {}) {
        await close()
        episode = await OrsEpisode.open({ client, info, task, seed, now: monotonic }, { signal })
        playing.add(episode)
        return episode.start
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
  const watch = ({ name }: EnvironmentInfo): never => {
    throw new EnvError('option-invalid', `${name} cannot be watched: an external server keeps its state.`)
  }
  return createConnection(infos, create, watch, async () => {
    await Promise.all([...playing].map(end))
  })
}

async function describe(client: OrsClient, name: string, options: CallOptions): Promise<EnvironmentInfo> {
  const [splits, tools] = await Promise.all([client.splits(name, options), client.tools(name, options)])
  return {
    name,
    version: UNKNOWN_VERSION,
    description: `An environment of a server of the Open Reward Standard.`,
    paramsSchema: paramsSchemaOf(splits),
    tools: tools.map(({ name: tool, description, input_schema }) => ({
      name: tool,
      description: description ?? '',
      inputSchema: input_schema ?? { type: 'object', properties: {} },
      outputSchema: null,
    })),
    // The protocol has one number for each step.
    terms: ['reward'],
    potential: false,
    forkable: false,
    limits: DEFAULT_LIMITS,
  }
}

/** The protocol has no version of an environment. */
const UNKNOWN_VERSION = '0.0.0'

function paramsSchemaOf(splits: readonly string[]): JsonObject {
  const [first] = splits
  return {
    type: 'object',
    properties: {
      split: { type: 'string', enum: [...splits], ...(first !== undefined && { default: first }) },
      index: { type: 'integer', default: 0 },
      task: { type: 'object' },
    },
    additionalProperties: false,
  }
}
