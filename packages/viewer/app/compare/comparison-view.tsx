import type { Comparison, Flip } from '@episodic/report/compare/comparison'
import { formatRules } from '@episodic/report/fold/scored-outcome'
import type { FigureRow } from '@episodic/report/notes/comparison-notes'
import {
  aloneIn,
  DETECTABLE_NOTE,
  figureRows,
  INTERVAL_NOTE,
  methodOf,
  notePrompts,
  otherDifferences,
  UNSEEDED,
  verdictOf,
} from '@episodic/report/notes/comparison-notes'
import { formatPoints } from '@episodic/report/notes/figure-notes'
import { noteVoids } from '@episodic/report/notes/void-notes'
import { formatCount, formatNumber, plural } from '@episodic/report/text/format'
import { useState } from 'preact/hooks'
import { Card, Section } from '../parts/card.tsx'
import { FigureStrip } from '../parts/figure-strip.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { IntervalBar } from '../parts/interval-bar.tsx'
import { code, plain } from '../parts/plain-text.tsx'
import { TaskDifferencesPlot } from '../parts/plots/difference-plots.tsx'
import { FlipPair } from './flip-pair.tsx'

const NAMES: Readonly<Record<string, string>> = {
  success: 'Success, B − A',
  return: 'Return, B − A',
  steps: 'Steps, B − A',
  tokens: 'Tokens, B − A',
  cost: 'Cost, B − A',
}

const isGrade = ({ name }: FigureRow) => name.startsWith('grade ')
const NONE = 'No task has a finished episode in both runs.'

interface ComparisonViewProps {
  readonly comparison: Comparison
  /** The ids of A and B; `null` on paper, where no episode opens. */
  readonly runs: readonly [string, string] | null
}

export function ComparisonView({ comparison, runs }: ComparisonViewProps) {
  const { a, b, tasks, return: returned, byTask, byDifficulty, episodes } = comparison
  const rows = figureRows(comparison)
  const figures = rows.filter(({ name }) => name in NAMES)
  const [grades, statistics] = [rows.filter(isGrade), rows.filter((row) => !isGrade(row))]
  const warnings = [
    ...otherDifferences(comparison).map((row) => `${row.key} also differs: ${row.a} in A, ${row.b} in B.`),
    notePrompts(tasks),
    aloneIn('A', tasks.onlyA),
    aloneIn('B', tasks.onlyB),
    ...noteVoids(a).map((note) => `A: ${note}`),
    ...noteVoids(b).map((note) => `B: ${note}`),
  ].filter((line) => line !== null)
  return (
    <>
      <p class="muted">
        {plain(comparison.environment)} · A is {plain(`${a.name} (${a.policy})`)} · B is{' '}
        {plain(`${b.name} (${b.policy})`)} · {plural(tasks.shared, 'task')} in both
      </p>
      <p class="verdict">{verdictOf(comparison)}</p>
      {warnings.map((line) => (
        <p key={line} class="warning callout">
          {plain(line)}
        </p>
      ))}
      <FigureStrip
        figures={figures.map(({ name, difference, interval }) => ({
          name: NAMES[name] ?? name,
          value: difference,
          notes: [interval.includes(' to ') ? `95 % ${interval}` : interval],
        }))}
      />
      <p class="caption">{methodOf(comparison)}</p>
      <Section title="Difference">
        <Card
          title="Difference in return by task"
          caption="One bar per task: positive if B earned more. The band is the 95 % interval of the mean."
          empty={NONE}
          wide
        >
          {returned && byTask.length > 0 && (
            <TaskDifferencesPlot byTask={byTask} returned={returned} compared={tasks.compared} />
          )}
        </Card>
        <Card
          title="Statistics"
          caption="Means over tasks. B is what the sign-flip test of the means shows."
          empty={NONE}
          wide
        >
          {statistics.length > 0 && (
            <FiguresTable
              head={['Figure', 'A', 'B', 'B − A', '95 %', 'B is', 'Tasks in which B is', 'Tests', 'Detectable']}
              rows={statistics.map((row) => cellsOf(row))}
            />
          )}
        </Card>
        <Card
          title="Difference in success by difficulty"
          caption="In percentage points, with the 95 % interval over the tasks of each tenth."
          empty={NONE}
        >
          {byDifficulty.length > 0 && <DifficultyTable bins={byDifficulty} />}
        </Card>
        {grades.length > 0 && (
          <Card title="What graders say" caption="Over the tasks that the grader judged in both runs." wide>
            <FiguresTable
              head={['Grader', 'A', 'B', 'B − A', '95 %', 'B is', 'Tasks in which B is', 'Tests', 'Detectable']}
              rows={grades.map((row) => cellsOf(row))}
            />
          </Card>
        )}
      </Section>
      <Flips title="✓ Solved only by B" kind="gained" side={episodes.gained} paired={episodes.paired} runs={runs} />
      <Flips title="✗ Solved only by A" kind="lost" side={episodes.lost} paired={episodes.paired} runs={runs} />
      <Runs comparison={comparison} />
      <details class="methods">
        <summary>How these figures are computed</summary>
        {notesOf(comparison).map((note) => (
          <p key={note}>{note}</p>
        ))}
      </details>
    </>
  )
}

