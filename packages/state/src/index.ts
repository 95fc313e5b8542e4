export { type Clock, createManualClock, systemClock } from './lib/session/clock.ts'
export type { History, HistoryBounds } from './lib/session/history.ts'
export { type Happened, recordEvent } from './lib/session/outside.ts'
export { type Answered, type Move, type PlayedStep, Session } from './lib/session/session.ts'
export {
  decodeSession,
  encodeSession,
  type SessionBase,
  type SessionRecord,
  type SessionState,
  storedBytes,
} from './lib/session/session-record.ts'
export { stateHash } from './lib/session/session-text.ts'
export { type Change, type Played, type PlayedSeats, recordStep, type Turn } from './lib/session/step.ts'
export { StateError } from './lib/state-error.ts'
export type { SessionStore, StoredSession } from './lib/store/session-store.ts'
