import { FORK_CAPTION, ForkTree } from '../parts/fork-tree.tsx'
import { useLoaded } from '../source/use-source.ts'

export function BranchValues({ run, task }: { readonly run: string; readonly task: string }) {
  const { value: detail } = useLoaded((source) => source.run(run), [run])
  const trees = detail?.summary.branch?.trees.filter((tree) => tree.task === task)
  if (!trees) return null
  const few = 'The states of this task are not among those whose values were estimated: a summary keeps a few trees.'
  return (
    <>
      <h2>Forks</h2>
      <p class="caption">{trees.length > 0 ? FORK_CAPTION : few}</p>
      {trees.map((tree) => (
        <ForkTree key={tree.rollout} tree={tree} />
      ))}
    </>
  )
}
