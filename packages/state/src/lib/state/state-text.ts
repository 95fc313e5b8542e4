import { findNonJson, type Limits, type LoggedStep } from '@episodic/protocol'
import { copyJson, MOST_ANSWER_BYTES } from '@episodic/protocol/internal'
import { StateError } from '../state-error.ts'
import type { SessionState } from './session-state.ts'

// The texts that a commit writes: they come back from the store unchanged, and stay within the session's limit of
// bytes.

/** Returns the text of a state, and what parsing it would return. Throws `not-json` and `too-large`. */
export function encodeState(state: SessionState, limits: Limits) {
  // Each object has two bytes at least.
  const copy = readState(() => copyJson(state, 'state', limits.bytes)).copy as unknown as SessionState
  const text = JSON.stringify(copy)
  if (text.includes(HALF_PAIR)) assertJson(copy)
  if (!fits(text, limits.bytes)) throw stateTooLarge(byteLength(text), limits)
  return { text, copy }
}

/** Throws `too-large` for a state whose JSON text has more bytes than the session's limit. */
export function assertStateFits(bytes: number, limits: Limits): void {
  if (bytes > limits.bytes) throw stateTooLarge(bytes, limits)
}

/**
 * Returns the text of a step for the step log. Throws `not-json` and `too-large` for the answer of the rules, whose
 * text may have `textBytes` bytes, and `action-invalid` for an action that cannot be written or is too large by itself,
 * which is the caller's mistake.
 */
export function encodeStep(step: LoggedStep, limits: Limits, textBytes: number): string {
  assertTextFits(step.observation.text, textBytes)
  const text = stepText(step)
  if (text.includes(HALF_PAIR)) assertWholeText(step)
  const room = Math.min(limits.bytes, MOST_ANSWER_BYTES)
  if (!fits(text, room)) assertStepFits(step, text, room)
  return text
}

/**
 * How JSON text writes half of a surrogate pair, which is no character and which other readers of the log reject. An
 * escaped backslash before the letters looks the same, so a text that contains this is checked value by value.
 */
const HALF_PAIR = '\\ud'

function assertWholeText(step: LoggedStep): void {
  const sent = findNonJson(step.action, 'action')
  if (sent) throw new StateError('action-invalid', `The action cannot be written as JSON: ${sent}.`)
  const said = findNonJson(step.observation, 'observation')
  if (said) throw new StateError('not-json', `The rules gave an answer that JSON cannot say: ${said}.`)
}

function assertStepFits(whole: LoggedStep, wholeText: string, room: number): void {
  // Events have room of their own, and have come already.
  const { events, ...report } = whole.report
  const step = { ...whole, report }
  const text = events ? JSON.stringify(step) : wholeText
  if (fits(text, room)) return
  if (fits(JSON.stringify({ ...step, action: null }), room))
    throw new StateError(
      'action-invalid',
      `The action is too large: with its answer it would pass the limit of ${room} bytes.`,
    )
  throw new StateError(
    'too-large',
    `The answer has ${byteLength(text)} bytes, and the limit of one answer is ${room}. Say less, attach smaller pictures, or let the player ask for parts.`,
    { details: { limit: room } },
  )
}

function stateTooLarge(bytes: number, { bytes: limit }: Limits): StateError {
  return new StateError(
    'too-large',
    `The state has ${bytes} bytes, and the session's limit is ${limit}. Keep less in it, or raise \`limits.bytes\` of the environment.`,
    { details: { limit } },
  )
}

/** Checked before the step is written, because a text that is too large would be copied several times first. */
function assertTextFits(text: string, bytes: number): void {
  if (fits(text, bytes)) return
  throw new StateError(
    'too-large',
    `The text of the answer has ${byteLength(text)} bytes, and the limit is ${bytes}. Say less, put data into the structured answer, or raise the host's limit (bounds.textBytes).`,
    { details: { limit: bytes } },
  )
}

function stepText(step: LoggedStep): string {
  try {
    return JSON.stringify(step)
  } catch {
    throw unreadable('answer')
  }
}

/** Returns the error for what rules left and cannot be read to its end. */
export function unreadable(what = 'state'): StateError {
  return new StateError('not-json', `The rules left what JSON cannot say: the ${what} ${UNREADABLE}.`)
}

/** A UTF-16 code unit is at most three bytes of UTF-8, so short texts need no counting. */
function fits(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || byteLength(text) <= bytes
}

/** Throws `not-json` for a state that a store would not return unchanged. */
function assertJson(state: SessionState): void {
  readState(() => findNonJson(state, 'state'))
}

/** What the rules left may contain itself or nest without end, and reading it may run their code. */
function readState<T>(read: () => T): Exclude<T, string> {
  let found: T | string
  try {
    found = read()
  } catch {
    found = `state ${UNREADABLE}`
  }
  if (typeof found !== 'string') return found as Exclude<T, string>
  throw new StateError('not-json', `The rules left a state that JSON cannot say: ${found}.`)
}

/** Why a value could not be read to its end, in words that run none of its code. */
const UNREADABLE = 'contains itself, is nested too deep, has too many parts, or has a getter that throws'

export function byteLength(text: string): number {
  return Buffer.byteLength(text)
}
