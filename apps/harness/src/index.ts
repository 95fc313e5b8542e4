export {
  createFold,
  defineGrader,
  type GradableLine,
  type GradeRecord,
  labelQueue,
  personRef,
  personVerdictOf,
  type Summary,
  summarySchema,
} from '@episodic/report'
export { HarnessError } from './lib/base/harness-error.ts'
export type { CheckName, CheckReport } from './lib/check/check-report.ts'
export { AGENT_ENDPOINTS, checkWorld } from './lib/check/check-world.ts'
export type { AgentEndpoint, EndpointSession } from './lib/check/endpoints/agent-endpoint.ts'
export { main } from './lib/commands/main.ts'
export { type JudgeDefinition, judgeGrader } from './lib/evaluate/grade/judge-grader.ts'
export { runEpisodes } from './lib/play/episodes/run-episodes.ts'
export { planEpisodes } from './lib/play/plan/plan.ts'
export { sealEpisode } from './lib/play/record/seal-episode.ts'
export { formatSummary } from './lib/run-folder/page/format-summary.ts'
export { renderReport } from './lib/run-folder/page/render-report.ts'
export { lockRun } from './lib/run-folder/record/run-lock.ts'
export { readSealed, SealedFile } from './lib/run-folder/record/sealed-file.ts'
export { type Agent, type AgentAnswer, type Assignment, defineAgent } from './lib/worlds/agents/agent.ts'
export { defineGolden, type Golden } from './lib/worlds/define-golden.ts'
export { withDelay } from './lib/worlds/with-delay.ts'
export { loadWorld, type World } from './lib/worlds/world.ts'
