import { formatCount, formatNumber } from '@episodic/report/text/format'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import { useState } from 'preact/hooks'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { Pager } from '../parts/pager.tsx'
import { code, plain } from '../parts/plain-text.tsx'
import { formatRoute, type Route } from '../route/route.ts'
import { openRoute } from '../route/use-route.ts'

const PAGE = 40

export type CompareRoute = Route & { readonly screen: 'compare' }

type Task = ComparedRuns['tasks'][number]

const FILTERS = [
  ['all', 'All', () => true],
  ['disagree', 'They disagree', (task: Task) => new Set(statesOf(task)).size > 1],
  ['solved', 'All solved', (task: Task) => statesOf(task).every((state) => state === 'solved')],
  ['unsolved', 'None solved', (task: Task) => statesOf(task).every((state) => state === 'unsolved')],
] as const

interface ComparedTasksProps {
  readonly compared: ComparedRuns
  readonly names: readonly string[]
  readonly route: CompareRoute
}

export function ComparedTasks({ compared: { runs, tasks }, names, route }: ComparedTasksProps) {
  const [page, setPage] = useState(0)
  const [shown, , matches] = FILTERS.find(([key]) => key === route.show) ?? FILTERS[0]
  const chosen = tasks.filter(matches)
  const from = Math.min(page, Math.max(0, Math.ceil(chosen.length / PAGE) - 1)) * PAGE
  return (
    <Section title="Tasks">
      <Card
        title="Each task in each run"
        caption="Successes of finished episodes, and the mean unshaped return. The tasks on which the runs differ most come first."
        wide
      >
        <div class="flow tight block">
          {FILTERS.map(([key, name, is]) => (
            <button
              key={key}
              type="button"
              class="pill"
              aria-pressed={key === shown}
              onClick={() => {
                openRoute({ ...route, show: key }, { replace: true })
                setPage(0)
              }}
            >
              {name} {formatCount(tasks.filter(is).length)}
            </button>
          ))}
        </div>
        <FiguresTable
          look={['scroll tall', 'even']}
          head={['Task', ...names.map(plain)]}
          rows={chosen.slice(from, from + PAGE).map(({ task, prompt, runs: own }) => [
            <>
              {code(task.slice(0, 12))} <span class="muted">{plain(prompt.slice(0, 90))}</span>
            </>,
            ...own.map((run, at) =>
              run.rows.length === 0 ? (
                <span class="muted" title="this run has no episode of the task">
                  {SIGNS.none}
                </span>
              ) : (
                <>
                  <a href={formatRoute({ screen: 'group', run: runs[at] ?? '', task })}>
                    <span class={stateOf(run) === 'solved' ? 'gain' : 'loss'}>{SIGNS[stateOf(run)]}</span>{' '}
                    {formatCount(run.successes)}/{formatCount(run.finished)}
                  </a>{' '}
                  <span class="muted">{formatNumber(run.unshaped)}</span>
                </>
              ),
            ),
          ])}
          part={[from, chosen.length]}
        />
        <Pager name="tasks" from={from} size={PAGE} count={chosen.length} onPage={setPage} />
      </Card>
    </Section>
  )
}

const SIGNS = { solved: '✓', unsolved: '✗', partly: '◐', none: '–' } as const

/** Of the runs that have a finished episode of the task. */
function statesOf({ runs }: Task) {
  return runs.map(stateOf).filter((state) => state !== 'none')
}

function stateOf({ finished, successes }: Task['runs'][number]): keyof typeof SIGNS {
  if (finished === 0) return 'none'
  return successes === finished ? 'solved' : successes === 0 ? 'unsolved' : 'partly'
}
