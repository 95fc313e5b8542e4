import type { SealedRecord } from '@episodic/protocol'
import type { GradeRecord } from '@episodic/report/grades/grade-record'
import type { GradeSummary } from '@episodic/report/grades/grade-summary'
import type { ColumnName, EpisodeColumns } from '@episodic/report/rows/columns'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import type { AskToPlay } from '@episodic/report/view/continuations'
import type {
  FollowedEpisode,
  RowWords,
  RunDetail,
  RunEntry,
  RunListing,
  TaskRows,
} from '@episodic/report/view/run-entry'
import type { SearchField, SearchHit, SearchProgress } from '@episodic/report/view/search-hit'
import type { EpisodeStates } from '@episodic/report/view/state-changes'

export interface SearchQuery {
  readonly text: string
  readonly runs?: readonly string[] | undefined
  readonly fields?: readonly SearchField[] | undefined
  /** Only the first place in each row, but in every row. Default: the first 500 places. */
  readonly firstOfRow?: boolean | undefined
}

/** Where the pages get their data. Each method rejects with a {@link SourceError} for what is not there. */
export interface Source {
  /** What this source can do; screens say so where it cannot. */
  readonly can: { readonly states: boolean; readonly grade: boolean; readonly watch: boolean }
  readonly withheld: readonly string[]
  /** Continues episodes; left out where nothing is played. */
  readonly play?: AskToPlay
  /** Newest first, running ones before others. */
  runs(): Promise<readonly RunEntry[]>
  run(run: string): Promise<RunDetail>
  /** A part of {@link Source.run} that is there sooner: no summary has to be computed for it. */
  listing(run: string): Promise<RunListing>
  columns(run: string, names: readonly ColumnName[]): Promise<EpisodeColumns>
  /** At most 200 rows. */
  words(run: string, rows: readonly number[]): Promise<readonly RowWords[]>
  /** The tasks whose ids begin with a prefix, at most 20. */
  tasks(run: string, prefix: string): Promise<readonly TaskRows[]>
  /** An episode that is being played, as far as it has come; `null` if it is not played now. */
  playing(run: string, task: string, attempt: number): Promise<FollowedEpisode | null>
  line(run: string, row: number): Promise<{ readonly record: SealedRecord; readonly text: string }>
  states(run: string, row: number): Promise<EpisodeStates>
  search(query: SearchQuery, signal: AbortSignal): AsyncIterable<SearchHit | SearchProgress>
  compare(runs: readonly string[], baseline: string): Promise<ComparedRuns>
  grades(run: string): Promise<readonly GradeRecord[]>
  gradeSummary(run: string): Promise<GradeSummary>
  grade(run: string, grade: GradeRecord): Promise<void>
  /** Verdicts that were given in this browser and are kept in it alone; none if they are kept beside the run. */
  ownGrades(run: string): Promise<readonly GradeRecord[]>
  /** Calls the listener with a run that has changed, `null` if any may have. Returns what ends it. */
  watch(listener: (run: string | null) => void): () => void
}

export class SourceError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'SourceError'
    this.code = code
  }
}

export function asSourceError(error: unknown): SourceError {
  return error instanceof SourceError ? error : new SourceError('failed', (error as Error).message)
}
