import type { EpisodeColumns, GradeSummary, RunDetail, TaskFigures } from '@episodic/report'
import {
  formatCount,
  HIGHLIGHT_COLUMNS,
  TASK_COLUMNS,
  TIME_COLUMNS,
  taskFigures,
  VERSION_COLUMNS,
} from '@episodic/report'
import { useMemo } from 'preact/hooks'
import { DownloadVerdicts } from '../label/download-verdicts.tsx'
import { LoadingNote } from '../parts/notes.tsx'
import { formatRoute, RUN_TABS, type RunTab } from '../route/route.ts'
import { Account } from './account.tsx'
import { Branches } from './branches.tsx'
import { Configuration } from './configuration.tsx'
import { Curriculum } from './curriculum.tsx'
import { Failures } from './failures.tsx'
import { Grades } from './grades.tsx'
import { Headline } from './headline.tsx'
import { HighlightList } from './highlight-list.tsx'
import { InFlight } from './in-flight.tsx'
import { Methods } from './methods.tsx'
import { Rewards } from './rewards.tsx'
import { RunHeader } from './run-header.tsx'
import { Scores } from './scores.tsx'
import { Seats } from './seats.tsx'
import { StopNote } from './stop-note.tsx'
import { Tasks } from './tasks.tsx'
import { Times } from './times.tsx'
import { Versions } from './versions.tsx'

/** The columns that the figures of a run need. */
export const RUN_COLUMNS = [
  ...new Set([
    ...HIGHLIGHT_COLUMNS,
    ...TASK_COLUMNS,
    ...TIME_COLUMNS,
    ...VERSION_COLUMNS,
    'ending' as const,
    'try' as const,
  ]),
]

const NO_TASKS: readonly TaskFigures[] = []

interface RunFiguresProps {
  readonly detail: RunDetail
  /** With {@link RUN_COLUMNS}; `null` until they are there. */
  readonly columns: EpisodeColumns | null
  /** `null` until they are there. */
  readonly grades: GradeSummary | null
  readonly tab: RunTab | 'all'
}

/** All figures of a run: those of one tab, or of all of them, as on paper. */
export function RunFigures({ detail, columns, grades, tab }: RunFiguresProps) {
  const { entry, summary } = detail
  const tasks = useMemo(() => (columns ? taskFigures(columns) : NO_TASKS), [columns])
  const { finished, failed } = summary.counts
  const isEmpty = !detail.complete && finished + failed === 0
  const isGraded = (grades?.graders.length ?? 0) > 0
  const shows = (name: RunTab) =>
    (!isEmpty && tab === name) || (tab === 'all' && name !== 'tasks' && (name !== 'grades' || isGraded))
  return (
    <div class="run">
      <RunHeader detail={detail} />
      <StopNote detail={detail} />
      {isEmpty ? (
        <LoadingNote>The sealed episodes are being counted. Their list can be read meanwhile.</LoadingNote>
      ) : (
        <>
          <Headline summary={summary} columns={columns} />
          <Account summary={summary} />
        </>
      )}
      {columns && !isEmpty && tab !== 'all' && (
        <HighlightList run={entry.id} summary={summary} columns={columns} grades={grades} />
      )}
      {tab !== 'all' && <Tabs detail={detail} grades={grades} tab={tab} />}
      {tab === 'overview' && <InFlight run={detail.entry.id} inFlight={detail.inFlight} />}
      {shows('overview') && (
        <>
          <Seats summary={summary} />
          <Scores summary={summary} />
          <Curriculum summary={summary} />
          {columns && <Versions run={entry.id} columns={columns} />}
          <Branches summary={summary} />
        </>
      )}
      {shows('tasks') && <Tasks run={entry.id} tasks={tasks} />}
      {shows('rewards') && <Rewards summary={summary} />}
      {shows('time') && <Times summary={summary} columns={columns} />}
      {shows('failures') && <Failures summary={summary} run={entry.id} />}
      {shows('grades') &&
        (grades ? (
          <Grades run={tab === 'all' ? null : entry.id} summary={grades} columns={columns} />
        ) : (
          <LoadingNote />
        ))}
      {shows('grades') && <DownloadVerdicts run={entry.id} />}
      {shows('configuration') && <Configuration detail={detail} />}
      <Methods summary={summary} />
    </div>
  )
}

const NAMES: { readonly [tab in RunTab]: string } = {
  overview: 'Overview',
  tasks: 'Tasks',
  rewards: 'Rewards',
  time: 'Time and cost',
  failures: 'Failures',
  grades: 'Grades',
  configuration: 'Configuration',
}

interface TabsProps {
  readonly detail: RunDetail
  readonly grades: GradeSummary | null
  readonly tab: RunTab
}

/** The tabs are links: each has an address of its own. */
function Tabs({ detail: { entry, summary, rows }, grades, tab }: TabsProps) {
  const counts: { readonly [tab in RunTab]?: number } = {
    tasks: summary.counts.tasks,
    failures: summary.counts.failed,
    grades: grades?.graders.reduce((sum, { graded, ungraded }) => sum + graded + ungraded, 0) ?? 0,
  }
  const [first, ...others] = RUN_TABS
  const link = (name: RunTab) => (
    <a
      key={name}
      href={formatRoute({ screen: 'run', run: entry.id, tab: name })}
      aria-current={name === tab ? 'page' : undefined}
    >
      {NAMES[name]}
      {counts[name] ? <span class="count"> {formatCount(counts[name])}</span> : null}
    </a>
  )
  return (
    <nav class="tabs" aria-label="Figures of the run">
      {link(first)}
      <a href={formatRoute({ screen: 'episodes', run: entry.id, query: '', sort: '' })}>
        Episodes<span class="count"> {formatCount(rows)}</span>
      </a>
      {others.map(link)}
    </nav>
  )
}
