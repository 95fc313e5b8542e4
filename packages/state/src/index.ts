export { type Clock, createManualClock, systemClock } from './lib/session/clock.ts'
export { sessionNotFound } from './lib/session/held-record.ts'
export type { History, HistoryBounds } from './lib/session/history.ts'
export { isEndUnreported } from './lib/session/is-end-unreported.ts'
export { assertJsonState } from './lib/session/json-state.ts'
export { DEFAULT_EVENTS, type Happened, recordEvent } from './lib/session/outside.ts'
export { type Change, type Played, playStep, type Turn } from './lib/session/play-step.ts'
export {
  type Answered,
  DEFAULT_LOG_BYTES,
  DEFAULT_TEXT_BYTES,
  type Move,
  type Preparation,
  Session,
} from './lib/session/session.ts'
export {
  decodeSession,
  encodeSession,
  type SessionBase,
  type SessionRecord,
  type SessionState,
  storedBytes,
} from './lib/session/session-record.ts'
export { stateHash } from './lib/session/state-hash.ts'
export { StateError } from './lib/state-error.ts'
export type { SessionStore, StoredSession } from './lib/store/session-store.ts'
