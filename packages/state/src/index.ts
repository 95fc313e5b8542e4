export { type Clock, createManualClock, systemClock, withSteadyNow } from './lib/session/clock.ts'
export type { History, HistoryBounds } from './lib/session/history.ts'
export { DEFAULT_EVENTS, type Happened, recordEvent } from './lib/session/outside.ts'
export {
  type Answered,
  DEFAULT_LOG_BYTES,
  DEFAULT_TEXT_BYTES,
  type Move,
  type PlayedStep,
  Session,
} from './lib/session/session.ts'
export { sessionNotFound } from './lib/session/session-errors.ts'
export {
  decodeSession,
  encodeSession,
  type SessionBase,
  type SessionRecord,
  type SessionState,
  storedBytes,
} from './lib/session/session-record.ts'
export { assertJsonState, stateHash } from './lib/session/session-text.ts'
export {
  type Change,
  isEndUnreported,
  type Played,
  type PlayedSeats,
  recordStep,
  type Turn,
  turnOf,
} from './lib/session/step.ts'
export { StateError } from './lib/state-error.ts'
export type { SessionStore, StoredSession } from './lib/store/session-store.ts'
