import type { EpisodeRecord } from '@episodic/protocol'
import { exactSum } from '../fold/exact-sum.ts'
import { returnToGo } from '../fold/return-to-go.ts'
import { scoredOutcomeOf } from '../fold/scored-outcome.ts'
import { clusteredMean, differenceOfMeans } from '../fold/statistics.ts'

export interface ForkAdvantage {
  /** The first of the steps, and the first one after them: that of the next fork, or the number of all steps. */
  readonly from: number
  readonly to: number
  /** The mean return-to-go from the first step of the lines that go on after them; `null` if none finished. */
  readonly value: number | null
  readonly baseline: number | null
  readonly advantage: number | null
  /** Its 95 % interval; `null` with fewer than two lines or siblings, and if the lines do not differ. */
  readonly low: number | null
  readonly high: number | null
  readonly lines: number
  readonly siblings: number
}

interface Leaf {
  readonly path: readonly number[]
  readonly states: readonly string[]
  readonly returns: readonly number[] | null
}

/**
 * Returns what the steps of a leaf were worth, from each fork on its way to the next; nothing for what is no leaf.
 *
 * The advantage of a stretch of steps that starts at a fork is V̂(s′) with the rewards of the stretch, minus V̂(s): the
 * mean return of the lines that go on after the stretch, minus that of the siblings alone, so that no line is compared
 * with itself. If the stretch is one step, that is the temporal difference r + γ V(s′) − V(s), whose mean over the
 * chance of the step is its advantage (Sutton & Barto, Reinforcement Learning, 2nd ed., section 13.5). Without a
 * further fork, V̂(s′) is the return of one line. States are whole, private part included.
 *
 * Lines that go on from one state are independent of each other, each with its own draws in world and policy, so the
 * interval is that of the difference of two means with unequal variances, with Welch's degrees of freedom, rounded down
 * (Welch, "The generalization of Student's problem", 1947).
 *
 * @param lines - the leaves of its tree. Of several lines of one leaf a finished one counts.
 * @param discount - γ, from 0 to 1.
 */
export function forkAdvantagesOf(
  record: EpisodeRecord,
  lines: readonly EpisodeRecord[],
  discount = 1,
): ForkAdvantage[] {
  const tree = new Map<string, Leaf>()
  for (const line of lines) {
    const leaf = leafOf(line, discount)
    const path = leaf?.path.join() ?? ''
    if (leaf && (leaf.returns || !tree.get(path))) tree.set(path, leaf)
  }
  const own = leafOf(record, discount)
  return own?.path.map((_, depth) => advantageAt(own, depth, [...tree.values()], record)) ?? []
}

function leafOf(record: EpisodeRecord, discount: number): Leaf | null {
  const { branch, steps } = record
  if (!branch) return null
  const isScored = scoredOutcomeOf(record).kind === 'finished'
  return {
    path: branch.path,
    states: branch.at.map((at) => steps[at - 1]?.stateHash ?? 'start'),
    returns: isScored ? branch.at.map((at) => returnToGo(steps.slice(at), discount)) : null,
  }
}

function advantageAt(own: Leaf, depth: number, leaves: readonly Leaf[], record: EpisodeRecord): ForkAdvantage {
  const { at } = record.branch as NonNullable<EpisodeRecord['branch']>
  // A tree that a stochastic policy played twice has two states of one path.
  const forked = leaves.filter(
    ({ path, states }) =>
      path.length > depth &&
      states[depth] === own.states[depth] &&
      own.path.slice(0, depth).every((line, i) => line === path[i]),
  )
  const lines = Map.groupBy(forked, ({ path }) => path[depth])
  const line = own.path[depth]
  const values = continuations(lines.get(line) ?? [], depth).flatMap(
    (below) => meanBelow(below, depth + 1, depth) ?? [],
  )
  const others = [...lines].flatMap(([other, below]) => (other === line ? [] : (meanBelow(below, depth, depth) ?? [])))
  return { from: at[depth] as number, to: at[depth + 1] ?? record.steps.length, ...differenceOf(values, others) }
}

function continuations(leaves: readonly Leaf[], depth: number): Leaf[][] {
  return [...Map.groupBy(leaves, ({ path }) => path[depth + 1]).values()]
}

/** The mean return from fork `measured` on, of leaves with one way through forks up to `depth`; lines weigh alike. */
function meanBelow(leaves: readonly Leaf[], depth: number, measured: number): number | null {
  const [first, ...others] = leaves
  if (first && others.length === 0) return first.returns?.[measured] ?? null
  const means = continuations(leaves, depth).flatMap((below) => meanBelow(below, depth + 1, measured) ?? [])
  return means.length === 0 ? null : exactSum(means) / means.length
}

function differenceOf(values: readonly number[], others: readonly number[]): Omit<ForkAdvantage, 'from' | 'to'> {
  const [own, rest] = [values, others].map((each) => clusteredMean(each, [...each.keys()]))
  const counts = { lines: values.length, siblings: others.length }
  const means = { value: own?.mean ?? null, baseline: rest?.mean ?? null }
  if (!own || !rest) return { ...means, advantage: null, low: null, high: null, ...counts }
  const { difference: advantage, ...interval } = differenceOfMeans(own, rest)
  return { ...means, advantage, ...interval, ...counts }
}
