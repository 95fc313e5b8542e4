import { formatRules } from '@episodic/report/fold/scored-outcome'
import type { Summary } from '@episodic/report/fold/summary'
import type { GradeSummary } from '@episodic/report/grades/grade-summary'
import { shortBounds } from '@episodic/report/notes/void-notes'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { HIGHLIGHT_COLUMNS } from '@episodic/report/rows/highlights'
import { TASK_COLUMNS, type TaskFigures, taskFigures } from '@episodic/report/rows/task-figures'
import { VERSION_COLUMNS } from '@episodic/report/rows/version-figures'
import { formatCount, formatPercent, NOTHING, plural } from '@episodic/report/text/format'
import type { RunDetail } from '@episodic/report/view/run-entry'
import { useMemo } from 'preact/hooks'
import { DownloadVerdicts } from '../label/download-verdicts.tsx'
import { Card, Section } from '../parts/card.tsx'
import { CommandLine } from '../parts/copy.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { Meter } from '../parts/meter.tsx'
import { LoadingNote } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { formatRoute, RUN_TABS, type RunTab } from '../route/route.ts'
import { Account } from './account.tsx'
import { Branches } from './branches.tsx'
import { Configuration } from './configuration.tsx'
import { Failures } from './failures.tsx'
import { Grades } from './grades.tsx'
import { Headline } from './headline.tsx'
import { HighlightList } from './highlight-list.tsx'
import { InFlight } from './in-flight.tsx'
import { Rewards } from './rewards.tsx'
import { RunHeader } from './run-header.tsx'
import { Scores } from './scores.tsx'
import { Seats } from './seats.tsx'
import { Tasks } from './tasks.tsx'
import { Times } from './times.tsx'
import { Versions } from './versions.tsx'

export const RUN_COLUMNS = [
  ...new Set([...HIGHLIGHT_COLUMNS, ...TASK_COLUMNS, ...VERSION_COLUMNS, 'ending' as const, 'try' as const]),
]

const NO_TASKS: readonly TaskFigures[] = []

interface RunFiguresProps {
  readonly detail: RunDetail
  /** With {@link RUN_COLUMNS}; `null` until they are there. */
  readonly columns: EpisodeColumns | null
  readonly grades: GradeSummary | null
  readonly tab: RunTab | 'all'
}

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
          <Headline summary={summary} report={detail.commands.report} />
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
      {shows('time') && <Times summary={summary} />}
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
      {counts[name] ? <span class="muted small"> {formatCount(counts[name])}</span> : null}
    </a>
  )
  return (
    <nav class="tabs flow" aria-label="Figures of the run">
      {link(first)}
      <a href={formatRoute({ screen: 'episodes', run: entry.id, query: '', sort: '' })}>
        Episodes<span class="muted small"> {formatCount(rows)}</span>
      </a>
      {others.map(link)}
    </nav>
  )
}

function Curriculum({ summary: { curriculum } }: { readonly summary: Summary }) {
  if (!curriculum) return null
  return (
    <Section title="Curriculum">
      <Card
        title="Success and difficulty by draw"
        caption="Of the tasks that were drawn, in the order of the draws. Only the first play of an episode counts, as in the curriculum itself."
        empty=""
        wide
      >
        <FiguresTable
          head={['Draws', 'Stage', '', 'Success', 'Succeeded', 'Episodes', 'With failed', 'Tasks', 'Difficulty']}
          texts={3}
          rows={curriculum.map(({ from, to, stage, tasks, difficulty, successes, count, rate, failed }) => [
            `${formatCount(from)} to ${formatCount(to - 1)}`,
            plain(stage ?? NOTHING),
            <Meter share={rate ?? 0} kind="good" />,
            formatPercent(rate),
            formatCount(successes),
            formatCount(count),
            failed > 0 ? shortBounds({ successes, count, failed }) : '',
            formatCount(tasks),
            difficulty.toFixed(2),
          ])}
        />
      </Card>
    </Section>
  )
}

function Methods({ summary: { counts, branch, success } }: { readonly summary: Summary }) {
  const notes = [
    `Success is ${formatRules(success.rules)}. A failed episode has no score.`,
    'Intervals are 95 %, with the attempts of one task as one cluster, because they are not independent of each other. Those of means use cluster-robust standard errors (Liang & Zeger 1986; Miller 2024) and Student’s t with one degree of freedom less than tasks. Those of shares are Wilson’s (1927) at the effective sample size (Korn & Graubard 1998), which with one attempt per task is the number of episodes. pass@k is the unbiased estimate of Chen et al. (2021), averaged over tasks, and pass^k that of all k succeeding. There is no interval for a single task, nor for a mean on which all tasks agree.',
    'Unshaped return is the weighted sum of the reward terms. Shaped return adds γΦ(s′) − Φ(s) at each step, which does not change the optimal policy (Ng, Harada & Russell 1999).',
    'All figures are a fold over sealed episodes: neither their order nor repeated lines change them.',
    ...(branch
      ? [
          'Each rollout was forked: its leaves share steps, and the figures of steps count a shared step once for each leaf. A line that ended before it could branch counts for all of its leaves. The leaves of a rollout are not independent attempts, so pass@k has only k = 1.',
          'The value V̂ of a state is a Monte Carlo estimate (Sutton & Barto 2018, section 5.1): the mean of the discounted, unshaped return from there on, over lines with independent random draws in world and policy. It is the value of the full state under this policy, private part included. With few lines, the interval by Student’s t is only as good as a normal approximation.',
        ]
      : []),
    ...(counts.conflicts > 0
      ? [
          `${plural(counts.conflicts, 'sealed line')} conflicted with another line of the same episode. One line per episode counts; rewards by step and by term and step latencies include all of them.`,
        ]
      : []),
  ]
  return (
    <details class="methods">
      <summary>How these figures are computed</summary>
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </details>
  )
}

function StopNote({ detail: { entry, commands } }: { readonly detail: Pick<RunDetail, 'entry' | 'commands'> }) {
  const { state, stopped } = entry
  if (state !== 'stopped' || (!stopped && !commands.resume)) return null
  return (
    <section class="callout" aria-label="Why the run stopped">
      {stopped && (
        <p>
          {plain(stopped.message)} <code>{stopped.code}</code>
        </p>
      )}
      {commands.resume && (
        <>
          <p class="muted">To play the episodes that are left:</p>
          <CommandLine command={commands.resume} />
        </>
      )}
    </section>
  )
}
