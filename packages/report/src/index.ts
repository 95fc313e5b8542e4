export { wilson } from './lib/fold/clustered-rate.ts'
export { DIFFICULTY_BINS, difficultyBinOf } from './lib/fold/difficulty.ts'
export {
  areConflicting,
  comparePreference,
  compareWords,
  IDENTITY_WORDS,
  identityOf,
  type SealedLine,
} from './lib/fold/episode-identity.ts'
export { createEpisodeSample, SAMPLE_SIZES, type SampledEpisode } from './lib/fold/episode-sample.ts'
export { exactSum } from './lib/fold/exact-sum.ts'
export { createFold } from './lib/fold/fold.ts'
export { niceStep, roundTo } from './lib/fold/histogram.ts'
export { createLatencyHistogram, type LatencyHistogram } from './lib/fold/latency-histogram.ts'
export { createMatchFold } from './lib/fold/match-fold.ts'
export { describeRules, isSuccess, ruleOf, type SuccessRule, scoredOutcomeOf } from './lib/fold/scored-outcome.ts'
export {
  groupOf,
  type ShownEpisode,
  type ShownOutcome,
  type ShownStep,
  scriptJson,
  showEpisode,
} from './lib/fold/shown-episode.ts'
export { clusteredMean, quantile } from './lib/fold/statistics.ts'
export {
  type Distribution,
  type Estimate,
  estimateSchema,
  guaranteesSchema,
  type Histogram,
  type Proportion,
  type ReportedRun,
  type Summary,
  summarySchema,
} from './lib/fold/summary.ts'
export type { ShownLeaf, ShownTree } from './lib/fold/tree-sample.ts'
export { lanesOf } from './lib/seats/lanes.ts'
export { hasStarted, seatRecordOf, seatRecordsOf } from './lib/seats/seat-record.ts'
export {
  cleanText,
  formatCount,
  formatDuration,
  formatInterval,
  formatNumber,
  formatPercent,
  formatShareInterval,
  formatTick,
  NOTHING,
  plural,
  wrapText,
} from './lib/text/format.ts'
