// What the author of an environment needs, from one package. Each name is documented where it is defined.
export { conversationEnvironment, defineConversation } from '@episodic/contexts'
export { defineTasks, generateTasks, type TaskContext, type TaskDraft } from '@episodic/dataset'
export {
  connect,
  definePolicy,
  type Environment,
  type Episode,
  PlayerStop,
  type Policy,
  randomPolicy,
  runEpisode,
  runMatch,
  scriptedPolicy,
  withLimits,
  withShaping,
  withWeights,
} from '@episodic/env'
export { checkWorld, continueEpisode, defineAgent, defineGolden, defineGrader, judgeGrader } from '@episodic/harness'
export {
  createHost,
  defineEnvironment,
  defineGame,
  type EnvironmentDefinition,
  inProcess,
  rehearse,
} from '@episodic/mcp-server'
export { defineMcpEnvironment } from '@episodic/mcp-worlds'
