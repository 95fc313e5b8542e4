import {
  canonicalJson,
  findNonJson,
  type JsonObject,
  type Limits,
  METHOD_SCHEMAS,
  type SessionSnapshot,
  WireError,
} from '@episodic/protocol'
import { formatZodError, invalidParams, MOST_ANSWER_BYTES } from '@episodic/protocol/internal'
import { StateError } from '@episodic/state'
import { answeredIn, KeptState } from '@episodic/state/internal'
import type { z } from 'zod'
import type { EnvironmentDefinition } from '../../environment/definition/environment.ts'
import { assertEvent } from '../../environment/rules/apply-event.ts'
import { mergeLimits } from './open-session.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Validates a snapshot that a client sends. The client may have changed it, so every part must be what a session of
 * this environment could hold; a limit looser than the environment's own is lowered to it.
 *
 * Throws `invalid-params` naming the invalid part, `too-large` for a state beyond the limit, and `episode-ended`.
 */
export function readSnapshot(environment: EnvironmentDefinition, snapshot: SessionSnapshot): Snapshot {
  const problem = findNonJson(snapshot, 'snapshot')
  if (problem) throw broken(problem)
  if (snapshot.end)
    throw new WireError(
      'episode-ended',
      `This snapshot was taken after the end (${snapshot.end.kind}: ${snapshot.end.reason}), so nothing follows. Take one of an earlier step with "at".`,
      { details: { end: snapshot.end } },
    )
  assertUnchanged('snapshot.params', environment.params, snapshot.params)
  assertUnchanged('snapshot.state.public', environment.state.public, snapshot.state.public)
  assertUnchanged('snapshot.state.private', environment.state.private, snapshot.state.private)
  assertRemembered(environment, snapshot)
  assertSeated(environment, snapshot)
  const limits = limitsOf(environment, snapshot)
  assertHappened(environment, snapshot, limits)
  assertPlayable(snapshot, limits)
  const { state, ...rest } = snapshot
  const kept = keptCopy(state, limits)
  return { record: { ...structuredClone(rest), limits, state: kept.state }, kept, pools: [] }
}

function keptCopy(state: SessionSnapshot['state'], limits: Limits): KeptState {
  try {
    const kept = KeptState.of(state, limits)
    return kept.isLarge ? kept : KeptState.parsed(kept.text)
  } catch (error) {
    if (!StateError.is(error, 'too-large')) throw error
    throw new WireError('too-large', `The state in this snapshot passes its limit of ${limits.bytes} bytes.`, {
      details: { limit: limits.bytes },
    })
  }
}

function limitsOf(environment: EnvironmentDefinition, { params, limits }: SessionSnapshot): Limits {
  const own = environment.limitsFor(params)
  const { steps, bytes, seconds, turnSeconds } = limits
  const asked = { steps, bytes, seconds: seconds ?? undefined, turnSeconds }
  const open = METHOD_SCHEMAS.open.params.shape.limits.safeParse(
    Object.fromEntries(Object.entries(asked).filter(([name]) => own[name as keyof typeof own] === undefined)),
  )
  if (!open.success) throw broken(`snapshot.limits: ${formatZodError(open.error)}`)
  return mergeLimits(own, asked)
}

function assertPlayable({ seats, now }: SessionSnapshot, { steps }: Limits): void {
  // The server takes one step more, the last, of a seat that would have to act without steps.
  for (const [seat, { seq, end }] of Object.entries(seats))
    if (!(Number.isSafeInteger(seq) && seq >= 0 && seq <= (end ? steps + 1 : steps)))
      throw broken(`snapshot.seats.${seat}.seq is ${seq}, and has to be a whole number from 0 to ${steps}, the limit`)
  if (!(now >= 0 && now <= Number.MAX_SAFE_INTEGER))
    throw broken(`snapshot.now is ${now}, and has to be from 0 to ${Number.MAX_SAFE_INTEGER}`)
}

/** Throws if a value does not match its schema, or if parsing drops or changes a part of it. */
function assertUnchanged(path: string, schema: z.ZodType, value: JsonObject): void {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw broken(`${path}: ${formatZodError(parsed.error)}`)
  if (canonicalJson(parsed.data as JsonObject) !== canonicalJson(value))
    throw broken(`${path} holds what the environment does not declare`)
}

function assertSeated(environment: EnvironmentDefinition, { params, state, seats: given, turn }: SessionSnapshot) {
  const { multiplayer } = environment
  const { own } = environment.state
  const present = environment.present(params)
  const assertNames = (path: string, names: readonly string[], expected: readonly string[]) => {
    if (names.length !== expected.length || !expected.every((name) => names.includes(name)))
      throw broken(`${path} names ${names.join(', ') || 'none'}, and the seats are: ${expected.join(', ')}`)
  }
  assertNames('snapshot.seats', Object.keys(given), present)
  assertNames('snapshot.state.own', Object.keys(state.own ?? {}), own ? present : [])
  if (own) for (const seat of present) assertUnchanged(`snapshot.state.own.${seat}`, own, state.own?.[seat] ?? {})
  const stray = turn?.find((seat) => given[seat] === undefined || given[seat].end)
  if (multiplayer ? turn === undefined || turn.length === 0 || stray !== undefined : turn !== undefined)
    throw broken(`snapshot.turn is ${JSON.stringify(turn)}, and has to name the seats that may act`)
}

function assertRemembered({ history: bounds }: EnvironmentDefinition, { history, seats }: SessionSnapshot): void {
  const most = bounds === 'calls' ? answeredIn(seats) : (bounds?.entries ?? 0)
  if (bounds === 'calls' ? history.length !== most : history.length > most)
    throw broken(`snapshot.history has ${history.length} entries, and a session remembers ${most}`)
  if (bounds === 'calls') return
  const bytes = history.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0)
  if (bounds && bytes > bounds.bytes)
    throw broken(`snapshot.history has ${bytes} bytes, and a session remembers ${bounds.bytes}`)
}

function assertHappened(environment: EnvironmentDefinition, { outside }: SessionSnapshot, limits: Limits): void {
  if (!outside) return
  for (const event of outside.pending) {
    assertEvent(environment, event)
    if (event.end) throw broken(`snapshot.outside has the event ${event.id} end the episode, which has not ended`)
  }
  const size = JSON.stringify(outside).length
  const room = Math.min(limits.bytes, MOST_ANSWER_BYTES)
  if (size > room) throw broken(`snapshot.outside has ${size} bytes, and the limit is ${room}`)
}

function broken(what: string): WireError {
  return invalidParams(`This is not a snapshot of a session here: ${what}. Restore a snapshot without changes.`)
}
