export {
  type Comparison,
  comparisonSchema,
  type Flip,
  type PairedFigure,
} from './lib/compare/comparison.ts'
export { type Contrasts, contrastsSchema, type Factors } from './lib/compare/contrasts.ts'
export { detectableDifference, fewestTasks, leastAdjustedP } from './lib/compare/shown-differences.ts'
export { SIGNIFICANCE } from './lib/compare/significance.ts'
export { createRate, wilson } from './lib/fold/clustered-rate.ts'
export { completionsOf, countUnpriced, isAnswered, isCounted, ownCompletionsOf } from './lib/fold/completions.ts'
export {
  areConflicting,
  comparePreference,
  identityOf,
  type SealedLine,
} from './lib/fold/episode-identity.ts'
export { OUTCOMES } from './lib/fold/episode-table.ts'
export { createExactSum, exactSum } from './lib/fold/exact-sum.ts'
export { createFold } from './lib/fold/fold.ts'
export { niceStep, roundTo } from './lib/fold/histogram.ts'
export { createLatencyHistogram, type LatencyHistogram } from './lib/fold/latency-histogram.ts'
export { createMatchFold } from './lib/fold/match-fold.ts'
export { computeStaleness, type PolicyVersions, policyVersionsOf } from './lib/fold/policy-versions.ts'
export {
  formatRules,
  groupOf,
  isDefaultSuccess,
  isSuccess,
  ruleOf,
  type ShownOutcome,
  type SuccessRule,
  scoredOutcomeOf,
} from './lib/fold/scored-outcome.ts'
export { createSequentialRate, type RateVerdict } from './lib/fold/sequential-rate.ts'
export { clusteredMean, passAtK, passHatK, quantile } from './lib/fold/statistics.ts'
export {
  type Distribution,
  type Estimate,
  estimateSchema,
  guaranteesSchema,
  type Histogram,
  type Latency,
  type Proportion,
  type ReportedRun,
  type StepParts,
  type Summary,
  summarySchema,
} from './lib/fold/summary.ts'
export { DIFFICULTY_BINS, difficultyBinOf, SPLITS } from './lib/fold/task-groups.ts'
export { totalTokens } from './lib/fold/token-fold.ts'
export { linkCalls, type TokenCall, type TokenTree, treeOf } from './lib/fold/token-tree.ts'
export type { ShownLeaf, ShownTree } from './lib/fold/tree-sample.ts'
export { type VoidBounds, voidBounds } from './lib/fold/void-bounds.ts'
export type { AgreementFigure, EpisodeName } from './lib/grades/agreement.ts'
export { disagreements } from './lib/grades/disagreements.ts'
export { checkEvidence } from './lib/grades/evidence.ts'
export { createGradableLines, type GradableLine, sealNameOf } from './lib/grades/gradable-lines.ts'
export { foldGrades, graderKeyOf, type Judgement } from './lib/grades/grade-fold.ts'
export { type GradeRecord, type GraderRef, type GradeValue, gradeRecordSchema } from './lib/grades/grade-record.ts'
export {
  type GradedValues,
  type GraderAgreement,
  type GraderFigures,
  type GradeSummary,
  summarizeGrades,
} from './lib/grades/grade-summary.ts'
export { createGradeTable, type GradeTable, toPlayKey } from './lib/grades/grade-table.ts'
export { type GradedParts, type GradedState, gradedEpisodeOf } from './lib/grades/graded-episode.ts'
export {
  defineGrader,
  findVerdictProblem,
  type Grader,
  type GraderContext,
  type GraderScale,
  graderRefOf,
  isGrader,
  type Verdict,
  wordsOf,
} from './lib/grades/grader.ts'
export { graderNames } from './lib/grades/grader-names.ts'
export {
  AFTER_RUBRIC,
  BEFORE_RUBRIC,
  findJudgeQuestions,
  type JudgeQuestion,
} from './lib/grades/judge-question.ts'
export { type LabelQuestion, labelQueue, personRef, personVerdictOf } from './lib/grades/labels.ts'
export { type SharedGrade, sharedGrades, type TaskGrades, taskGradesOf } from './lib/grades/task-grades.ts'
export { type ActionNode, actionTree } from './lib/group/action-tree.ts'
export { advantagesOf, type GroupReturns } from './lib/group/advantages.ts'
export { createForkReturns, type ForkAdvantage, type ForkReturns } from './lib/group/fork-advantages.ts'
export { sequenceFields, traceOf } from './lib/group/token-fields.ts'
export {
  aloneIn,
  DETECTABLE_NOTE,
  type FigureRow,
  figureRows,
  INTERVAL_NOTE,
  methodOf,
  notePrompts,
  otherDifferences,
  UNSEEDED,
  verdictOf,
} from './lib/notes/comparison-notes.ts'
export {
  bySuccess,
  contrastRows,
  EFFECT_HEAD,
  EFFECT_NOTE,
  effectCells,
  factorCells,
  methodOfContrasts,
  noteContrasts,
  RUN_HEAD,
  runCells,
} from './lib/notes/contrast-notes.ts'
export { contrastsToCsv, contrastsToLatex, toCsvText } from './lib/notes/contrast-tables.ts'
export { noteFewTasks, notePlannedTasks } from './lib/notes/few-tasks.ts'
export { formatPoints, formatSigned } from './lib/notes/figure-notes.ts'
export {
  formatIntervals,
  formatLatency,
  formatRefused,
  formatRetried,
  formatStepParts,
  formatTreeValue,
  formatWaiting,
  isShaped,
  listPlayers,
  noteFailures,
  noteGuarantees,
  noteInterval,
  noteMissingRewards,
  noteNeverEnded,
  noteUnknownTools,
} from './lib/notes/run-notes.ts'
export { noteVoids, shortBounds, shortVoids, VOIDS_LEGEND, voidsOf } from './lib/notes/void-notes.ts'
export {
  type CompiledQuery,
  compileQuery,
  needsOf,
  type QueryLookups,
  type QueryNeeds,
} from './lib/query/compile-query.ts'
export {
  formatQuery,
  parseQuery,
  type Query,
  type QueryOperator,
  type QueryProblem,
  type QuerySpan,
  type QueryTerm,
} from './lib/query/parse-query.ts'
export { fieldOf, isResult, QUERY_FIELDS, RESULTS, type Result, resultOf } from './lib/query/query-fields.ts'
export type {
  Column,
  ColumnName,
  Dictionaries,
  EpisodeColumns,
} from './lib/rows/columns.ts'
export { decodeColumns, encodeColumns } from './lib/rows/columns-codec.ts'
export { findHighlights, HIGHLIGHT_COLUMNS, type Highlight, type HighlightReason } from './lib/rows/highlights.ts'
export { type Row, rowOf } from './lib/rows/row.ts'
export { createRowBatch, type RowBatch, type UnpackedRows, unpackRows } from './lib/rows/row-batch.ts'
export type { LinePlace } from './lib/rows/row-columns.ts'
export { FIGURE_COLUMNS, type RowFigures, rowFigures } from './lib/rows/row-figures.ts'
export { sampleRows } from './lib/rows/row-sample.ts'
export { contentOf, createRowTable, type RowTable, type RowTableOptions } from './lib/rows/row-table.ts'
export { rowTimes, TIME_COLUMNS } from './lib/rows/row-times.ts'
export { sealedShape } from './lib/rows/sealed-shape.ts'
export { TASK_COLUMNS, type TaskFigures, taskFigures } from './lib/rows/task-figures.ts'
export { VERSION_COLUMNS, versionFigures } from './lib/rows/version-figures.ts'
export { type FoundText, findInRecord } from './lib/search/find-in-record.ts'
export { hasStarted, seatRecordOf, seatRecordsOf } from './lib/seats/seat-record.ts'
export { type ShownRecord, toShownRecord } from './lib/seats/shown-record.ts'
export {
  CURRENCY,
  cleanText,
  formatCost,
  formatCount,
  formatDuration,
  formatInterval,
  formatKnownCost,
  formatNumber,
  formatPercent,
  formatShareInterval,
  formatTick,
  NOTHING,
  noteUnpriced,
  plural,
  wrapText,
} from './lib/text/format.ts'
export { applyChanges, keysOf } from './lib/view/apply-changes.ts'
export { changesBetween } from './lib/view/changes-between.ts'
export type { ComparedRuns, ComparedTask } from './lib/view/compared-runs.ts'
export type { EmbeddedRun, EmbeddedRuns } from './lib/view/embedded-runs.ts'
export type { IntervalInRange, JudgedText, ResultCard, ResultCell, ResultPage } from './lib/view/result-page.ts'
export { rowWords } from './lib/view/row-words.ts'
export type {
  EpisodeInFlight,
  FollowedEpisode,
  RowWords,
  RunDetail,
  RunEntry,
  RunListing,
  RunStop,
  TaskRows,
} from './lib/view/run-entry.ts'
export type { SearchField, SearchHit, SearchProgress } from './lib/view/search-hit.ts'
export type { EpisodeStates, StateChange, StepChanges } from './lib/view/state-changes.ts'
export { WITHHELD_PARTS, type WithheldPart, withheldIn } from './lib/view/withheld.ts'
