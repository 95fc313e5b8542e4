import { findDifference } from '@episodic/analysis/replay/difference'
import { playRecorded } from '@episodic/analysis/replay/replayed-step'
import { partsOf } from '@episodic/analysis/replay/steps-before'
import { type EnvironmentDefinition, type Rehearsal, rehearse } from '@episodic/mcp-server'
import { sealed } from '@episodic/play/play/record/seal-episode'
import type { EpisodeRecord, RecordedStep } from '@episodic/protocol'
import { weigh } from '@episodic/run/folder/record/weigh-terms'
import type { SavedCase } from './saved-case.ts'

/** Returns the lines that have the first steps of the last one, with how many of them, and the actions of all these. */
export function splitLines(lines: readonly EpisodeRecord[], step: number) {
  const known = new Map(lines.map((line) => [line.seal as string, line]))
  const parts = partsOf(lines.at(-1) as EpisodeRecord, step, known)
  return {
    parts,
    actions: parts.flatMap(({ record, count }) => record.steps.slice(0, count).map(({ action }) => action)),
  }
}

/**
 * Plays the steps before again, and returns the case with them as the rules play them now, as far as they go: until one
 * is refused that was not, ends the episode, or makes the rules fail. What was cut off is left to the player, and `cut`
 * says why; `null` for nothing.
 */
export function renewCase(environment: EnvironmentDefinition, saved: SavedCase) {
  const { parts, actions } = splitLines(saved.lines, saved.step)
  const { params, seed } = (parts[0] as (typeof parts)[number]).record
  const world = rehearse(environment, { params, seed, strict: false })
  const lines: EpisodeRecord[] = []
  let last: Earlier = { ...world.start, seal: null }
  let [step, cut]: [number, string | null] = [0, null]
  for (const { record, count } of parts) {
    if (record.origin && record.origin.seed !== null) world.reseed(record.origin.seed)
    const steps: RecordedStep[] = []
    while (steps.length < count && cut === null) {
      const played = renewStep(world, record, steps.length)
      if (typeof played === 'string') cut = `step ${step + steps.length + 1} ${played}`
      else steps.push(played)
    }
    step += steps.length
    const line = renewLine(environment, record, steps, last)
    lines.push(line)
    last = { ...((steps.at(-1) ?? line.start) as Earlier), seal: line.seal }
    if (cut !== null) break
  }
  return { saved: { ...saved, step, calls: [...actions.slice(step), ...saved.calls], lines }, cut }
}

/** What was shown last before a line, and the line that showed it. */
type Earlier = NonNullable<EpisodeRecord['start']> & Pick<EpisodeRecord, 'seal'>

function renewLine(
  { name, version }: EnvironmentDefinition,
  { undecided: _, ...line }: EpisodeRecord,
  steps: RecordedStep[],
  { observation, potential, seal }: Earlier,
): EpisodeRecord {
  const { origin } = line
  return sealed<EpisodeRecord>({
    ...line,
    ...(origin && { origin: { ...origin, seal: seal ?? origin.seal } }),
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
