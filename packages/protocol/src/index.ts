export { abortable } from './lib/abortable.ts'
export { canonicalJson } from './lib/canonical-json.ts'
export type { Channel } from './lib/channel.ts'
export { monotonic, pause } from './lib/clock.ts'
export { CodedError, isBranded } from './lib/coded-error.ts'
export { type Completion, completionSchema } from './lib/completion.ts'
export { contentId, sha256Of } from './lib/digest.ts'
export { chainOf, type Reproducible } from './lib/episode-chain.ts'
export { type EpisodeEnd, episodeEndSchema, type Truncation } from './lib/episode-end.ts'
export {
  type Branch,
  type EpisodeRecord,
  episodeRecordSchema,
  type Outcome,
  type RecordedStep,
  type Returns,
} from './lib/episode-record.ts'
export {
  authenticateParamsSchema,
  type CloseResult,
  closeResultSchema,
  DEFAULT_SEAT,
  type DumpRequest,
  type DumpResult,
  dumpParamsSchema,
  dumpResultSchema,
  type EnvironmentInfo,
  type EventInfo,
  EXTENSION,
  environmentInfoSchema,
  forkParamsSchema,
  forkResultSchema,
  type LegalActions,
  type LoggedStep,
  legalResultSchema,
  listResultSchema,
  META,
  METHODS,
  type OpenParams,
  type OpenResult,
  type OpenSeat,
  openParamsSchema,
  openResultSchema,
  type RestoreRequest,
  restoreParamsSchema,
  type SessionSummary,
  type StateResult,
  sessionParamsSchema,
  sessionsParamsSchema,
  sessionsResultSchema,
  snapshotParamsSchema,
  snapshotResultSchema,
  stateResultSchema,
  type ToolAnnotations,
  type ToolInfo,
  type WatchParams,
  type WatchResult,
  WIRE_VERSION,
  watchParamsSchema,
  watchResultSchema,
} from './lib/extension.ts'
export { findNonJson, type Json, type JsonObject, jsonObjectSchema, jsonSchema } from './lib/json.ts'
export { DEFAULT_LIMITS, type Limits, type LimitsRequest, limitsRequestSchema, limitsSchema } from './lib/limits.ts'
export { mapTexts } from './lib/map-texts.ts'
export {
  type CommandEntry,
  type ConfigReading,
  parseMcpConfig,
  urlEntrySchema,
  type Variables,
} from './lib/mcp-config.ts'
export { ENVELOPE, MODERN_VERSION } from './lib/modern-era.ts'
export {
  type AppliedEvent,
  appliedEventSchema,
  type KnownEvent,
  type OutsideEvent,
  type OutsideHistory,
  outsideHistorySchema,
  type PublishedEvent,
  type PublishResult,
  publishParamsSchema,
  publishResultSchema,
  type RecordedEvent,
  recordedEventSchema,
} from './lib/outside-event.ts'
export { randomText } from './lib/random-text.ts'
export { createRng, type Rng, type RngState, type SavableRng } from './lib/rng.ts'
export { seedFor } from './lib/seed.ts'
export { type SessionSnapshot, sessionSnapshotSchema } from './lib/session-snapshot.ts'
export {
  type Action,
  actionSchema,
  type Observation,
  observationSchema,
  type Refusal,
  type Reward,
  refusalSchema,
  type Step,
  type StepInfo,
  type StepReport,
  stepReportSchema,
} from './lib/step.ts'
export { type Split, splitSchema, type Task, taskSchema } from './lib/task.ts'
export { WIRE_ERROR_NUMBERS, WireError, type WireErrorCode, wireErrorCodeOf } from './lib/wire-error.ts'
