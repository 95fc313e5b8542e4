export { type ConnectionOptions, connect } from './lib/connect.ts'
export { EnvError, type EnvErrorCode } from './lib/env-error.ts'
export type { Connection } from './lib/environment/connection.ts'
export {
  type CallOptions,
  delegate,
  type Environment,
  type EventInput,
  type Fork,
  type ForkOptions,
  type Playable,
  type ResetOptions,
  type ResetResult,
  type SnapshotOptions,
  type StepResult,
} from './lib/environment/environment.ts'
export type { Episode, EpisodeOptions, PlayedStep } from './lib/environment/episode.ts'
export { returnsOf } from './lib/environment/returns.ts'
export { runEpisode } from './lib/environment/run-episode.ts'
export { type BranchPoint, type Leaf, type LeafPlace, runTree, type TreeOptions } from './lib/environment/run-tree.ts'
export type { TypedEnvironment } from './lib/environment/typed-environment.ts'
export { createVectorEnvironment, type Settled, type VectorEnvironment } from './lib/environment/vector-environment.ts'
export type { WatchedEnvironment, WatchOptions } from './lib/environment/watched-environment.ts'
export { withLimits } from './lib/environment/with-limits.ts'
export { type Recorded, withRecording } from './lib/environment/with-recording.ts'
export type { RetryOptions } from './lib/environment/with-retries.ts'
export { withShaping } from './lib/environment/with-shaping.ts'
export { withWeights } from './lib/environment/with-weights.ts'
export { disconnectPreservingSessions } from './lib/external/disconnect-preserving-sessions.ts'
export {
  defineExternalEnvironment,
  type ExternalDefinition,
  type ExternalEnvironment,
  type ExternalOpening,
  type ExternalSetting,
  type ExternalTransition,
} from './lib/external/external-environment.ts'
export type { ExternalServer } from './lib/external/external-server.ts'
export {
  definePolicy,
  type EarlierStep,
  type Player,
  type PlayerView,
  type Policy,
  type PolicyContext,
  type PolicyDefinition,
} from './lib/policy/policy.ts'
export { randomPolicy } from './lib/policy/random-policy.ts'
export { sampleJson } from './lib/policy/sample-json.ts'
export { scriptedPolicy } from './lib/policy/scripted-policy.ts'
export { type Authorization, type AuthorizationOptions, createAuthorization } from './lib/transport/authorization.ts'
export type { Elicit, Elicitation, Elicited } from './lib/transport/elicitation.ts'
export type { Era } from './lib/transport/era.ts'
export { openChannel } from './lib/transport/open-channel.ts'
export {
  type ChannelOptions,
  type CommandTarget,
  type HttpTarget,
  parseMcpServers,
  type Target,
} from './lib/transport/target.ts'
