import { canonicalJson } from './canonical-json.ts'
import { contentId } from './digest.ts'
import type { EpisodeRecord } from './episode-record.ts'
import type { Json } from './json.ts'

/** What of an episode a replay must reproduce: the same version, parameters, seed and actions have to give all of it. */
export type Reproducible = Pick<
  EpisodeRecord,
  'environment' | 'params' | 'seed' | 'branch' | 'start' | 'steps' | 'outcome'
>

/**
 * The end of an episode's hash chain. Each link is the {@link contentId} of the link before it and of what one step
 * must reproduce: action, observation, raw reward terms, potential, refusal and state hash, and what came from outside, where
 * anything did: events and what was prepared. The first link stands for how it
 * began and where its chance began anew, and the last for how it ended, and for the success that the world judged, where it
 * did. Times, weights and shaping are left out: they are not the world's.
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

/** Without a judged success it is the end alone, so that lines of worlds that define none keep their chain. */
function endingOf(outcome: Reproducible['outcome']) {
  if (outcome.kind === 'failed') return null
  const { end, success } = outcome
  return success === undefined ? end : { end, success }
}
