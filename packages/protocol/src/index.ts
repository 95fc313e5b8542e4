export { canonicalJson } from './lib/canonical-json.ts'
export type { Completion } from './lib/completion.ts'
export { contentId } from './lib/digest.ts'
export type { EpisodeEnd, StopReason, Truncation } from './lib/end-reasons.ts'
export type { EnvironmentInfo, EventInfo, ToolAnnotations, ToolInfo } from './lib/environment-info.ts'
export { chainOf, type Reproducible, type ReproducibleMatch } from './lib/episode-chain.ts'
export type { PlayerStopped } from './lib/episode-end.ts'
export type { EpisodeRecord, RecordedStep } from './lib/episode-record.ts'
export {
  DEFAULT_SEAT,
  EXTENSION,
  type LegalActions,
  type LoggedStep,
  META,
  METHOD_SCHEMAS,
  METHODS,
  type MethodParams,
  type MethodResult,
  type OpenResult,
} from './lib/extension.ts'
export { findNonJson, type Json, type JsonObject, jsonObjectSchema } from './lib/json.ts'
export { DEFAULT_LIMITS, type Limits, type LimitsRequest } from './lib/limits.ts'
export type { MatchRecord, RecordedSeat, RecordedSeatStep } from './lib/match-record.ts'
export type { Channel } from './lib/mcp.ts'
export type { Observation } from './lib/observation.ts'
export type {
  AppliedEvent,
  OutsideEvent,
  OutsideHistory,
  PublishedEvent,
  RecordedEvent,
} from './lib/outside-event.ts'
export { createRng, type Rng, type RngState } from './lib/rng.ts'
export { isMatchRecord, parseSealedRecord, type SealedRecord, sealOf } from './lib/sealed-record.ts'
export type { SeatsReport, Terms } from './lib/seats-report.ts'
export { seedFor } from './lib/seed.ts'
export type { SessionSnapshot } from './lib/session-snapshot.ts'
export {
  type Action,
  actionSchema,
  type Refusal,
  type Reward,
  type Step,
  type StepReport,
  stepReportSchema,
} from './lib/step.ts'
export { type SeatInstructions, type Split, type Task, taskSchema } from './lib/task.ts'
export { type ModelRequest, requestsOf } from './lib/transcript.ts'
export type { Transcript } from './lib/transcript-schema.ts'
export { WireError, type WireErrorCode } from './lib/wire-error.ts'
