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
export { type Agent, type AgentAnswer, type Assignment, defineAgent } from './lib/agents/agent.ts'
export type { CheckName, CheckReport } from './lib/check/check-report.ts'
export { AGENT_ENDPOINTS, checkWorld } from './lib/check/check-world.ts'
export type { AgentEndpoint, EndpointSession, OpenEndpoint } from './lib/check/endpoints/agent-endpoint.ts'
export { defineGolden, type Golden } from './lib/define-golden.ts'
export { type JudgeDefinition, judgeGrader } from './lib/grade/judge-grader.ts'
export { HarnessError, type HarnessErrorCode } from './lib/harness-error.ts'
export { main } from './lib/main.ts'
export { formatSummary } from './lib/report/page/format-summary.ts'
export { renderReport } from './lib/report/page/render-report.ts'
export { planOf } from './lib/run/plan/plan.ts'
export { runEpisodes } from './lib/run/play/run-episodes.ts'
export { lockRun } from './lib/run/record/run-lock.ts'
export { sealEpisode } from './lib/run/record/seal-episode.ts'
export { readSealed, SealedFile } from './lib/run/record/sealed-file.ts'
export { withDelay } from './lib/with-delay.ts'
export { loadWorld, type World } from './lib/world.ts'
