import { mostSteps } from '@episodic/analysis/replay/compare-ends'
import { putBack } from '@episodic/analysis/replay/put-back'
import type { Origins } from '@episodic/analysis/replay/replayed-step'
import { type Part, wholeParts } from '@episodic/analysis/replay/steps-before'
import type { PlayedStep, runEpisode } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import {
  DEFAULT_LIMITS,
  type EpisodeRecord,
  type LimitsRequest,
  type SealedRecord,
  type SessionSnapshot,
} from '@episodic/protocol'
import type { Origin } from '@episodic/protocol/internal'
import { readSteps } from './faults/read-steps.ts'

type EpisodeOrigin = NonNullable<Parameters<typeof runEpisode>[0]['origin']>

export interface PutBack<Line extends SealedRecord = SealedRecord> {
  readonly parent: Line
  readonly snapshot: SessionSnapshot
}

/**
 * Plays an earlier episode again up to a step.
 *
 * @param limits - what the earlier episode was opened with.
 *
 * Throws `origin-missing`, `replay-diverged` for a line that the rules play otherwise, and `not-forkable` for a world
 * whose state is kept outside.
 */
export function putAtStep(
  environment: EnvironmentDefinition,
  { seal, step }: Origin,
  { origins, limits }: { readonly origins: Origins; readonly limits: LimitsRequest },
): PutBack {
  const parent = origins.get(seal) as SealedRecord
  const world = putBack(environment, parent, step, { strict: false, origins })
  const own = { ...environment.limitsFor(parent.params), ...limits, steps: mostSteps(environment, parent, limits) }
  return { parent, snapshot: world.snapshot({ ...DEFAULT_LIMITS, ...own }) }
}

/** Returns the step of an earlier episode as one begins there: its world, and what the player has done and seen. */
export function episodeOrigin(
  { step, call, answer }: Origin,
  { parent, snapshot }: PutBack<EpisodeRecord>,
  origins: Origins,
): EpisodeOrigin {
  const parts = wholeParts(parent, step, origins)
  const { start, params, seed } = (parts[0] as Part<EpisodeRecord>).record
  const { observation, potential } = start as NonNullable<EpisodeRecord['start']>
  const steps: PlayedStep[] = []
  for (const [i, { record, count, answer: read = i === parts.length - 1 ? answer : undefined }] of parts.entries()) {
    steps.push(...readSteps(record, count))
    const last = read === undefined ? undefined : steps.pop()
    if (last) steps.push({ ...last, observation: { ...last.observation, text: read as string } })
  }
  const text = (steps.length === 0 ? answer : undefined) ?? observation.text
  return {
    snapshot,
    start: {
      observation: { ...observation, text },
      info: { id: null, capability: null, params, seed, limits: snapshot.limits, potential },
    },
    steps,
    ...(call && { call: { tool: call.tool, arguments: call.arguments } }),
    ...(answer !== undefined && { answer }),
  }
}
