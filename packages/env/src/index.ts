export type { CommandTarget, Elicitation, HttpTarget } from '@episodic/mcp-client'
export type { Target } from '@episodic/mcp-client/channel'
export { connect } from './lib/connect.ts'
export { EnvError } from './lib/env-error.ts'
export type { Connection, TaskSplit } from './lib/environment/connection.ts'
export { delegate, type Environment, type ResetResult } from './lib/environment/environment.ts'
export type { Episode, PlayedStep } from './lib/environment/episode.ts'
export { returnsOf } from './lib/environment/returns.ts'
export { runEpisode } from './lib/environment/run-episode.ts'
export { type BranchPoint, type Leaf, runTree } from './lib/environment/run-tree.ts'
export type { TypedEnvironment } from './lib/environment/typed-environment.ts'
export { withLimits } from './lib/environment/with-limits.ts'
export { withShaping } from './lib/environment/with-shaping.ts'
export { withWeights } from './lib/environment/with-weights.ts'
export type { Game } from './lib/game/game.ts'
export type { Match } from './lib/game/match.ts'
export type { OutsidePlayer } from './lib/game/outside-player.ts'
export { runMatch } from './lib/game/run-match.ts'
export { PlayerStop } from './lib/policy/player-stop.ts'
export {
  definePolicy,
  type EarlierStep,
  type ModelAnswer,
  type Player,
  type Policy,
  type PolicyContext,
} from './lib/policy/policy.ts'
export { randomPolicy } from './lib/policy/random-policy.ts'
export { sampleJson } from './lib/policy/sample-json.ts'
export { scriptedPolicy } from './lib/policy/scripted-policy.ts'
export { createRollouts } from './lib/rollouts.ts'
export type { EventInput, Playable } from './lib/session/call-options.ts'
export type { StepResult } from './lib/session/step-result.ts'
export { openChannel } from './lib/transport/open-channel.ts'
export { parseMcpServers } from './lib/transport/parse-mcp-servers.ts'
