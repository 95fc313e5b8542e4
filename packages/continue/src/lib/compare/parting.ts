import { canonicalJson, type Json, type SealedRecord } from '@episodic/protocol'

/** Where continuations part from those of their control, with the same seeds of players. */
export interface Partings {
  readonly pairs: number
  readonly parted: number
  /** The first step at which one parts, as the episode numbers it; `null` if none does. */
  readonly first: number | null
}

/** Compares what was done and seen in continuations with the control of the same task and attempt, step by step. */
export function partingsOf(control: readonly SealedRecord[], changed: readonly SealedRecord[]): Partings {
  const nameOf = ({ task, attempt }: SealedRecord) => `${task.id} ${attempt}`
  const known = new Map(control.map((record) => [nameOf(record), record]))
  const steps = changed.flatMap((record) => {
    const other = known.get(nameOf(record))
    return other ? [partingOf(other, record)] : []
  })
  const parted = steps.filter((step) => step !== null)
  return { pairs: steps.length, parted: parted.length, first: parted.length > 0 ? Math.min(...parted) : null }
}

function partingOf(one: SealedRecord, other: SealedRecord): number | null {
  const before = other.origin?.step ?? 0
  const length = Math.max(one.steps.length, other.steps.length)
  for (let at = 0; at < length; at++)
    if (formatStep(one.steps[at]) !== formatStep(other.steps[at])) return before + at + 1
  return null
}

function formatStep(step: SealedRecord['steps'][number] | undefined): string | null {
  if (!step) return null
  const { action, observation } = step
  return canonicalJson({ action, observation } as unknown as Json)
}
