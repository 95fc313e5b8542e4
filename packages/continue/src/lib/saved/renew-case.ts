import { findDifference } from '@episodic/analysis/replay/difference'
import type { Parting } from '@episodic/analysis/replay/divergence'
import { replaySteps } from '@episodic/analysis/replay/replay-episode'
import { playRecorded } from '@episodic/analysis/replay/replayed-step'
import { type EnvironmentDefinition, type Rehearsal, rehearse } from '@episodic/mcp-server'
import { sealed } from '@episodic/play/play/record/seal-episode'
import type { EpisodeRecord, RecordedStep } from '@episodic/protocol'
import { weigh } from '@episodic/run/folder/record/weigh-terms'
import type { SavedCase } from './saved-case.ts'

/** The part of a line that comes before the step of a case. */
interface Part {
  readonly line: EpisodeRecord
  /** Steps of the lines that it goes on from, and its own. */
  readonly before: number
  readonly own: number
}

function partsOf({ step, lines }: SavedCase): Part[] {
  return lines.flatMap((line, i) => {
    const before = line.origin?.step ?? 0
    const until = Math.min(step, ...lines.slice(i + 1).map(({ origin }) => origin?.step ?? 0))
    // Of some lines, what follows goes on from a step before their first one.
    return until < before ? [] : [{ line, before, own: until - before }]
  })
}

/** Finds the first of the steps before that the rules play otherwise; `null` if they play all of them as before. */
export function findParting(environment: EnvironmentDefinition, saved: SavedCase): Parting | null {
  const origins = new Map(saved.lines.map((line) => [line.seal as string, line]))
  for (const { line, before, own } of partsOf(saved))
    for (const { step, difference } of replaySteps(environment, line, { ...AS_PLAYED, origins })) {
      if (step === null || step > own) break
      if (difference) return { ...difference, step: before + step }
    }
  return null
}

const AS_PLAYED = { strict: false, scoring: null, mayLeave: true } as const

/**
 * Plays the steps before again, and returns the case with them as the rules play them now, as far as they go: until one
 * is refused that was not, ends the episode, or makes the rules fail. `cut` says why there are fewer; `null` for as
 * many. What was cut off is left to the player.
 */
export function renewCase(environment: EnvironmentDefinition, saved: SavedCase) {
  const parts = partsOf(saved)
  const lines: EpisodeRecord[] = []
  let world: Rehearsal | null = null
  let [step, cut]: [number, string | null] = [0, null]
  for (const { line, before, own } of parts) {
    const { origin, params, seed } = line
    world ??= rehearse(environment, { params, seed, strict: false })
    if (origin && origin.seed !== null) world.reseed(origin.seed)
    const steps: RecordedStep[] = []
    while (steps.length < own && cut === null) {
      const played = renewStep(world, line, steps.length)
      if (typeof played === 'string') cut = `step ${step + 1} ${played}`
      else step = before + steps.push(played)
    }
    lines.push(renewLine(environment, line, steps, lines.at(-1) ?? { start: world.start, steps: [] }))
    if (cut !== null) break
  }
  const actions = parts.flatMap(({ line, own }) => line.steps.slice(0, own).map(({ action }) => action))
  return { saved: { ...saved, step, calls: [...actions.slice(step), ...saved.calls], lines }, cut }
}

function renewLine(
  { name, version }: EnvironmentDefinition,
  { undecided: _, ...line }: EpisodeRecord,
  steps: RecordedStep[],
  earlier: Pick<EpisodeRecord, 'start' | 'steps'> & { readonly seal?: string | null },
): EpisodeRecord {
  const { origin } = line
  const { observation, potential } = earlier.steps.at(-1) ?? (earlier.start as NonNullable<EpisodeRecord['start']>)
  return sealed<EpisodeRecord>({
    ...line,
    ...(origin && { origin: { ...origin, seal: earlier.seal as string } }),
    environment: { name, version },
    start: { observation: { ...observation, text: origin?.answer ?? observation.text }, potential },
    steps,
    // It has steps, and no result.
    outcome: { kind: 'failed', error: { code: 'renewed', message: 'Played anew as far as a test needs it.' } },
    returns: null,
  })
}

/** Returns a step as the rules play it now, or why nothing can follow it. */
function renewStep(world: Rehearsal, line: EpisodeRecord, at: number): RecordedStep | string {
  const recorded = line.steps[at] as RecordedStep
  try {
    const { events, played } = playRecorded(world, line, at)
    const { observation, terms, potential, refused, end } = played
    if (end) return `now ends the episode (${end.reason})`
    if (refused && !recorded.refused) return `is now refused (${refused})`
    const reward = findDifference(recorded.reward.terms, terms) ? weigh(terms, {}) : recorded.reward
    const stateHash = world.stateHashAs(recorded.stateHash)
    return { ...recorded, observation, reward, potential, refused, stateHash, ...(events && { events }) }
  } catch (error) {
    return `now fails: ${(error as Error).message}`
  }
}
