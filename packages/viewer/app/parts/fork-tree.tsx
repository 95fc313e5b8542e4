import type { ShownTree } from '@episodic/report/fold/tree-sample'
import { formatTreeValue } from '@episodic/report/notes/run-notes'
import { formatCount, formatNumber, plural } from '@episodic/report/text/format'
import { BranchList, type BranchNode } from './branch-list.tsx'
import { plain } from './plain-text.tsx'
import { ResultBadge } from './result.tsx'
import { plainString } from './signs.ts'

export const FORK_CAPTION =
  'V̂ is the mean return-to-go of the lines that part at a state, with its 95 % interval over these lines.'

/** The lines of a rollout: the value of each state in which they part, and what each came to. */
export function ForkTree({ tree: { task, rollout, points, leaves, omitted } }: { readonly tree: ShownTree }) {
  const nodeOf = (path: readonly number[]): BranchNode => {
    const below = leaves.filter((leaf) => path.every((line, i) => leaf.path[i] === line))
    const point = points.find((one) => one.path.join() === path.join())
    const content = (
      <>
        {below
          .filter((leaf) => leaf.path.length === path.length)
          .map(({ outcome, steps, return: earned }) => (
            <span key={steps} class="tree-end">
              <ResultBadge result={outcome} /> {earned === null ? 'failed' : formatNumber(earned)}{' '}
              <span class="muted">after {plural(steps, 'step')}</span>
            </span>
          ))}
        {point && (
          <span class="flow tight">
            after step {point.at}: <b>V̂ {formatTreeValue(point.value)}</b>
            <span class="muted">{plain(point.observation)}</span>
          </span>
        )}
      </>
    )
    const lines = new Set(below.flatMap((leaf) => leaf.path[path.length] ?? []))
    return { content, next: Array.from(lines, (line) => nodeOf([...path, line])) }
  }
  return (
    <fieldset class="frame action-tree" aria-label={`The lines of ${plainString(task)}, rollout ${rollout}`}>
      <BranchList nodes={[nodeOf([])]} />
      {omitted.leaves > 0 && <p class="caption">And {formatCount(omitted.leaves)} more lines.</p>}
    </fieldset>
  )
}