function cellsOf({ name, a, b, difference, interval, shown, tasks, tests, detectable }: FigureRow) {
  const words = [shown, tasks, tests, detectable].map((text) => <span class="words">{text}</span>)
  return [plain(name), a, b, difference, interval, ...words]
}

function DifficultyTable({ bins }: { readonly bins: Comparison['byDifficulty'] }) {
  return (
    <FiguresTable
      head={['Difficulty', '', 'Success, B − A', '95 % interval', 'Tasks']}
      texts={2}
      rows={bins.map(({ from, to, mean, low, high, count }) => [
        `${from} to ${to}`,
        <IntervalBar value={mean} low={low} high={high} from={-1} />,
        formatPoints(mean * 100),
        low === null || high === null ? '' : `${formatPoints(low * 100)} to ${formatPoints(high * 100)}`,
        formatCount(count),
      ])}
    />
  )
}

interface FlipsProps {
  readonly title: string
  readonly kind: 'gained' | 'lost'
  readonly side: Comparison['episodes']['gained']
  readonly paired: number
  readonly runs: readonly [string, string] | null
}

function Flips({ title, kind, side: { count, flips }, paired, runs }: FlipsProps) {
  return (
    <section class="figures">
      <h2 class={kind === 'gained' ? 'gain' : 'loss'}>
        {title}: {formatCount(count)}
      </h2>
      <p class="caption">
        Of {plural(paired, 'episode')} with the same task and attempt that finished in both runs.
        {flips.length < count && ` The first ${formatCount(flips.length)} by task are shown.`}
        {flips.length > 0 && runs && ' Expand one to see both plays.'}
      </p>
      <div class="flips">
        {flips.map((flip) => (
          <FlipItem key={`${flip.attempt} ${flip.task}`} flip={flip} runs={runs} />
        ))}
      </div>
    </section>
  )
}

function FlipItem({ flip, runs }: { readonly flip: Flip; readonly runs: readonly [string, string] | null }) {
  const [isOpen, setOpen] = useState(false)
  const { task, taskInB = task, attempt, a, b } = flip
  return (
    <details class="card flip" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {code(task)} · attempt {attempt} · <End letter="A" end={a} /> · <End letter="B" end={b} />
      </summary>
      {isOpen && runs && <FlipPair runs={runs} tasks={[task, taskInB]} attempt={attempt} />}
    </details>
  )
}

function End({ letter, end: { ending, steps, unshaped } }: { readonly letter: string; readonly end: Flip['a'] }) {
  return (
    <>
      {letter} {plain(ending)} after {plural(steps, 'step')} ({formatNumber(unshaped)})
    </>
  )
}

function Runs({ comparison: { a, b, configuration } }: { readonly comparison: Comparison }) {
  const counts = ['scheduled', 'finished', 'failed', 'unresolved'] as const
  return (
    <Section title="The runs">
      <Card title="Episodes" caption="No figure above includes failed ones.">
        <FiguresTable
          head={['', 'A', 'B']}
          rows={counts.map((name) => [name, formatCount(a[name]), formatCount(b[name])])}
        />
      </Card>
      <Card title="Differing settings" empty="The runs have the same configuration.">
        {configuration.length > 0 && (
          <FiguresTable
            head={['Setting', 'A', 'B']}
            texts={3}
            rows={configuration.map((row) => [row.key, row.a, row.b].map((text) => plain(text)))}
          />
        )}
      </Card>
    </Section>
  )
}

function notesOf({ successRules, seeded }: Comparison): string[] {
  return [
    'Both runs played the same tasks, with the same environment, parameters and seed. So each task is compared with itself, and the variance between tasks cancels out.',
    'Each task counts once, with the mean over its finished episodes in a run, because rollouts of one task are not independent of each other. Intervals are Student’s t over the differences by task (Miller 2024, section 4).',
    `A difference is shown if the p-value of the sign-flip test is below 0.05: the probability that the mean difference is at least as far from 0, in either direction, if the sign of the difference of each task is a fair coin (Fisher 1935, Pitman 1937). All signs are counted, or 19,999 random ones where they are too many. ${INTERVAL_NOTE}`,
    DETECTABLE_NOTE,
    'The p-value of the exact sign test, which does not see how large a difference is, is the probability that a fair coin splits the differing tasks at least as unevenly, in either direction; with one rollout per task it is McNemar’s exact test (1947). It is valid for any number of tasks.',
    ...(seeded ? [] : [UNSEEDED]),
    `An episode solves its task if it succeeds: ${formatRules(successRules)}. A failed episode does not count as zero: no figure includes it.`,
  ]
}
