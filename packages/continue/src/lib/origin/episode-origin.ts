import { mostSteps } from '@episodic/analysis/replay/compare-ends'
import { putBack } from '@episodic/analysis/replay/put-back'
import type { Origins } from '@episodic/analysis/replay/replayed-step'
import type { PlayedStep, runEpisode } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import {
  DEFAULT_LIMITS,
  type EpisodeRecord,
  isMatchRecord,
  type LimitsRequest,
  type SealedRecord,
} from '@episodic/protocol'
import type { Origin } from '@episodic/protocol/internal'
import { HarnessError } from '@episodic/run/base/harness-error'
import { playedSteps } from './played-steps.ts'

type EpisodeOrigin = NonNullable<Parameters<typeof runEpisode>[0]['origin']>

/**
 * Returns the step of an earlier episode as an episode begins there: its world, and what the player has done and seen.
 *
 * @param limits - what the earlier episode was opened with.
 *
 * Throws `origin-missing`, `replay-diverged` for a line that the rules play otherwise, and `not-forkable` for a world
 * whose state is kept outside.
 */
export function episodeOrigin(
  environment: EnvironmentDefinition,
  { seal, step, call, answer }: Origin,
  { origins, limits }: { readonly origins: Origins; readonly limits: LimitsRequest },
): EpisodeOrigin {
  const parent = origins.get(seal) as SealedRecord
  const world = putBack(environment, parent, step, { strict: false, origins })
  const own = { ...environment.limitsFor(parent.params), ...limits, steps: mostSteps(environment, parent, limits) }
  const snapshot = world.snapshot({ ...DEFAULT_LIMITS, ...own })
  const { start, steps } = wholeEpisode(parent as EpisodeRecord, origins)
  const { observation, potential } = start as NonNullable<EpisodeRecord['start']>
  const info = {
    id: null,
    capability: null,
    params: parent.params,
    seed: parent.seed,
    limits: snapshot.limits,
    potential,
  }
  return {
    snapshot,
    start: { observation, info },
    steps: steps.slice(0, step),
    ...(call && { call: { tool: call.tool, arguments: call.arguments } }),
    ...(answer !== undefined && { answer }),
  }
}

/** Returns the start and all steps of an episode, with those of the episodes that it goes on from. */
export function wholeEpisode(
  record: EpisodeRecord,
  origins: Origins,
): { readonly start: EpisodeRecord['start']; readonly steps: readonly PlayedStep[] } {
  const { origin } = record
  const own = playedSteps(record, record.steps.length)
  if (!origin) return { start: record.start, steps: own }
  const parent = origins.get(origin.seal)
  if (!parent || isMatchRecord(parent)) throw missing(origin)
  const { start, steps } = wholeEpisode(parent, origins)
  return { start, steps: [...steps.slice(0, origin.step), ...own] }
}

function missing({ seal }: Origin): HarnessError {
  return new HarnessError(
    'origin-missing',
    `The run keeps no line with the seal ${seal}, from which an episode goes on.`,
  )
}
