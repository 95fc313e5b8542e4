import { type LoggedStep, WireError } from '@episodic/protocol'
import { playStep, type SessionRecord, type SessionStore, stateHash } from '@episodic/state'
import type { Environment } from './environment.ts'
import type { RulesRunner } from './rules-runner.ts'
import { type Moment, recordAtBase, stepsOf } from './session-moment.ts'

/** Log entries that are read at once. */
const PAGE = 250

export interface ReplayOptions {
  readonly rules: Pick<RulesRunner, 'start' | 'play'>
  readonly store: SessionStore
  readonly environment: Environment
  /** Awaited after every step. */
  readonly giveTurn: () => Promise<void>
  readonly signal?: AbortSignal | undefined
}

/**
 * Finds how a session stood after `at` answered steps, by playing its step log again from where it began. What others
 * did to it between its steps, to close it or to mark it as used, is not in the log and changes no state.
 *
 * Rejects with `replay-diverged` where a step plays differently from what was answered: no other state passes for the
 * one that was there. Gives `null` where the log ends early, as it does once the session is removed.
 */
export async function replayTo(
  { record, at }: { readonly record: SessionRecord; readonly at: number },
  options: ReplayOptions,
): Promise<Moment | null> {
  const { store, giveTurn, signal } = options
  let moment = await momentOfStart(record, options)
  for (let after = 0; stepsOf(moment.record.seats) < at; ) {
    signal?.throwIfAborted()
    const page = await store.readLog(record.id, { after, limit: Math.min(PAGE, at - stepsOf(moment.record.seats)) })
    if (page.length === 0) return null
    for (const { text, revision } of page) {
      signal?.throwIfAborted()
      moment = await replayStep(moment, JSON.parse(text), options)
      after = revision
      await giveTurn()
    }
  }
  return moment
}

async function momentOfStart(record: SessionRecord, { rules, environment }: ReplayOptions) {
  if (record.base) return recordAtBase(record, record.base)
  const { state, rng } = await rules.start(environment, record.params, record.seed)
  const seats = Object.fromEntries(Object.keys(record.seats).map((seat) => [seat, { seq: 0, last: null }]))
  const start = { ...record, revision: 0, rng, now: 0, state, end: null, seats, history: [] }
  return { record: start, stateText: JSON.stringify(state) }
}

async function replayStep(
  { record, stateText }: Moment & { readonly record: SessionRecord },
  logged: LoggedStep,
  { rules, environment }: ReplayOptions,
): Promise<Moment & { readonly record: SessionRecord }> {
  const { seat, action, report } = logged
  const setting = {
    seat,
    action,
    draft: JSON.parse(stateText),
    // Real time decided one thing: whether the session's had run out before the step came.
    now: record.createdAt + (report.refused === 'time' ? (record.limits.seconds ?? 0) * 1_000 : 0),
    history: environment.history,
  }
  const { next, step } = await playStep(record, setting, (turn) => rules.play(environment, turn, action))
  const text = next.state === record.state ? stateText : JSON.stringify(next.state)
  const { terms, potential, end, refused } = step.report
  const replayed = { observation: step.observation, terms, potential, end, refused, stateHash: stateHash(text, next) }
  for (const [field, value] of Object.entries(replayed)) {
    const was = field === 'observation' ? logged.observation : report[field as keyof typeof report]
    if (JSON.stringify(value) !== JSON.stringify(was)) throw diverged(environment, report.seq, field)
  }
  return { record: next, stateText: text }
}

function diverged({ name, version }: Environment, step: number, field: string): WireError {
  return new WireError(
    'replay-diverged',
    `Played again, step ${step} of this session has another ${field} than it was answered with, so how it stood there cannot be told. The rules of ${name} changed within version ${version}, or depend on more than state, seed and actions. Name the present by leaving "at" out, or mend the rules.`,
    { details: { step, field } },
  )
}
