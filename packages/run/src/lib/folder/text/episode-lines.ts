import { type Completion, isMatchRecord, type SealedRecord } from '@episodic/protocol'
import { withAttachmentNotes } from '@episodic/protocol/internal'
import { groupOf } from '@episodic/report/fold/scored-outcome'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { cleanText, formatCount, formatNumber } from '@episodic/report/text/format'
import { createColors } from 'picocolors'

// A sealed episode as lines of plain text. What players and worlds said comes from outside, so no control character of
// it is written.

type Colors = ReturnType<typeof createColors>
const PLAIN = createColors(false)

export function* episodeLines(record: SealedRecord, colors: Colors): Generator<string, void, undefined> {
  yield* openingLines(record, colors)
  const before = record.origin?.step ?? 0
  for (const [i, step] of record.steps.entries()) yield* stepLines(step, before + i + 1, colors)
  yield* endLines(record, colors)
}

export function* openingLines(record: SealedRecord, { bold }: Colors = PLAIN): Generator<string, void, undefined> {
  const { task, attempt, environment } = record
  const players = seatsOf(record).map(([seat, { policy }]) => `${seat || 'policy'} ${policy.name}`)
  const tried = record.try > 0 ? [`try ${record.try}`] : []
  const what = [`${environment.name} ${environment.version}`, `task ${task.id}`, `attempt ${attempt}`, ...tried]
  yield bold(cleanText([...what, ...players].join('  ')))
  if (task.prompt !== '') yield indent(task.prompt)
  const started = seatsOf(record).flatMap(([seat, { start }]) => (start ? [{ seat, ...start }] : []))
  if (started.length === 0) yield 'It never started.'
  for (const { seat, observation, potential } of started) {
    yield cleanText(
      [record.origin ? `after step ${record.origin.step}` : 'start', seat, potentialOf(potential)]
        .filter(Boolean)
        .join('  '),
    )
    yield indent(withAttachmentNotes(observation.text, observation.attachments))
  }
}

export function* stepLines(
  step: SealedRecord['steps'][number],
  number: number,
  { bold, dim, red }: Colors = PLAIN,
): Generator<string, void, undefined> {
  for (const { type, data, said, sent = {} } of step.events ?? []) {
    yield cleanText(`*  ${type} ${JSON.stringify(data)}`)
    if (said !== null) yield indent(said)
    for (const [seat, texts] of Object.entries(sent)) yield indent(`to ${seat}: ${texts.join('\n')}`)
  }
  for (const completion of step.completions ?? []) yield* completionLines(completion, dim)
  const { action, observation } = step
  const seat = 'seat' in step ? [step.seat] : []
  yield bold(cleanText([number, ...seat, `${action.tool} ${JSON.stringify(action.arguments)}`].join('  ')))
  if (step.prepared !== undefined) yield dim(indent(`prepared ${JSON.stringify(step.prepared)}`))
  const answer = indent(withAttachmentNotes(observation.text, observation.attachments))
  yield step.refused === null ? answer : red(answer)
  if (observation.structured !== null) yield dim(indent(`data ${JSON.stringify(observation.structured)}`))
  const notes = [
    ...termsOf(step),
    potentialOf(step.potential),
    step.refused === null ? '' : `refused by ${step.refused}`,
  ]
  if (notes.some(Boolean)) yield dim(indent(notes.filter(Boolean).join('  ')))
}

export function* endLines(
  record: SealedRecord,
  { bold, dim, red }: Colors = PLAIN,
): Generator<string, void, undefined> {
  for (const completion of record.undecided ?? []) yield* completionLines(completion, dim)
  if (record.outcome.kind === 'failed') {
    const { code, message } = record.outcome.error
    yield red(cleanText(`failed  ${code}: ${message}`))
    return
  }
  for (const [seat] of seatsOf(record)) {
    const { outcome, returns, ...own } = seatRecordOf(record, seat)
    if (outcome.kind === 'failed') continue
    const how = [
      'end',
      seat,
      `${outcome.end.kind}: ${outcome.end.reason}`,
      `return ${formatNumber(returns?.unshaped ?? null)}`,
      ...Object.entries(outcome.verdicts ?? {}).map(([name, value]) => `${name} ${value ? 'yes' : 'no'}`),
    ]
    yield bold(cleanText([...how, groupOf({ ...own, outcome, returns })].filter(Boolean).join('  ')))
  }
}

function* completionLines(completion: Completion, dim: Colors['dim']): Generator<string, void, undefined> {
  const { model, promptTokens, completionTokens, reasoning, text, calls = [] } = completion
  yield dim(cleanText(`model  ${model}  ${formatCount(promptTokens)} read  ${formatCount(completionTokens)} written`))
  if (reasoning !== undefined) yield dim(indent(reasoning))
  if (text !== null) yield indent(text)
  for (const { name, arguments: given, played } of calls) if (!played) yield indent(`not played: ${name} ${given}`)
}

function seatsOf(record: SealedRecord) {
  return isMatchRecord(record) ? Object.entries(record.seats) : [['', record] as const]
}

function termsOf(step: SealedRecord['steps'][number]): string[] {
  if ('reward' in step) return Object.entries(step.reward.terms).map(([term, value]) => `${term} ${value}`)
  return Object.entries(step.rewards).flatMap(([seat, { terms }]) =>
    Object.entries(terms).flatMap(([term, value]) => (value === 0 ? [] : [`${seat} ${term} ${value}`])),
  )
}

function potentialOf(potential: number | null): string {
  return potential === null ? '' : `Φ ${potential}`
}

export function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `     ${cleanText(line)}`.trimEnd())
    .join('\n')
}
