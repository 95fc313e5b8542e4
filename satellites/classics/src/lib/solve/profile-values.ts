import type { GameBranch, GameGraph, GameNode } from './game-graph.ts'

/** The probabilities of the actions, by information set. */
export type Probabilities = readonly (readonly number[])[]

/** The expected return of each seat, in order, over all starts. */
export function profileValue(graph: GameGraph, profile: Probabilities): number[] {
  return graph.seats.map((_, seat) => expect(graph.starts, seat, nodeValues(graph, profile, seat)))
}

/** The expected return of a seat from each node on. */
export function nodeValues({ nodes }: GameGraph, profile: Probabilities, seat: number): Float64Array {
  const values = new Float64Array(nodes.length)
  for (const [at, { decision, outcomes }] of nodes.entries()) {
    const chances = profile[decision] as readonly number[]
    let value = 0
    for (let action = 0; action < outcomes.length; action++)
      value += (chances[action] as number) * expect(outcomes[action] as readonly GameBranch[], seat, values)
    values[at] = value
  }
  return values
}

/** The expected return of a seat from branches on, given the values of the nodes. */
export function expect(branches: readonly GameBranch[], seat: number, values: ArrayLike<number>): number {
  let value = 0
  for (const { probability, rewards, next } of branches)
    value += probability * ((rewards[seat] as number) + (next === null ? 0 : (values[next] as number)))
  return value
}

/**
 * The probability that each node is reached by the moves of some seats; those of the others count as certain. Chance is
 * counted if it is asked for.
 */
export function reachOf(
  { nodes, starts }: GameGraph,
  profile: Probabilities,
  by: { readonly moves: (node: GameNode) => boolean; readonly chance: boolean },
): Float64Array {
  const reach = new Float64Array(nodes.length)
  const pass = (branches: readonly GameBranch[], weight: number): void => {
    for (const { probability, next } of branches)
      if (next !== null) reach[next] = (reach[next] as number) + weight * (by.chance ? probability : 1)
  }
  pass(starts, 1)
  for (let at = nodes.length - 1; at >= 0; at--) {
    const node = nodes[at] as GameNode
    const chances = by.moves(node) ? (profile[node.decision] as readonly number[]) : null
    for (const [action, branches] of node.outcomes.entries())
      pass(branches, (reach[at] as number) * (chances ? (chances[action] as number) : 1))
  }
  return reach
}
