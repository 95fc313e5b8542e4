import type { TaskRows } from '@episodic/report/view/run-entry'
import { findTask } from '../episode/load-episode.ts'
import { GroupView } from '../group/group-view.tsx'
import { loadGroup } from '../group/load-group.ts'
import { TaskChoice } from '../group/task-choice.tsx'
import { WhenLoaded } from '../parts/notes.tsx'
import type { Route } from '../route/route.ts'
import { useLoaded, useVersion } from '../source/use-source.ts'

type GroupRoute = Route & { readonly screen: 'group' }

/** All attempts at one task: how they differ, and whether there is something to learn from them. */
export function GroupScreen({ route }: { readonly route: GroupRoute }) {
  const { run, task } = route
  const version = useVersion(run)
  const found = useLoaded((source) => findTask(source, run, task), [run, task, version])
  return (
    <WhenLoaded of={found}>
      {(value) =>
        'task' in value ? <Group key={value.task} run={run} task={value} /> : <TaskChoice route={route} tasks={value} />
      }
    </WhenLoaded>
  )
}

function Group({ run, task }: { readonly run: string; readonly task: TaskRows }) {
  const group = useLoaded((source) => loadGroup(source, run, task), [run, task.task, task.rows.length])
  return <WhenLoaded of={group}>{(value) => <GroupView run={run} group={value} />}</WhenLoaded>
}
