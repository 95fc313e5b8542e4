import type { TaskRows } from '@episodic/report'
import { formatRoute } from '../route/route.ts'
import { useLoaded } from '../source/use-source.ts'

/** The addresses of the tasks before and after one, in the order in which their first lines were sealed. */
export function useTaskNeighbours(
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
