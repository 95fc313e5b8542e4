import { GroupView } from '../group/group-view.tsx'
import { loadGroup } from '../group/load-group.ts'
import { TaskChoice } from '../group/task-choice.tsx'
import { Answer } from '../parts/notes.tsx'
import type { Route } from '../route/route.ts'
import { useLoaded, useVersion } from '../source/use-source.ts'

type GroupRoute = Route & { readonly screen: 'group' }

/** All attempts at one task: how they differ, and whether there is something to learn from them. */
export function GroupScreen({ route }: { readonly route: GroupRoute }) {
  const { run, task } = route
  const version = useVersion(run)
  const found = useLoaded((source) => loadGroup(source, run, task), [run, task], version)
  return (
    <Answer of={found}>
      {(value) =>
        value.kind === 'tasks' ? (
          <TaskChoice route={route} tasks={value.tasks} />
        ) : (
          <GroupView key={value.group.task.task} run={run} group={value.group} />
        )
      }
    </Answer>
  )
}
