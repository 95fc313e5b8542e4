import { type EnvironmentInfo, type JsonObject, type LimitsRequest, WireError } from '@episodic/protocol'
import { formatUnknownKeys, isObject } from '@episodic/protocol/internal'
import type { EpisodeRequest } from '../episode/open-session.ts'

export interface ResetRequest extends EpisodeRequest {
  /** The client's own name for the episode, which `state` repeats; `null` if it gave none. */
  readonly episodeId: string | null
}

/** Members of a row of a task dataset that say nothing about how it is played. */
const OF_ROWS = ['id', 'environment', 'tools', 'prompt', 'hints', 'difficulty', 'split', 'tags', 'metadata']

/**
 * Reads the data of a reset: `seed`, `episode_id`, and parameters of the environment. A row of a task dataset can be
 * given as it is, because parameters and limits are also read from `params` and `limits`.
 *
 * Throws `invalid-params`, also for what the environment does not know: servers of this protocol leave it out, and then
 * a misspelt parameter would play another world without a word.
 */
export function parseReset(info: EnvironmentInfo, data: JsonObject): ResetRequest {
  const { seed, episode_id: episodeId = null } = data
  if (episodeId !== null && (typeof episodeId !== 'string' || episodeId.length > 255))
    throw new WireError('invalid-params', 'An episode_id is a text of at most 255 characters.')
  const known = info.paramsSchema.properties
  const names = isObject(known) ? Object.keys(known) : []
  const others = ['seed', 'episode_id', 'params', 'limits', ...OF_ROWS].filter((name) => !names.includes(name))
  const takesAny =
    info.paramsSchema.additionalProperties !== false && info.paramsSchema.additionalProperties !== undefined
  const named = Object.entries(data).filter(([name]) => !others.includes(name))
  // A client that fills in the members of its request sends `null` for those that were left out.
  const unknown = takesAny ? [] : named.filter(([name, value]) => !names.includes(name) && value !== null)
  if (unknown.length > 0)
    throw new WireError(
      'invalid-params',
      `Unknown parameters of ${info.name}: ${formatUnknownKeys(unknown.map(([name]) => ({ path: [name], known: names })))}`,
    )
  return {
    environment: info.name,
    seed,
    episodeId,
    params: {
      ...nested(data, 'params', names),
      ...(Object.fromEntries(named.filter(([name]) => takesAny || names.includes(name))) as JsonObject),
    },
    limits: nested(data, 'limits', names) as LimitsRequest | undefined,
  }
}

/** Returns the object under a name that is not one of the environment's own parameters. */
function nested(data: JsonObject, name: string, taken: readonly string[]): JsonObject | undefined {
  const value = data[name]
  if (value === undefined || value === null || taken.includes(name)) return undefined
  if (isObject(value)) return value as JsonObject
  throw new WireError('invalid-params', `${name} has to be an object.`)
}
