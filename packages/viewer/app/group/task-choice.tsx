import { plural } from '@episodic/report/text/format'
import type { TaskRows } from '@episodic/report/view/run-entry'
import { EmptyNote } from '../parts/notes.tsx'
import { code, plain } from '../parts/plain-text.tsx'
import { formatRoute, type Route } from '../route/route.ts'

interface TaskChoiceProps {
  readonly route: Route & { readonly screen: 'episode' | 'group' }
  readonly tasks: readonly TaskRows[]
}

export function TaskChoice({ route, tasks }: TaskChoiceProps) {
  if (tasks.length === 0)
    return (
      <EmptyNote whole title="The run has no such task.">
        <p>
          No id of a task that was played begins with <code>{plain(route.task)}</code>.
        </p>
        <p>
          <a href={formatRoute({ screen: 'episodes', run: route.run, query: '', sort: '' })}>All episodes of the run</a>
        </p>
      </EmptyNote>
    )
  return (
    <section>
      <h1>Several tasks begin with {plain(route.task)}</h1>
      <ul class="task-choice">
        {tasks.map(({ task, prompt, rows }) => (
          <li key={task}>
            <a href={formatRoute({ ...route, task })}>{code(task)}</a> {plain(prompt)}{' '}
            <span class="muted">{plural(rows.length, 'line')}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
