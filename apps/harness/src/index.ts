export { type Agent, type Assignment, defineAgent } from './lib/agents/agent.ts'
export type { AgentDoor, Conversation, OpenDoor } from './lib/check/agent-door.ts'
export { AGENT_DOORS } from './lib/check/agent-doors.ts'
export {
  CHECKS,
  type CheckName,
  type CheckReport,
  type CheckResult,
  type Difference,
  type Finding,
} from './lib/check/check-report.ts'
export { type CheckOptions, checkWorld } from './lib/check/check-world.ts'
export type { CheckedWorld } from './lib/check/subject.ts'
export { type ComparedRun, compareRuns } from './lib/compare/compare-runs.ts'
export { type Comparison, comparisonSchema } from './lib/compare/comparison.ts'
export { formatComparison } from './lib/compare/format-comparison.ts'
export { readComparedRun } from './lib/compare/read-compared-run.ts'
export { defineGolden, type Golden, type GoldenPlayer, type GoldenPlays } from './lib/define-golden.ts'
export { HarnessError, type HarnessErrorCode } from './lib/harness-error.ts'
export { main } from './lib/main.ts'
export { createEpisodeSample, type EpisodeSample } from './lib/report/episode-sample.ts'
export { createFold, type Fold } from './lib/report/fold.ts'
export { formatSummary } from './lib/report/format-summary.ts'
export { renderReport } from './lib/report/render-report.ts'
export type { ReportedRun } from './lib/report/reported-run.ts'
export { type Summary, summarySchema } from './lib/report/summary.ts'
export { type PlannedEpisode, planOf } from './lib/run/plan.ts'
export { type PlayOptions, playEpisodes } from './lib/run/play-episodes.ts'
export { lockRun } from './lib/run/run-lock.ts'
export { sealEpisode } from './lib/run/seal-episode.ts'
export { readSealed, SealedFile } from './lib/run/sealed-file.ts'
export { withDelay } from './lib/with-delay.ts'
export { loadWorld, type World } from './lib/world.ts'
