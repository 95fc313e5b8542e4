import { findDifference } from '@episodic/analysis/replay/difference'
import { playRecorded } from '@episodic/analysis/replay/replayed-step'
import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import {
  canonicalJson,
  chainOf,
  type EpisodeRecord,
  type Json,
  type RecordedStep,
  type Reproducible,
} from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { episodeKey } from '@episodic/runs/folder/plan/planned-episode'
import { readRecorded } from '@episodic/runs/folder/read-recorded'
import type { World } from '../../worlds/world.ts'

export interface Deviation {
  readonly episodes: number
  readonly steps: number
  /** Episodes that differ, that are missing, or that the reference lacks. */
  readonly differingEpisodes: number
  /** In the canonical JSON of the episodes that differ. */
  readonly differingBytes: number
  readonly field: string | null
}

/** The episodes that the rules alone play. Stored as one chain each; the rest is computed again on demand. */
export type Reference = Awaited<ReturnType<typeof createReference>>

/** Plays the actions of recorded episodes with the rules. Keep the file: it is read again on demand. */
export async function createReference({ environment }: World, recorded: string) {
  const chains = new Map<string, string>()
  for await (const record of readEpisodes(recorded))
    chains.set(episodeKey(record), chainOf(playedByRulesAlone(environment, record)))

  async function find(name: string): Promise<Reproducible | null> {
    for await (const record of readEpisodes(recorded))
      if (episodeKey(record) === name) return playedByRulesAlone(environment, record)
    return null
  }

  return {
    /** Compares another recording with it: everything that a replay must reproduce. */
    async compare(path: string): Promise<Deviation> {
      const seen = new Set<string>()
      let steps = 0
      let differingEpisodes = 0
      let differingBytes = 0
      let field: string | null = null
      for await (const record of readEpisodes(path)) {
        const name = episodeKey(record)
        seen.add(name)
        steps += record.steps.length
        const chain = chainOf(record)
        if (chain === record.chain && chain === chains.get(name)) continue
        const expected = await find(name)
        const { environment, params, seed, branch, start, steps: made, outcome } = record
        const played: Reproducible = { environment, params, seed, branch, start, steps: made, outcome }
        differingEpisodes += 1
        differingBytes += countDifferingBytes(toReproducibleText(played), expected ? toReproducibleText(expected) : '')
        field ??= findDifference(played, expected)?.field ?? 'chain'
      }
      const missing = [...chains.keys()].filter((name) => !seen.has(name)).length
      return { episodes: seen.size, steps, differingEpisodes: differingEpisodes + missing, differingBytes, field }
    },
  }
}

async function* readEpisodes(path: string): AsyncGenerator<EpisodeRecord, void, undefined> {
  for await (const { record } of readRecorded(path)) yield seatRecordOf(record)
}

/** Without the parts that the player computes: times, weights and shaping. */
function toReproducibleText({ steps, ...rest }: Reproducible): string {
  const played = steps.map(({ milliseconds: _, reward: { terms }, ...step }) => ({ ...step, terms }))
  return canonicalJson({ ...rest, steps: played } as unknown as Json)
}

function countDifferingBytes(a: string, b: string): number {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  let count = Math.abs(one.length - other.length)
  for (let i = 0; i < Math.min(one.length, other.length); i++) if (one[i] !== other[i]) count += 1
  return count
}

/**
 * Plays the actions of a recorded episode with the rules alone, and returns everything that a replay must reproduce.
 * From the record it takes only the inputs, and the limit that ended it.
 */
export function playedByRulesAlone(environment: EnvironmentDefinition, record: EpisodeRecord): Reproducible {
  const { params, seed, branch, start, steps, outcome } = record
  const world = rehearse(environment, { params, seed })
  let success: boolean | undefined
  const played = steps.map((recorded, i): RecordedStep => {
    const { events, played } = playRecorded(world, record, i)
    const { observation, terms, potential, refused, stateHash } = played
    success = played.success
    return {
      ...recorded,
      ...(events && { events }),
      observation,
      reward: { ...recorded.reward, terms },
      potential,
      refused,
      stateHash,
    }
  })
  const { name, version } = environment
  const made: Reproducible = {
    environment: { name, version },
    params,
    seed,
    branch,
    start: start && { observation: world.start.observation, potential: world.start.potential },
    steps: played,
    outcome: world.end ? { kind: 'finished', end: world.end, success } : outcome,
  }
  // As it is read from a line.
  return JSON.parse(JSON.stringify(made))
}
