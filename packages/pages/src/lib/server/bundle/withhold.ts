import type { Completion, RecordedSeatStep, RecordedStep, SealedRecord } from '@episodic/protocol'
import { isMatchRecord } from '@episodic/protocol'
import type { GradeRecord } from '@episodic/report/grades/grade-record'
import type { WithheldPart } from '@episodic/report/view/withheld'
import { mapValues } from '@episodic/run/base/map-values'
import { createScrub, textsIn, WITHHELD } from '@episodic/run/folder/scrub'

/**
 * Returns the text of a sealed line without some of its parts, and with the list of them as `withheld`. Where a prompt,
 * a seed or a text of the parameters stands word for word elsewhere in the line, it is taken out too, and so is the
 * message of a failure, which may quote any of them. `chain` and `seal` stay, because verdicts name the line by them,
 * but they are not hashes of what is left.
 *
 * `seeds`: of the task, the policies and the branches. `params`: the parameters of the task. `prompts`: of the task and
 * the seats, all that language models were sent, and its tokens. `private`: hashes of states, what rules prepared from
 * outside, and the data of outside events, of which players see the text alone.
 */
export function withholdFrom(record: SealedRecord, parts: readonly WithheldPart[]): string {
  if (parts.length === 0) return JSON.stringify(record)
  let line = withoutMessage(record)
  if (parts.includes('seeds')) line = withoutSeeds(line)
  if (parts.includes('params')) line = { ...line, params: {} }
  if (parts.includes('prompts')) line = withoutPrompts(line)
  if (parts.includes('private')) line = withoutPrivate(line)
  // What was withheld is listed in words that a prompt may have too.
  return `${createScrub(secretsOf(record, parts))(JSON.stringify(line)).slice(0, -1)},"withheld":${JSON.stringify(parts)}}`
}

/** Returns the texts of a line that are withheld with some of its parts, wherever they stand. */
export function secretsOf(record: SealedRecord, parts: readonly WithheldPart[]): string[] {
  return [
    ...(parts.includes('seeds') ? seedsOf(record) : []),
    ...(parts.includes('params') ? textsIn(record.params) : []),
    ...(parts.includes('prompts') ? promptsOf(record) : []),
    ...(parts.includes('private') ? privateOf(record) : []),
  ]
}

/** If anything is withheld, a verdict has not what its grader wrote and was sent: that may quote it. */
export function withholdFromGrade(grade: GradeRecord, parts: readonly WithheldPart[]): GradeRecord {
  if (parts.length === 0) return grade
  const { asked, evidence } = grade
  return {
    ...grade,
    why: grade.why === '' ? '' : WITHHELD,
    evidence: evidence.map((one) => ({ ...one, quote: WITHHELD })),
    ...(asked && { asked: { ...asked, messages: [] } }),
  }
}

function privateOf(record: SealedRecord): string[] {
  return record.steps.flatMap(({ prepared, events = [] }) => [
    ...textsIn(prepared),
    ...events.flatMap(({ data }) => [...textsIn(data)]),
  ])
}

function withoutMessage(record: SealedRecord): SealedRecord {
  const { outcome } = record
  if (outcome.kind !== 'failed') return record
  return { ...record, outcome: { ...outcome, error: { ...outcome.error, message: WITHHELD } } } as SealedRecord
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
