import { canonicalJson, chainOf, type EpisodeRecord, type Json, type Reproducible } from '@episodic/protocol'
import type { World } from '../world.ts'
import { findDifference } from './difference.ts'
import { readRecorded } from './read-recorded.ts'
import { playedByRulesAlone } from './rules-alone.ts'

/** How a file of episodes differs from a reference. */
export interface Deviation {
  readonly episodes: number
  readonly steps: number
  /** Episodes that differ, that are not in the reference, or that are not there. */
  readonly differingEpisodes: number
  /** Of the canonical JSON of those that differ. */
  readonly differingBytes: number
  /** The first field that differs. */
  readonly field: string | null
}

/** What the rules alone make of a set of episodes. Held as one chain for each; the rest is made anew where it is wanted. */
export interface Reference {
  /** Compares what was recorded elsewhere: all that a replay must reproduce, as the lines have it. */
  compare(path: string): Promise<Deviation>
}

/** Has the rules play the actions of recorded episodes. The file has to stay. */
export async function createReference({ environment }: World, recorded: string): Promise<Reference> {
  const chains = new Map<string, string>()
  for await (const { record } of readRecorded(recorded))
    chains.set(nameOf(record), chainOf(playedByRulesAlone(environment, record)))

  async function find(name: string): Promise<Reproducible | null> {
    for await (const { record } of readRecorded(recorded))
      if (nameOf(record) === name) return playedByRulesAlone(environment, record)
    return null
  }

  return {
    async compare(path) {
      const seen = new Set<string>()
      let steps = 0
      let differingEpisodes = 0
      let differingBytes = 0
      let field: string | null = null
      for await (const { record } of readRecorded(path)) {
        const name = nameOf(record)
        seen.add(name)
        steps += record.steps.length
        const chain = chainOf(record)
        if (chain === record.chain && chain === chains.get(name)) continue
        const expected = await find(name)
        const made = reproducibleOf(record)
        differingEpisodes += 1
        differingBytes += countDifferingBytes(textOf(made), expected ? textOf(expected) : '')
        field ??= findDifference(made, expected)?.field ?? 'chain'
      }
      const missing = [...chains.keys()].filter((name) => !seen.has(name)).length
      return { episodes: seen.size, steps, differingEpisodes: differingEpisodes + missing, differingBytes, field }
    },
  }
}

function nameOf({ task, attempt }: EpisodeRecord): string {
  return `${task.id} ${attempt}`
}

function reproducibleOf({ environment, params, seed, branch, start, steps, outcome }: EpisodeRecord): Reproducible {
  return { environment, params, seed, branch, start, steps, outcome }
}

/** Without what is the player's: times, weights and shaping. */
function textOf({ steps, ...rest }: Reproducible): string {
  const played = steps.map(({ milliseconds: _, reward: { terms }, ...step }) => ({ ...step, terms }))
  return canonicalJson({ ...rest, steps: played } as unknown as Json)
}

function countDifferingBytes(a: string, b: string): number {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  let count = Math.abs(one.length - other.length)
  for (let i = 0; i < Math.min(one.length, other.length); i++) if (one[i] !== other[i]) count += 1
  return count
}
