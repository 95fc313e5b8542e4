export { type Clock, createManualClock, type ManualClock, systemClock } from './lib/clock.ts'
export { decideStep, type StepRequest, type StepVerdict } from './lib/decide-step.ts'
export { sessionNotFound } from './lib/held-record.ts'
export { appendHistory, type History, type HistoryBounds } from './lib/history.ts'
export { isEndUntold } from './lib/is-end-untold.ts'
export { assertJsonState } from './lib/json-state.ts'
export { DEFAULT_EVENTS, type Happened, recordEvent } from './lib/outside.ts'
export { type Change, type Played, playStep, type Stepped, type Turn } from './lib/play-step.ts'
export {
  type Answered,
  DEFAULT_LOG_BYTES,
  DEFAULT_TEXT_BYTES,
  type Move,
  type Preparation,
  Session,
  type SessionOptions,
} from './lib/session.ts'
export {
  decodeSession,
  encodeSession,
  type PendingEffect,
  type SeatRecord,
  type SessionBase,
  type SessionRecord,
  type SessionState,
  storedBytes,
} from './lib/session-record.ts'
export type { LogEntry, SessionStore, StoredProgress, StoredSession } from './lib/session-store.ts'
export { StateError, type StateErrorCode } from './lib/state-error.ts'
export { stateHash } from './lib/state-hash.ts'
