import { advantagesOf } from '@episodic/report/group/advantages'
import { formatNumber, formatPercent, plural } from '@episodic/report/text/format'
import type { TaskRows } from '@episodic/report/view/run-entry'
import { useMemo, useState } from 'preact/hooks'
import { useKeys } from '../keys/use-keys.ts'
import { FigureList, type NamedFigure } from '../parts/figure-strip.tsx'
import { FoldsContext, useFolds } from '../parts/folds.tsx'
import { code, plain } from '../parts/plain-text.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { formatRoute } from '../route/route.ts'
import { useLoaded } from '../source/use-source.ts'
import { ActionTreeView } from './action-tree-view.tsx'
import { AttemptTable, attemptHref } from './attempt-table.tsx'
import { BranchValues } from './branch-values.tsx'
import { type LoadedGroup, MOST_LINES } from './load-group.ts'
import { passFigures } from './pass-figures.ts'

export function GroupView({ run, group }: { readonly run: string; readonly group: LoadedGroup }) {
  const { task, attempts, records } = group
  const returns = attempts.map(({ unshaped }) => unshaped)
  const figures = useMemo(() => advantagesOf(returns), [attempts])
  const [ticked, setTicked] = useState<readonly number[]>([])
  const [chosen, setChosen] = useState(0)
  const folds = useFolds()
  const neighbours = useTaskNeighbours(run, task)
  const finished = attempts.filter(({ unshaped }) => unshaped !== null)
  const successes = finished.filter(({ result }) => result === 'succeeded').length
  const passes = passFigures(finished.length, successes)
  const first = records[0]
  // Of three ticks the first is let go.
  const tick = (attempt: number) =>
    setTicked((before) =>
      before.includes(attempt) ? before.filter((one) => one !== attempt) : [...before.slice(-1), attempt],
    )
  const [one, other] = ticked
  const pair = attempts.find(({ words }) => words.attempt === one)
  const compareHref = pair && other !== undefined ? attemptHref(run, pair, other) : null
  const move = (by: number) => setChosen((before) => Math.max(0, Math.min(attempts.length - 1, before + by)))
  const open = (href: string | null) => {
    if (href) location.hash = href
  }
  useKeys('Attempts at the task', [
    { key: 'j', label: 'next attempt', run: () => move(1) },
    { key: 'k', label: 'attempt before', run: () => move(-1) },
    {
      key: 'Enter',
      label: 'open the attempt',
      run: () => open(attempts[chosen] ? attemptHref(run, attempts[chosen]) : null),
    },
    {
      key: ' ',
      label: 'tick the attempt',
      run: () => {
        const attempt = attempts[chosen]
        if (attempt) tick(attempt.words.attempt)
      },
    },
    { key: 'c', label: 'open the two ticked side by side', run: () => open(compareHref) },
    { key: '[', label: 'previous task', run: () => open(neighbours.previous) },
    { key: ']', label: 'next task', run: () => open(neighbours.next) },
  ])
  return (
    <FoldsContext.Provider value={folds}>
      <section class="group">
        <div class="flow apart">
          <h1>{plain(task.prompt || task.task)}</h1>
          <nav class="flow" aria-label="Tasks">
            {neighbours.previous ? <a href={neighbours.previous}>‹ previous</a> : <span class="muted">‹ previous</span>}
            {neighbours.next ? <a href={neighbours.next}>next ›</a> : <span class="muted">next ›</span>}
            <a href={formatRoute({ screen: 'episodes', run, query: `task:${task.task}`, sort: '' })}>as a list</a>
          </nav>
        </div>
        <p class="muted flow small">
          {code(task.task)}
          {first && (
            <>
              <span>difficulty {formatNumber(first.task.difficulty)}</span>
              <span>{first.task.split}</span>
              {first.task.tags.length > 0 && <span>{plain(first.task.tags.join(', '))}</span>}
            </>
          )}
        </p>
        <FigureList
          look="figure-list block"
          figures={[
            [
              'attempts',
              <>
                {attempts.length}
                {finished.length < attempts.length && (
                  <span class="loss"> ! {attempts.length - finished.length} failed, in no other figure</span>
                )}
              </>,
            ],
            ['success', <b>{`${successes}/${finished.length}`}</b>],
            [
              'return',
              <>
                {formatNumber(figures?.mean ?? null)}{' '}
                <span class="muted">sd {formatNumber(figures?.deviation ?? null)}</span>
              </>,
            ],
            ...passes.map(
              ({ k, any, all }): NamedFigure => [
                `pass@${k}`,
                <>
                  {formatPercent(any)} {k > 1 && <span class="muted">{`all ${k}: ${formatPercent(all)}`}</span>}
                </>,
              ],
            ),
          ]}
        />
        {figures?.deviation === 0 && finished.length > 1 && (
          <p class="warning callout">
            ▲ No variance: the {plural(finished.length, 'return')} are equal, so a learner that compares them with each
            other learns nothing from this task.
          </p>
        )}
        <AttemptTable
          run={run}
          attempts={attempts}
          advantages={figures?.advantages ?? []}
          chosen={chosen}
          ticked={ticked}
          onTick={tick}
        />
        <p class="block">
          {compareHref ? (
            <a class="button primary" href={compareHref}>
              Open {one} and {other} side by side
            </a>
          ) : (
            <span class="muted">Tick two attempts to open them side by side.</span>
          )}
        </p>
        {records.some((record) => 'branch' in record && record.branch !== null) && (
          <BranchValues run={run} task={task.task} />
        )}
        <h2>Actions as a tree</h2>
        {records.length < attempts.length && (
          <p class="muted">
            Of the first {MOST_LINES} of {attempts.length} attempts.
          </p>
        )}
        <ActionTreeView
          records={records}
          end={(episode) => {
            const attempt = attempts[episode]
            return (
              attempt && (
                <a key={episode} class="tree-end" href={attemptHref(run, attempt)}>
                  <ResultBadge result={attempt.result} /> <span>{attempt.words.attempt}</span>
                  <span class="unseen"> attempt</span>
                </a>
              )
            )
          }}
        />
      </section>
    </FoldsContext.Provider>
  )
}

function useTaskNeighbours(
  run: string,
  task: TaskRows,
): { readonly previous: string | null; readonly next: string | null } {
  const { value } = useLoaded(
    async (source) => {
      const { columns } = await source.columns(run, ['task'])
      const numbers = columns.task
      const own = numbers?.[task.rows[0] ?? -1]
      if (!numbers || own === undefined) return null
      const rows = [numbers.indexOf(own - 1), numbers.indexOf(own + 1)]
      const words = await source.words(
        run,
        rows.filter((row) => row >= 0),
      )
      return rows.map((row) => {
        const found = words.find((one) => one.row === row)
        return found ? formatRoute({ screen: 'group', run, task: found.task }) : null
      })
    },
    [run, task.task],
  )
  return { previous: value?.[0] ?? null, next: value?.[1] ?? null }
}
