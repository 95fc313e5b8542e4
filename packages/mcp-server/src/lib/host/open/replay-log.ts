import { type LoggedStep, type Observation, WireError } from '@episodic/protocol'
import { type AppliedEvent, withoutDataLines } from '@episodic/protocol/internal'
import type { SessionStore } from '@episodic/state'
import {
  answeredIn,
  type HeldSession,
  KeptState,
  readState,
  recordEvent,
  recordStep,
  turnOf,
} from '@episodic/state/internal'
import type { EnvironmentDefinition } from '../../environment/definition/environment.ts'
import { beginning } from '../../environment/rules/start-environment.ts'
import type { SessionRules } from '../operate/faults.ts'
import { recordAtBase } from './snapshot.ts'

const PAGE = 250

export interface ReplayOptions {
  readonly rules: SessionRules
  readonly store: SessionStore
  readonly environment: EnvironmentDefinition
  readonly events: number
  readonly giveTurn: () => Promise<void>
  readonly signal?: AbortSignal | undefined
}

/**
 * Computes a session's snapshot after `at` answered steps: replays its step log from its start, with the outside events
 * before each step. Commits that only close the session or mark it as used are not in the log and change no state.
 *
 * Rejects with `replay-diverged` if a replayed step differs from its answer, so that a wrong state is never returned.
 * Resolves with `null` if the log ends early, as it does once the session is removed.
 */
export async function replayTo(
  { record, kept, pools, at }: HeldSession & { readonly at: number },
  options: ReplayOptions,
): Promise<HeldSession | null> {
  const { store, giveTurn, signal } = options
  let snapshot: HeldSession = { ...(await heldAtStart({ record, kept }, options)), pools }
  for (let after = 0; answeredIn(snapshot.record.seats) < at; ) {
    signal?.throwIfAborted()
    const page = await store.readLog(record.id, {
      after,
      limit: Math.min(PAGE, at - answeredIn(snapshot.record.seats)),
    })
    if (page.length === 0) return null
    for (const { text, revision } of page) {
      signal?.throwIfAborted()
      const logged: LoggedStep = JSON.parse(text)
      snapshot = await replayStep(await replayEvents(snapshot, logged, options), logged, options)
      after = revision
      await giveTurn()
    }
  }
  return snapshot
}

async function heldAtStart(
  { record, kept: present }: Pick<HeldSession, 'record' | 'kept'>,
  { rules, environment, store }: ReplayOptions,
) {
  const { base } = record
  if (base) {
    const kept = await readState(store, record.id, base.state, present)
    return { record: recordAtBase(record, base, kept), kept }
  }
  const started = await rules.start(record.params, record.seed)
  const kept = KeptState.start(started.state, record.limits)
  const start = { ...record, ...beginning(environment, started, kept), outside: undefined, effect: undefined }
  return { record: start, kept }
}

async function replayEvents(
  held: HeldSession,
  { report: { seq, events = [] } }: LoggedStep,
  { rules, environment, events: bound }: ReplayOptions,
): Promise<HeldSession> {
  let { record, kept } = held
  // Events before the session's start are part of its base.
  for (const event of events.slice(record.outside?.pending.length ?? 0)) {
    const happened = await rules.apply({ record, draft: kept.draft() }, event)
    assertSame(environment, seq, pick(happened), pick(event))
    record = recordEvent(record, event, happened, { bound, now: record.touchedAt })
    kept = kept.next(record.state, record.limits)
    record = { ...record, state: kept.state }
  }
  return { ...held, record, kept }
}

function pick({ said, end, sent }: Pick<AppliedEvent, 'said' | 'end' | 'sent'>) {
  return { said, end, sent }
}

async function replayStep(
  { record, kept: before, pools }: HeldSession,
  logged: LoggedStep,
  { rules, environment }: ReplayOptions,
): Promise<HeldSession> {
  const { seat, action, report } = logged
  const setting = {
    seat,
    action,
    // Real time decides only whether the session's time limit had passed before the step.
    now: record.createdAt + (report.refused === 'time' ? (record.limits.seconds ?? 0) * 1_000 : 0),
    history: environment.history,
    prepared: report.prepared,
  }
  const played = await rules.play(turnOf(record, before.draft(), setting), action)
  const kept = before.next(played.change ? played.change.state : record.state, record.limits)
  const { next, step } = recordStep(record, setting, played, kept)
  const { terms, potential, end, refused, seats } = step.report
  const { structured } = logged.observation
  // Releases have repeated other fields of the data below a text.
  const own = (seen: Observation) => ({ ...seen, text: withoutDataLines(seen.text, structured) })
  const replayed = {
    observation: own(step.observation),
    terms,
    potential,
    end,
    refused,
    stateHash: kept.hashAs(report.stateHash, next),
    ...(seats && { seats }),
  }
  assertSame(environment, report.seq, replayed, { ...report, observation: own(logged.observation) })
  return { record: next, kept, pools }
}

function assertSame<T extends object>(environment: EnvironmentDefinition, step: number, replayed: T, was: T): void {
  for (const [field, value] of Object.entries(replayed))
    if (JSON.stringify(value) !== JSON.stringify(was[field as keyof T])) throw diverged(environment, step, field)
}

function diverged({ name, version }: EnvironmentDefinition, step: number, field: string): WireError {
  return new WireError(
    'replay-diverged',
    `The replay of step ${step} of this session has another ${field} than its answer, so the state there is not known. The rules of ${name} changed within version ${version}, or depend on more than state, seed and actions. Leave "at" out to use the present state, or fix the rules.`,
    { details: { step, field } },
  )
}
