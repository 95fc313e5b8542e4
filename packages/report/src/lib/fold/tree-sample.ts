import { contentId, type EpisodeRecord } from '@episodic/protocol'
import { createBoundedMap } from './bounded-map.ts'
import { comparePreference, type EpisodeIdentity, type SealedLine } from './episode-identity.ts'
import { returnToGo } from './return-to-go.ts'
import { groupOf } from './scored-outcome.ts'
import { clusteredMean } from './statistics.ts'
import type { Summary } from './summary.ts'

const TREE_SIZES = { trees: 6, points: 24, leaves: 64, text: 400 } as const

export type ShownTree = NonNullable<Summary['branch']>['trees'][number]
export type ShownLeaf = ShownTree['leaves'][number]
type ShownPoint = ShownTree['points'][number]

type BranchedRecord = EpisodeRecord & { readonly branch: NonNullable<EpisodeRecord['branch']> }

interface Visit {
  readonly path: number[]
  readonly at: number
  /** Distinguishes states with the same path, in case a stochastic policy played the tree twice. */
  readonly state: string
  readonly observation: string
  readonly line: number
  readonly returnToGo: number | null
}

interface Leaf extends ShownLeaf, SealedLine {
  readonly visits: readonly Visit[]
}

/**
 * Creates an empty sample of the trees with the lowest hashes of task and rollout, whatever the order of their leaves.
 *
 * The value of the state s at a branch point is a Monte Carlo estimate (Sutton & Barto, Reinforcement Learning, 2nd
 * ed., section 5.1): the mean of G = Σ γ^k r_{t+k+1}, unshaped, over the lines that continue from it. Each line has its
 * own random draws in world and policy, so they are independent given s, and each is a cluster. It is the value of the
 * full state, private part included.
 *
 * @param discount - γ, from 0 to 1.
 */
export function createTreeSample(discount: number) {
  const trees = createBoundedMap(TREE_SIZES.trees, () => ({ task: '', rollout: 0, leaves: new Map<number, Leaf>() }))
  return {
    add(record: BranchedRecord, identity: EpisodeIdentity) {
      const { task, attempt, branch } = record
      const tree = trees.of(contentId(`${branch.rollout}/${task.id}`))
      if (!tree) return
      tree.task = task.id
      tree.rollout = branch.rollout
      const leaf = leafOf(record, identity, discount)
      const known = tree.leaves.get(attempt)
      if (!known || comparePreference(leaf, known) < 0) tree.leaves.set(attempt, leaf)
    },
    finish: (): ShownTree[] =>
      trees.entries().map(([, { task, rollout, leaves }]) => {
        const ordered = [...leaves].sort(([a], [b]) => a - b).map(([, leaf]) => leaf)
        const points = pointsOf(ordered)
        const distinct = [...new Map(ordered.map((leaf) => [leaf.path.join(), leaf])).values()]
        return {
          task: cut(task),
          rollout,
          points: points.slice(0, TREE_SIZES.points),
          leaves: distinct
            .slice(0, TREE_SIZES.leaves)
            .map(({ path, at, steps, outcome, return: earned }) => ({ path, at, steps, outcome, return: earned })),
          omitted: {
            points: Math.max(0, points.length - TREE_SIZES.points),
            leaves: Math.max(0, distinct.length - TREE_SIZES.leaves),
          },
        }
      }),
  }
}

function leafOf(record: BranchedRecord, identity: EpisodeIdentity, discount: number): Leaf {
  const { branch, start, steps, returns } = record
  const outcome = groupOf(record)
  const scored = outcome !== 'failed'
  const visits = branch.at.map((at, i): Visit => {
    const before = steps[at - 1]
    return {
      path: branch.path.slice(0, i),
      at,
      state: before?.stateHash ?? 'start',
      observation: cut((before ?? start)?.observation.text ?? ''),
      line: branch.path[i] as number,
      returnToGo: scored ? returnToGo(steps.slice(at), discount) : null,
    }
  })
  const [path, at] = [[...branch.path], [...branch.at]]
  const earned = scored ? (returns?.unshaped ?? null) : null
  return { path, at, steps: steps.length, outcome, return: earned, identity, failed: !scored, visits }
}

function pointsOf(leaves: readonly Leaf[]): ShownPoint[] {
  const points = new Map<string, Visit[]>()
  for (const { visits } of leaves)
    for (const visit of visits) {
      const key = `${visit.path.join()}@${visit.at} ${visit.state}`
      points.set(key, [...(points.get(key) ?? []), visit])
    }
  return [...points.values()].map(estimateValue).sort((a, b) => a.at - b.at)
}

function estimateValue(visits: readonly Visit[]): ShownPoint {
  const { path, at, observation } = visits[0] as Visit
  const lines = Map.groupBy(visits, ({ line }) => line)
  const returnsToGo = [...lines]
    .sort(([a], [b]) => a - b)
    .map(([, below]) => {
      const finished = below.map(({ returnToGo }) => returnToGo).filter((value) => value !== null)
      return clusteredMean(finished, [...finished.keys()])?.mean ?? null
    })
  const known = returnsToGo.filter((value) => value !== null)
  return { path, at, observation, value: clusteredMean(known, [...known.keys()]), returnsToGo }
}

function cut(text: string): string {
  return text.length <= TREE_SIZES.text ? text : `${text.slice(0, TREE_SIZES.text).toWellFormed()}…`
}
