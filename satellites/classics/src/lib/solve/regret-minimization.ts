import type { GameBranch, GameGraph } from './game-graph.ts'
import { expect, nodeValues, type Probabilities, reachOf } from './profile-values.ts'

/** The regrets and the summed-up strategy of one information set. */
interface Tally {
  readonly regrets: Float64Array
  readonly strategy: Float64Array
}

/**
 * Counterfactual regret minimization with alternating updates: Zinkevich and others, Regret Minimization in Games with
 * Incomplete Information (2007). With `plus`, CFR+ of Tammelin (2014): regrets are never below 0, and iteration t
 * weighs t in the average. Returns the average strategies.
 */
export function minimizeRegret(graph: GameGraph, iterations: number, { plus }: { readonly plus: boolean }): number[][] {
  const counts = graph.decisions.map(({ actions }) => actions.length)
  const tallies = counts.map(
    (count): Tally => ({
      regrets: new Float64Array(count),
      strategy: new Float64Array(count),
    }),
  )
  let current = counts.map((count) => new Array<number>(count).fill(1 / count))
  for (let iteration = 1; iteration <= iterations; iteration++)
    for (const seat of graph.seats.keys()) {
      addRegrets(graph, current, tallies, seat, plus ? iteration : 1)
      if (plus)
        for (const { regrets } of tallies)
          for (const [at, regret] of regrets.entries()) regrets[at] = Math.max(0, regret)
      current = tallies.map(({ regrets }) => normalized(regrets.map((regret) => Math.max(0, regret))))
    }
  return tallies.map(({ strategy }) => normalized(strategy))
}

function addRegrets(
  graph: GameGraph,
  profile: Probabilities,
  tallies: readonly Tally[],
  seat: number,
  weight: number,
): void {
  const values = nodeValues(graph, profile, seat)
  const others = reachOf(graph, profile, { moves: (node) => node.seat !== seat, chance: true })
  const own = reachOf(graph, profile, { moves: (node) => node.seat === seat, chance: false })
  for (const [at, node] of graph.nodes.entries()) {
    if (node.seat !== seat) continue
    const { regrets, strategy } = tallies[node.decision] as Tally
    const chances = profile[node.decision] as readonly number[]
    for (let action = 0; action < regrets.length; action++) {
      const value = expect(node.outcomes[action] as readonly GameBranch[], seat, values)
      regrets[action] = (regrets[action] as number) + (others[at] as number) * (value - (values[at] as number))
      strategy[action] = (strategy[action] as number) + weight * (own[at] as number) * (chances[action] as number)
    }
  }
}

/** Weights as probabilities; equal ones if there are no weights. */
function normalized(weights: Float64Array): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return Array.from(weights, (weight) => (sum > 0 ? weight / sum : 1 / weights.length))
}
