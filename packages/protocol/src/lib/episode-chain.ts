import { canonicalJson } from './canonical-json.ts'
import { contentId } from './digest.ts'
import type { EpisodeRecord } from './episode-record.ts'
import type { Json } from './json.ts'

/** The part of an episode that a replay must reproduce from the same version, parameters, seed and actions. */
export type Reproducible = Pick<
  EpisodeRecord,
  'environment' | 'params' | 'seed' | 'branch' | 'start' | 'steps' | 'outcome'
>

/**
 * Returns the last link of an episode's hash chain. Each link is the {@link contentId} of the previous link and of what
 * one step must reproduce: action, observation, raw reward terms, potential, refusal, state hash, outside events and
 * prepared input. The first link covers the start and the reseeded branch points, the last one the end and the success,
 * if the environment defines it. Times, weights and shaping are left out: they do not come from the environment.
 */
export function chainOf({ environment, params, seed, branch, start, steps, outcome }: Reproducible): string {
  const reseeded = branch && { at: branch.at, seeds: branch.seeds }
  const beginning = { environment, params, seed, start, ...(reseeded && { reseeded }) }
  let link = contentId(canonicalJson(beginning as unknown as Json))
  for (const { action, observation, reward, potential, refused, stateHash, events, prepared } of steps) {
    const outside = { ...(events && { events }), ...(prepared !== undefined && { prepared }) }
    const reproduced = { action, observation, terms: reward.terms, potential, refused, stateHash, ...outside }
    link = contentId(link + canonicalJson(reproduced as unknown as Json))
  }
  return contentId(link + canonicalJson(endingOf(outcome) as unknown as Json))
}

/** Without a success only the end, so that the chains of environments that define none stay the same. */
function endingOf(outcome: Reproducible['outcome']) {
  if (outcome.kind === 'failed') return null
  const { end, success } = outcome
  return success === undefined ? end : { end, success }
}
