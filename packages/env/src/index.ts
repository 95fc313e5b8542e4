export { type ConnectionOptions, connect, openConnection } from './lib/connect.ts'
export type { Connection } from './lib/connection.ts'
export { EnvError, type EnvErrorCode } from './lib/env-error.ts'
export type { CallOptions, Environment, Playable, ResetOptions, Start } from './lib/environment.ts'
export {
  defineForeignEnvironment,
  type ForeignDefinition,
  type ForeignEnvironment,
  type ForeignOpening,
  type ForeignSetting,
  type ForeignTransition,
} from './lib/foreign-environment.ts'
export type { ForeignServer } from './lib/foreign-server.ts'
export { openChannel } from './lib/open-channel.ts'
export { definePolicy, type Player, type PlayerView, type Policy, type PolicyContext } from './lib/policy.ts'
export { randomPolicy } from './lib/random-policy.ts'
export { returnsOf } from './lib/returns.ts'
export { type Episode, type EpisodeOptions, type PlayedStep, runEpisode } from './lib/run-episode.ts'
export { sampleJson } from './lib/sample-json.ts'
export { scriptedPolicy } from './lib/scripted-policy.ts'
export { type ChannelOptions, type CommandTarget, type HttpTarget, parseMcpServers, type Target } from './lib/target.ts'
export { createVectorEnvironment, type Settled, type VectorEnvironment } from './lib/vector-environment.ts'
export { withLimits } from './lib/with-limits.ts'
export { type Recorded, withRecording } from './lib/with-recording.ts'
export type { RetryOptions } from './lib/with-retries.ts'
export { withShaping } from './lib/with-shaping.ts'
export { withWeights } from './lib/with-weights.ts'
