// What the author of an environment needs, from one package. Each name is documented where it is defined.
export { defineTasks, generateTasks, type TaskContext, type TaskDraft } from '@episodic/dataset'
export {
  connect,
  definePolicy,
  type Environment,
  type Episode,
  type Policy,
  randomPolicy,
  runEpisode,
  withLimits,
  withShaping,
  withWeights,
} from '@episodic/env'
export { defineAgent, defineGrader, judgeGrader } from '@episodic/harness'
export { createHost, defineEnvironment, type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
