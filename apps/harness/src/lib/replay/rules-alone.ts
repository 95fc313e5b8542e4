import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import type { EpisodeRecord, Json, RecordedStep, Reproducible } from '@episodic/protocol'
import { playRecorded } from './play-recorded.ts'
import { freshSeedAt, truncationOf } from './replay-episode.ts'

/**
 * What the world's rules alone make of the actions of a recorded episode: the whole of what a replay must reproduce,
 * made anew. Of the record it takes what was asked for, and of its end only the budget that ran out.
 */
export function playedByRulesAlone(environment: EnvironmentDefinition, record: EpisodeRecord): Reproducible {
  const { params, seed, branch, start, steps, outcome } = record
  const world = rehearse(environment, { params, seed })
  const truncation = truncationOf(outcome)
  let success: boolean | undefined
  const played = steps.map((recorded, i): RecordedStep => {
    const isLast = i === steps.length - 1
    const { events, played } = playRecorded(world, recorded, {
      fresh: freshSeedAt(branch, i),
      truncation: isLast ? truncation : null,
    })
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
  return asJson({
    environment: { name, version },
    params,
    seed,
    branch,
    start: start && { observation: world.start.observation, potential: world.start.potential },
    steps: played,
    outcome: world.end ? { kind: 'finished', end: world.end, success } : outcome,
  })
}

/** As it would come back from a line. */
function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value as Json))
}
