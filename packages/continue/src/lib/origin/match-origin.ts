import type { Origins } from '@episodic/analysis/replay/replayed-step'
import { type Part, wholeParts } from '@episodic/analysis/replay/steps-before'
import type { runMatch } from '@episodic/env'
import type { MatchRecord } from '@episodic/protocol'
import type { Origin } from '@episodic/protocol/internal'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { mapValues } from '@episodic/run/base/map-values'
import { answersOf } from './earlier-answers.ts'
import type { PutBack } from './episode-origin.ts'
import { answersTo, reportedParts, wholeObservations } from './played-steps.ts'

type MatchOrigin = NonNullable<Parameters<typeof runMatch>[0]['origin']>
type MatchStep = MatchOrigin['steps'][number]

/** Returns the step of an earlier match as a match begins there, see `episodeOrigin`. */
export function matchOrigin(
  { seal, step, call, answer }: Origin,
  { parent, snapshot }: PutBack<MatchRecord>,
  origins: Origins,
): MatchOrigin {
  const parts = wholeParts(parent, step, origins)
  const { params, seed, turn, seats } = (parts[0] as Part<MatchRecord>).record
  const steps: MatchStep[] = []
  for (const { record, count, answer } of parts) {
    steps.push(...playedSteps(record, count, steps))
    const last = answer === undefined ? undefined : steps.pop()
    if (last) steps.push({ ...last, answer })
  }
  const starts = Object.entries(seats).flatMap(([seat, { start }]) =>
    start ? [[seat, { ...start, capability: '' }] as const] : [],
  )
  return {
    snapshot,
    start: { turn, seats: Object.fromEntries(starts), info: { id: seal, params, seed, limits: snapshot.limits } },
    steps,
    ...(call && { call: { ...call, seat: call.seat as string } }),
    ...(answer !== undefined && { answer }),
  }
}

/** Returns the first steps of a line as they were played, each answer of a model with what the model was sent. */
function playedSteps(record: MatchRecord, count: number, before: readonly MatchStep[]): MatchStep[] {
  const answers = mapValues(record.seats, (_, seat) => answersOf(seatRecordOf(record, seat)).values())
  const whole = wholeObservations(record)
  const seqs = mapValues(record.seats, (_, name) => before.filter(({ seat }) => seat === name).length)
  return record.steps.slice(0, count).map((step, at) => {
    const { seat, action, observation, milliseconds, stateHash, rewards, seats } = step
    const { [seat]: earned, ...others } = mapValues(rewards, ({ terms }) => terms)
    seqs[seat] = (seqs[seat] ?? 0) + 1
    const report: MatchStep['report'] = {
      ...{ seq: seqs[seat], revision: before.length + at + 1, terms: earned ?? {}, stateHash: stateHash as string },
      ...reportedParts(step),
      end: seats.ends?.[seat] ?? null,
      seats: { ...seats, terms: others },
    }
    const seen = { observation: whole(observation), replayed: false, milliseconds, seen: 0 }
    return { ...seen, seat, action, report, completions: answersTo(step, answers[seat]) }
  })
}
