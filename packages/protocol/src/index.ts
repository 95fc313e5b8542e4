export { canonicalJson } from './lib/base/canonical-json.ts'
export { contentId } from './lib/base/digest.ts'
export { hashOfPart } from './lib/base/hash-of-part.ts'
export { findNonJson, type Json, type JsonObject, jsonObjectSchema } from './lib/base/json.ts'
export { createRng, type Rng, type RngState } from './lib/base/rng.ts'
export { seedFor } from './lib/base/seed.ts'
export type { Completion } from './lib/record/completion.ts'
export { chainOf, type Reproducible } from './lib/record/episode-chain.ts'
export type { EpisodeRecord, RecordedStep } from './lib/record/episode-record.ts'
export type { Guarantees } from './lib/record/guarantees.ts'
export type { MatchRecord, RecordedSeatStep } from './lib/record/match-record.ts'
export { isMatchRecord, parseSealedRecord, type SealedRecord, sealOf } from './lib/record/sealed-record.ts'
export { SeatViews } from './lib/record/seat-views.ts'
export { type Split, type Task, taskSchema } from './lib/record/task.ts'
export { type ModelRequest, playedCalls, requestsOf } from './lib/record/transcript.ts'
export type { Transcript } from './lib/record/transcript-schema.ts'
export type { Attachment } from './lib/wire/attachment.ts'
export type { EpisodeEnd, Truncation } from './lib/wire/end-reasons.ts'
export type { EnvironmentInfo, ToolAnnotations, ToolInfo } from './lib/wire/environment-info.ts'
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
} from './lib/wire/extension.ts'
export { DEFAULT_LIMITS, type Limits, type LimitsRequest } from './lib/wire/limits.ts'
export type { Channel } from './lib/wire/mcp.ts'
export type { Observation } from './lib/wire/observation.ts'
export type { OutsideEvent, PublishedEvent, RecordedEvent } from './lib/wire/outside-event.ts'
export type { SeatsReport, Terms } from './lib/wire/seats-report.ts'
export type { SessionSnapshot } from './lib/wire/session-snapshot.ts'
export {
  type Action,
  actionSchema,
  type Refusal,
  type Reward,
  type Step,
  type StepReport,
  stepReportSchema,
} from './lib/wire/step.ts'
export { WireError, type WireErrorCode } from './lib/wire/wire-error.ts'
