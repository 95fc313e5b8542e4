import { type EnvironmentInfo, type JsonObject, type LimitsRequest, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/extend'
import type { EpisodeRequest } from '../episode/open-session.ts'

/** What a client asks for when it resets. */
export interface ResetRequest extends EpisodeRequest {
  /** The client's own name for the episode, which `state` repeats; `null` if it gave none. */
  readonly episodeId: string | null
}

/**
 * Reads the data of a reset: `seed`, `episode_id`, and parameters of the environment. A row of a task dataset can be
 * given as it is, because parameters and limits are also read from `params` and `limits`, and what the environment does
 * not know is left out, as servers of this protocol do. Throws `invalid-params`.
 */
export function parseReset(info: EnvironmentInfo, data: JsonObject): ResetRequest {
  const { seed, episode_id: episodeId = null } = data
  if (episodeId !== null && (typeof episodeId !== 'string' || episodeId.length > 255))
    throw new WireError('invalid-params', 'An episode_id is a text of at most 255 characters.')
  const known = info.paramsSchema.properties
  const names = isObject(known) ? Object.keys(known) : []
  const named = names.filter((name) => Object.hasOwn(data, name)).map((name) => [name, data[name]] as const)
  return {
    environment: info.name,
    seed,
    episodeId,
    params: { ...nested(data, 'params', names), ...(Object.fromEntries(named) as JsonObject) },
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
