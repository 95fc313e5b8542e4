import {
  type Completion,
  isMatchRecord,
  type RecordedSeatStep,
  type RecordedStep,
  type SealedRecord,
} from '@episodic/protocol'
import type { WithheldPart } from '@episodic/report'

/** Stands where something was withheld. */
export const WITHHELD = '[withheld]'

/** Shorter texts are not looked for elsewhere in a line: they would take ordinary words out. */
const SHORTEST = 6

/**
 * Returns the text of a sealed line without some of its parts, and with the list of them as `withheld`. Where a prompt or a seed
 * stands word for word elsewhere in the line, it is taken out too. `chain` and `seal` stay, because verdicts name the line by
 * them, but they are not hashes of what is left.
 *
 * `seeds`: of the task, the policies and the branches. `params`: the parameters of the task. `prompts`: of the task and the seats,
 * all that language models were sent, and its tokens. `private`: hashes of states, what rules prepared from outside, and the data
 * of outside events, of which players see the text alone.
 */
export function withholdFrom(record: SealedRecord, parts: readonly WithheldPart[]): string {
  if (parts.length === 0) return JSON.stringify(record)
  let line = record
  const secrets: string[] = []
  if (parts.includes('seeds')) {
    secrets.push(...seedsOf(record))
    line = withoutSeeds(line)
  }
  if (parts.includes('params')) line = { ...line, params: {} }
  if (parts.includes('prompts')) {
    secrets.push(...promptsOf(record))
    line = withoutPrompts(line)
  }
  if (parts.includes('private')) line = withoutPrivate(line)
  const text = JSON.stringify({ ...line, withheld: parts })
  return secrets
    .filter(({ length }) => length >= SHORTEST)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(inJson(secret), WITHHELD), text)
}

function seedsOf(record: SealedRecord): string[] {
  const players = isMatchRecord(record) ? Object.values(record.seats) : [record]
  const branch = isMatchRecord(record) ? [] : (record.branch?.seeds ?? [])
  return [record.seed, ...players.map(({ policy }) => policy.seed), ...branch.flatMap((seed) => seed ?? [])]
}

function withoutSeeds(record: SealedRecord): SealedRecord {
  if (isMatchRecord(record)) {
    const seats = mapValues(record.seats, (seat) => ({ ...seat, policy: { ...seat.policy, seed: WITHHELD } }))
    return { ...record, seed: WITHHELD, seats }
  }
  const { policy, branch } = record
  return {
    ...record,
    seed: WITHHELD,
    policy: { ...policy, seed: WITHHELD },
    branch: branch && { ...branch, seeds: branch.seeds.map((seed) => seed && WITHHELD) },
  }
}

function promptsOf(record: SealedRecord): string[] {
  const seats = isMatchRecord(record) ? Object.values(record.seats).flatMap(({ prompt }) => prompt ?? []) : []
  return [record.task.prompt, ...seats]
}

function withoutPrompts(record: SealedRecord): SealedRecord {
  const { undecided, task } = record
  const shared = {
    task: { ...task, prompt: WITHHELD },
    ...(undecided && { undecided: undecided.map(withoutRequest) }),
  }
  const withoutRequests = <T extends RecordedStep | RecordedSeatStep>(step: T): T =>
    step.completions ? { ...step, completions: step.completions.map(withoutRequest) } : step
  if (isMatchRecord(record)) {
    const seats = mapValues(record.seats, ({ transcript: _, ...seat }) => ({
      ...seat,
      ...(seat.prompt !== undefined && { prompt: WITHHELD }),
    }))
    return { ...record, ...shared, seats, steps: record.steps.map(withoutRequests) }
  }
  const { transcript: _, ...line } = record
  return { ...line, ...shared, steps: record.steps.map(withoutRequests) }
}

function withoutRequest({ prompt: _, promptTokenIds: __, ...answer }: Completion): Completion {
  return answer
}

function withoutPrivate(record: SealedRecord): SealedRecord {
  const hide = <T extends RecordedStep | RecordedSeatStep>({ prepared: _, ...step }: T) => ({
    ...step,
    stateHash: null,
    ...(step.events && { events: step.events.map((event) => ({ ...event, data: {} })) }),
  })
  return isMatchRecord(record)
    ? { ...record, steps: record.steps.map(hide) }
    : { ...record, steps: record.steps.map(hide) }
}

function mapValues<T, U>(values: { readonly [name: string]: T }, map: (value: T) => U): { [name: string]: U } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}

/** Returns a text as it is inside JSON. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
