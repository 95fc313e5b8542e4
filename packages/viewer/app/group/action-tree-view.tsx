import type { JsonObject, SealedRecord } from '@episodic/protocol'
import { type ActionNode, actionTree } from '@episodic/report/group/action-tree'
import { plural } from '@episodic/report/text/format'
import { useMemo } from 'preact/hooks'
import { Fold } from '../parts/folds.tsx'
import { plain } from '../parts/plain-text.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { episodeHref } from '../route/route.ts'
import type { Attempt } from './attempts.ts'

/** Actions of a path that are shown at once; the middle of a longer one is folded. */
const MOST_ACTIONS = 6
const MOST_ARGUMENTS = 60

interface ActionTreeViewProps {
  readonly run: string
  readonly attempts: readonly Attempt[]
  readonly records: readonly SealedRecord[]
}

export function ActionTreeView({ run, attempts, records }: ActionTreeViewProps) {
  const tree = useMemo(() => actionTree(records.map(({ steps }, episode) => ({ episode, steps }))), [records])
  const end = (episode: number) => {
    const attempt = attempts[episode]
    if (!attempt) return null
    const { task, attempt: number } = attempt.words
    return (
      <a key={episode} class="tree-end" href={episodeHref(run, task, number)}>
        <ResultBadge result={attempt.result} /> <span>{number}</span>
        <span class="unseen"> attempt</span>
      </a>
    )
  }
  return (
    <div class="frame action-tree">
      {tree.ended.length > 0 && <p>without an action: {tree.ended.map(end)}</p>}
      <Branches nodes={tree.next} parts={tree.next.length > 1 ? 0 : null} end={end} />
    </div>
  )
}

interface BranchesProps {
  readonly nodes: readonly ActionNode[]
  /** The step after which these ways part; `null` if they are one. */
  readonly parts: number | null
  readonly end: (episode: number) => preact.ComponentChildren
}

function Branches({ nodes, parts, end }: BranchesProps) {
  return (
    <>
      {parts !== null && <p class="muted small">they part at step {parts + 1}</p>}
      <ul>
        {nodes.map((node, i) => (
          <li key={i}>
            <Path node={node} id={`path:${node.episodes[0]}/${node.depth}`} />
            {node.ended.length > 0 && node.ended.map(end)}
            {node.next.length > 0 && (
              <Branches
                nodes={node.next}
                parts={node.next.length > 1 ? node.depth + node.actions.length : null}
                end={end}
              />
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

function Path({ node: { actions, depth, episodes }, id }: { readonly node: ActionNode; readonly id: string }) {
  const half = MOST_ACTIONS / 2
  const isLong = actions.length > MOST_ACTIONS + 1
  const show = (from: number, to: number) =>
    actions.slice(from, to).map(({ action, seat }, i) => {
      return (
        <code key={from + i} class="tree-action" title={`step ${depth + from + i + 1}`}>
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
