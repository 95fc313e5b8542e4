/**
 * What the other packages of this repository share. It carries no promise: any release may change or remove it.
 *
 * @module
 * @internal
 */

export { withSteadyNow } from './lib/session/clock.ts'
export { type HeldSession, holdSession, readState, storeSession } from './lib/session/held-session.ts'
export type { HistoryBounds } from './lib/session/history.ts'
export { DEFAULT_EVENTS, type Happened, recordEvent } from './lib/session/outside.ts'
export { DEFAULT_LOG_BYTES, DEFAULT_TEXT_BYTES } from './lib/session/session.ts'
export { sessionNotFound } from './lib/session/session-errors.ts'
export { decodeSession, type SessionBase, storedBytes } from './lib/session/session-record.ts'
export { answeredIn, isEndUnreported, type PlayedSeats, recordStep, turnOf } from './lib/session/step.ts'
export { differences } from './lib/state/differences.ts'
export { copyOfDraft, isLarge, KeptState, settled } from './lib/state/kept-state.ts'
export { freezeAll } from './lib/state/page-node.ts'
export { pagesOfPart, readPart } from './lib/state/part-pages.ts'
export { isFrozenWhole } from './lib/state/shared-values.ts'
export { isSamePart, partName } from './lib/state/view.ts'
