import { SPLITS } from '@episodic/report/fold/task-groups'
import type { TaskFigures } from '@episodic/report/rows/task-figures'
import { formatCount, formatNumber } from '@episodic/report/text/format'
import type { RowWords } from '@episodic/report/view/run-entry'
import { useMemo, useState } from 'preact/hooks'
import { formatShare } from '../parts/amounts.ts'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { Meter } from '../parts/meter.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { Pager } from '../parts/pager.tsx'
import { code, plain } from '../parts/plain-text.tsx'
import { formatRoute } from '../route/route.ts'
import { useLoaded } from '../source/use-source.ts'

type Order = 'task' | 'success' | 'mean' | 'deviation' | 'steps' | 'difficulty' | 'failed'

const HEADS: readonly (readonly [order: Order, name: string])[] = [
  ['success', 'Success'],
  ['mean', 'Return'],
  ['deviation', 'SD'],
  ['steps', 'Steps'],
  ['difficulty', 'Difficulty'],
  ['failed', 'Failed'],
]

const PAGE = 50

export function Tasks({ run, tasks }: { readonly run: string; readonly tasks: readonly TaskFigures[] }) {
  const [[order, ascending], setOrder] = useState<readonly [Order, boolean]>(['task', true])
  const [page, setPage] = useState(0)
  const ordered = useMemo(() => {
    const sign = ascending ? 1 : -1
    // Unknown figures are last in either order.
    const value = (task: TaskFigures) => figureOf(task, order) ?? (ascending ? 1 : -1) * Number.POSITIVE_INFINITY
    return tasks.toSorted((a, b) => sign * (value(a) - value(b) || 0) || a.task - b.task)
  }, [tasks, order, ascending])
  const from = Math.min(page, Math.max(0, Math.ceil(ordered.length / PAGE) - 1)) * PAGE
  const shown = ordered.slice(from, from + PAGE)
  const rows = shown.map(({ rows: [row = 0] }) => row)
  const words = useLoaded((source) => source.words(run, rows), [run, rows.join()])
  const wordsOf = new Map(words.value?.map((word) => [word.row, word]))
  const sort = (by: Order) => {
    setOrder(([before, up]) => [by, before === by ? !up : by === 'difficulty'])
    setPage(0)
  }
  return (
    <Section title={`Tasks (${formatCount(tasks.length)})`}>
      <Card
        title="Success of each task"
        caption="Of the episodes that count. SD is the standard deviation of the return over the attempts: with 0, a learner gets no signal from the group."
        empty="No episode is sealed."
        wide
      >
        {tasks.length > 0 && (
          <>
            {words.error && <ErrorNote error={words.error} />}
            <FiguresTable
              look={['scroll tall', 'even tasks']}
              head={[
                'Task',
                ...HEADS.map(([by, name]) => (
                  <button type="button" class="bare" onClick={() => sort(by)}>
                    {name}
                    <span aria-hidden="true">{by === order ? (ascending ? ' ↑' : ' ↓') : ''}</span>
                  </button>
                )),
              ]}
              rows={shown.map((task) => cellsOf(run, task, wordsOf.get(task.rows[0] ?? 0)))}
              part={[from, tasks.length]}
              sorted={[HEADS.findIndex(([by]) => by === order) + 1, ascending ? 'ascending' : 'descending']}
            />
            <Pager name="tasks" from={from} size={PAGE} count={tasks.length} onPage={setPage} />
          </>
        )}
      </Card>
    </Section>
  )
}

function cellsOf(run: string, task: TaskFigures, words: RowWords | undefined) {
  const { successes, finished, failed, mean, deviation, steps, difficulty, split } = task
  return [
    <div class="task flow mid apart">
      {words && (
        <a class="clip one-line" href={formatRoute({ screen: 'group', run, task: words.task })}>
          {code(words.task.slice(0, 8))} {plain(words.prompt)}
        </a>
      )}
      <span class="badge">{SPLITS[split] ?? ''}</span>
    </div>,
    <>
      <Meter share={finished > 0 ? successes / finished : 0} kind="good" /> {formatCount(successes)}/
      {formatCount(finished)} <span class="muted">{formatShare(successes, finished)}</span>
    </>,
    formatNumber(mean),
    deviation === 0 ? <span title="no variance">0 ⚠</span> : formatNumber(deviation),
    formatNumber(steps),
    formatNumber(difficulty),
    failed > 0 ? <span class="loss">! {formatCount(failed)}</span> : '',
  ]
}

function figureOf(task: TaskFigures, order: Order): number | null {
  if (order === 'success') return task.finished > 0 ? task.successes / task.finished : null
  return task[order]
}
