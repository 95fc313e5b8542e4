import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { isMatchRecord, type SealedRecord } from '@episodic/protocol'
import { replaySteps } from './replay-episode.ts'
import type { AnyStep, Scoring } from './scoring.ts'

/**
 * Replays a recorded episode strictly, and yields readable lines: each action, its recorded result, and the first
 * difference.
 */
export function* traceEpisode(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  scoring: Scoring | null,
): Generator<string, void, undefined> {
  const { task, attempt, outcome } = record
  const { name, version } = record.environment
  const steps: readonly AnyStep[] = record.steps
  const seats = isMatchRecord(record) ? Object.entries(record.seats) : [['', record] as const]
  const policies = seats.map(([seat, { policy }]) => (seat ? `${seat} ${policy.name}` : `policy ${policy.name}`))
  yield `${name} ${version}  task ${task.id}  attempt ${attempt}  ${policies.join('  ')}`
  if (!seats.some(([, { start }]) => start)) {
    yield 'It never started.'
    return
  }
  for (const { step, parting } of replaySteps(environment, record, { strict: true, scoring, mayLeave: true })) {
    const recorded = step === null ? undefined : steps[step - 1]
    if (step === 0)
      for (const [seat, { start }] of seats) {
        if (!start) continue
        yield ['start', seat, potentialOf(start.potential)].filter(Boolean).join('  ')
        yield indent(start.observation.text)
      }
    if (recorded) {
      for (const { type, data, said, sent = {} } of recorded.events ?? []) {
        yield `*  ${type} ${JSON.stringify(data)}`
        if (said !== null) yield indent(said)
        for (const [seat, texts] of Object.entries(sent)) yield indent(`to ${seat}: ${texts.join('\n')}`)
      }
      const { action } = recorded
      const seat = 'seat' in recorded ? recorded.seat : ''
      yield [step, seat, `${action.tool} ${JSON.stringify(action.arguments)}`].filter(Boolean).join('  ')
      if (recorded.prepared !== undefined) yield indent(`prepared ${JSON.stringify(recorded.prepared)}`)
      yield indent(recorded.observation.text)
      const terms = termsOf(recorded)
      const refused = recorded.refused === null ? [] : [`refused by ${recorded.refused}`]
      const hash = `state ${recorded.stateHash?.slice(0, 8) ?? 'unknown'}`
      yield indent([...terms, potentialOf(recorded.potential), ...refused, hash].filter(Boolean).join('  '))
    }
    if (parting) {
      yield `≠  ${parting.field}`
      yield indent(`recorded  ${JSON.stringify(parting.recorded)}\nreplayed  ${JSON.stringify(parting.replayed)}`)
      return
    }
  }
  if (outcome.kind === 'failed') yield `failed  ${outcome.error.code}: ${outcome.error.message}`
  else if ('end' in outcome) yield `end  ${outcome.end.kind}: ${outcome.end.reason}`
  else
    for (const [seat, own] of seats)
      if ('end' in own && own.end)
        yield `end  ${seat}  ${own.end.kind}: ${own.end.reason}  return ${own.returns?.unshaped}`
}

function termsOf(step: AnyStep): string[] {
  if ('reward' in step) return Object.entries(step.reward.terms).map(([term, value]) => `${term} ${value}`)
  return Object.entries(step.rewards).flatMap(([seat, { terms }]) =>
    Object.entries(terms).flatMap(([term, value]) => (value === 0 ? [] : [`${seat} ${term} ${value}`])),
  )
}

function potentialOf(potential: number | null): string {
  return potential === null ? '' : `Φ ${potential}`
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '     ')
}
