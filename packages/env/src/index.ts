export { type Authorization, type AuthorizationOptions, createAuthorization } from './lib/authorization.ts'
export { type ConnectionOptions, connect, openConnection } from './lib/connect.ts'
export type { Connection } from './lib/connection.ts'
export type { Elicit, Elicitation, Elicited } from './lib/elicitation.ts'
export { EnvError, type EnvErrorCode } from './lib/env-error.ts'
export {
  type CallOptions,
  delegate,
  type Environment,
  type Fork,
  type ForkOptions,
  type Happening,
  type Playable,
  type ResetOptions,
  type SnapshotOptions,
  type Start,
} from './lib/environment.ts'
export type { Episode, EpisodeOptions, PlayedStep } from './lib/episode.ts'
export type { Era } from './lib/era.ts'
export {
  defineForeignEnvironment,
  type ForeignDefinition,
  type ForeignEnvironment,
  type ForeignOpening,
  type ForeignSetting,
  type ForeignTransition,
} from './lib/foreign-environment.ts'
export type { ForeignServer } from './lib/foreign-server.ts'
export { keepingSessions } from './lib/keeping-sessions.ts'
export { openChannel } from './lib/open-channel.ts'
export {
  definePolicy,
  type EarlierStep,
  type Player,
  type PlayerView,
  type Policy,
  type PolicyContext,
  type PolicyDefinition,
} from './lib/policy.ts'
export { randomPolicy } from './lib/random-policy.ts'
export { returnsOf } from './lib/returns.ts'
export { runEpisode } from './lib/run-episode.ts'
export { type BranchPoint, type Leaf, type LeafPlace, runTree, type TreeOptions } from './lib/run-tree.ts'
export { sampleJson } from './lib/sample-json.ts'
export { scriptedPolicy } from './lib/scripted-policy.ts'
export { type ChannelOptions, type CommandTarget, type HttpTarget, parseMcpServers, type Target } from './lib/target.ts'
export { createVectorEnvironment, type Settled, type VectorEnvironment } from './lib/vector-environment.ts'
export type { WatchedEnvironment, WatchOptions } from './lib/watched-environment.ts'
export { withLimits } from './lib/with-limits.ts'
export { type Recorded, withRecording } from './lib/with-recording.ts'
export type { RetryOptions } from './lib/with-retries.ts'
export { withShaping } from './lib/with-shaping.ts'
export { withWeights } from './lib/with-weights.ts'
