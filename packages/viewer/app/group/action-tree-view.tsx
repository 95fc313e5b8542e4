import type { JsonObject, SealedRecord } from '@episodic/protocol'
import { type ActionNode, actionTree } from '@episodic/report/group/action-tree'
import { plural } from '@episodic/report/text/format'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { BranchList, type BranchNode } from '../parts/branch-list.tsx'
import { Fold } from '../parts/folds.tsx'
import { plain } from '../parts/plain-text.tsx'

/** Actions of a path that are shown at once; the middle of a longer one is folded. */
const MOST_ACTIONS = 6
const MOST_ARGUMENTS = 60

interface ActionTreeViewProps {
  readonly records: readonly SealedRecord[]
  readonly end: (episode: number) => ComponentChildren
}

export function ActionTreeView({ records, end }: ActionTreeViewProps) {
  const tree = useMemo(() => actionTree(records.map(({ steps }, episode) => ({ episode, steps }))), [records])
  // Those that go on from a step of an earlier episode have steps of it before them.
  const before = records[0]?.origin?.step ?? 0
  const partsAfter = ({ next, depth, actions }: ActionNode) =>
    next.length > 1 && <p class="muted small">they part at step {before + depth + actions.length + 1}</p>
  const nodeOf = (node: ActionNode): BranchNode => ({
    content: (
      <>
        <Path node={node} before={before} id={`path:${node.episodes[0]}/${node.depth}`} />
        {node.ended.map(end)}
        {partsAfter(node)}
      </>
    ),
    next: node.next.map(nodeOf),
  })
  return (
    <div class="frame action-tree">
      {tree.ended.length > 0 && <p>without an action: {tree.ended.map(end)}</p>}
      {partsAfter(tree)}
      <BranchList nodes={tree.next.map(nodeOf)} />
    </div>
  )
}

interface PathProps {
  readonly node: ActionNode
  readonly before: number
  readonly id: string
}

function Path({ node: { actions, depth, episodes }, before, id }: PathProps) {
  const half = MOST_ACTIONS / 2
  const isLong = actions.length > MOST_ACTIONS + 1
  const show = (from: number, to: number) =>
    actions.slice(from, to).map(({ action, seat }, i) => {
      return (
        <code key={from + i} class="tree-action" title={`step ${before + depth + from + i + 1}`}>
          {seat !== undefined && plain(`${seat}: `)}
          <b>{plain(action.tool)}</b> {plain(valuesOf(action.arguments))}
        </code>
      )
    })
  return (
    <span class="tree-path flow tight">
      {show(0, isLong ? half : actions.length)}
      {isLong && (
        <>
          <Fold id={id} summary={`${plural(actions.length - 2 * half, 'more action')}`}>
            {() => show(half, actions.length - half)}
          </Fold>
          {show(actions.length - half, actions.length)}
        </>
      )}
      {episodes.length > 1 && <span class="muted small">×{episodes.length}</span>}
    </span>
  )
}

/** Arguments as short as they can be: the value alone if there is one, else each with its name. */
function valuesOf(args: JsonObject): string {
  const entries = Object.entries(args)
  const text =
    entries.length === 1
      ? JSON.stringify(entries[0]?.[1])
      : entries.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ')
  return text.length <= MOST_ARGUMENTS ? text : `${text.slice(0, MOST_ARGUMENTS).toWellFormed()}…`
}
