/**
 * What the other packages of this repository share. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export { withSteadyNow } from './lib/session/clock.ts'
export { DEFAULT_EVENTS } from './lib/session/outside.ts'
export { DEFAULT_LOG_BYTES, DEFAULT_TEXT_BYTES } from './lib/session/session.ts'
export { sessionNotFound } from './lib/session/session-errors.ts'
export { assertJsonState } from './lib/session/session-text.ts'
export { isEndUnreported, turnOf } from './lib/session/step.ts'
