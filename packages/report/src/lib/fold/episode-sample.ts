import type { ShownRecord } from '../seats/lanes.ts'
import {
  comparePreference,
  compareWords,
  drawOf,
  identityOf,
  KEY_WORDS,
  keyOf,
  type SealedLine,
} from './episode-identity.ts'
import { scoredOutcomeOf } from './scored-outcome.ts'
import { type ShownEpisode, showEpisode } from './shown-episode.ts'

/** Why an episode is in the sample. */
export type SampleReason = 'drawn' | 'best' | 'worst' | 'failed'

export interface SampledEpisode extends ShownEpisode {
  readonly because: readonly SampleReason[]
}

/** Chooses the episodes that a report shows step by step. */
export interface EpisodeSample {
  add(record: ShownRecord): void
  /** The chosen ones, by task and attempt. More can be added afterwards. */
  finish(): SampledEpisode[]
}

/** How many episodes of each kind a report shows. At their largest, all of them take 7 MiB of the page. */
export const SAMPLE_SIZES: Readonly<Record<SampleReason, number>> = { drawn: 100, best: 20, worst: 20, failed: 40 }

interface Candidate extends SealedLine {
  readonly rank: number
  readonly episode: ShownEpisode
}

/**
 * Creates an empty sample of at most 180 episodes. It does not depend on the order in which they are added:
 *
 * - **drawn**: the 100 lowest by the hash of task and attempt, a reproducible random sample;
 * - **best** and **worst**: the 20 highest and the 20 lowest unshaped returns, ties going to the lower hash;
 * - **failed**: the 40 failed ones with the lowest hash.
 */
export function createEpisodeSample(): EpisodeSample {
  const reasons = Object.keys(SAMPLE_SIZES) as SampleReason[]
  const chosen = Object.fromEntries(reasons.map((reason) => [reason, []])) as unknown as Record<
    SampleReason,
    Candidate[]
  >
  return {
    add(record) {
      const ranks = ranksOf(record)
      const key = keyOf(record)
      const wanted = reasons.filter((reason) => {
        const last = chosen[reason][SAMPLE_SIZES[reason] - 1]
        const rank = ranks[reason]
        if (rank === undefined) return false
        return (
          !last || rank < last.rank || (rank === last.rank && compareWords(key, 0, last.identity, 0, KEY_WORDS) <= 0)
        )
      })
      if (wanted.length === 0) return
      const identity = identityOf(record)
      const failed = ranks.failed !== undefined
      const episode = showEpisode(record)
      for (const reason of wanted)
        insert(chosen[reason], { rank: ranks[reason] as number, identity, failed, episode }, SAMPLE_SIZES[reason])
    },
    finish() {
      const byKey = new Map<string, { candidate: Candidate; because: SampleReason[] }>()
      for (const reason of reasons) {
        for (const candidate of chosen[reason]) {
          const key = candidate.identity.subarray(0, KEY_WORDS).join()
          const found = byKey.get(key) ?? { candidate, because: [] }
          byKey.set(key, found)
          if (comparePreference(candidate, found.candidate) < 0) found.candidate = candidate
          if (!found.because.includes(reason)) found.because.push(reason)
        }
      }
      return [...byKey.values()]
        .map(({ candidate, because }) => ({ ...candidate.episode, because }))
        .sort((a, b) => (a.task < b.task ? -1 : a.task > b.task ? 1 : a.attempt - b.attempt))
    },
  }
}

/** The rank of an episode in each list that it is eligible for; lower is first. */
function ranksOf(record: ShownRecord): { readonly [reason in SampleReason]?: number } {
  const drawn = drawOf(record)
  const unshaped = record.returns?.unshaped
  if (scoredOutcomeOf(record).kind === 'failed' || unshaped === undefined) return { drawn, failed: drawn }
  return { drawn, best: -unshaped, worst: unshaped }
}

function insert(list: Candidate[], candidate: Candidate, limit: number): void {
  const compare = (other: Candidate) =>
    candidate.rank - other.rank ||
    compareWords(candidate.identity, 0, other.identity, 0, KEY_WORDS) ||
    comparePreference(candidate, other)
  const at = list.findIndex((other) => compare(other) <= 0)
  if (at >= 0 && compare(list[at] as Candidate) === 0) return
  list.splice(at < 0 ? list.length : at, 0, candidate)
  list.length = Math.min(list.length, limit)
}
