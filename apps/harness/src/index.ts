export { type JudgeDefinition, judgeGrader } from '@episodic/analysis/grade/judge-grader'
export type { CheckName, CheckReport } from '@episodic/check/check-report'
export { AGENT_ENDPOINTS, checkWorld } from '@episodic/check/check-world'
export type { AgentEndpoint, EndpointSession } from '@episodic/check/endpoints/agent-endpoint'
export { renderReport } from '@episodic/pages/file/render-report'
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
export { HarnessError } from '@episodic/runs/base/harness-error'
export { lockRun } from '@episodic/runs/folder/record/run-lock'
export { readSealed, SealedFile } from '@episodic/runs/folder/record/sealed-file'
export { formatSummary } from '@episodic/runs/folder/text/format-summary'
export { main } from './lib/commands/main.ts'
export { runEpisodes } from './lib/play/episodes/run-episodes.ts'
export { planEpisodes } from './lib/play/plan/plan.ts'
export { sealEpisode } from './lib/play/record/seal-episode.ts'
export { type Agent, type AgentAnswer, type Assignment, defineAgent } from './lib/worlds/agents/agent.ts'
export { defineGolden, type Golden } from './lib/worlds/define-golden.ts'
export { withDelay } from './lib/worlds/with-delay.ts'
export { loadWorld, type World } from './lib/worlds/world.ts'
