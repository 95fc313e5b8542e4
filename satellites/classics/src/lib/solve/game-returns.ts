import type { Decision, GameBranch, GameGraph, GameNode } from './game-graph.ts'

/** The probabilities of the actions of each information set. */
export type Chances = ReadonlyMap<Decision, readonly number[]>

/** The expected return of each seat, in order, when all play by the chances. */
export function profileReturns({ seats, nodes, starts }: GameGraph, chances: Chances): number[] {
  return seats.map((_, seat) => {
    const values = new Map<GameNode, number>()
    const follow = (branches: readonly GameBranch[]) => expected(branches, seat, (node) => values.get(node) as number)
    for (const node of nodes) values.set(node, weighed(node, chances, follow))
    return follow(starts)
  })
}

/** The most that a seat can earn when the others play by the chances. */
export function bestReturn(graph: GameGraph, chances: Chances, name: string): number {
  const seat = graph.seats.indexOf(name)
  const reach = reachWithout(graph, chances, name)
  const alike = Map.groupBy(graph.nodes, ({ decision }) => decision)
  const choices = new Map<Decision, number>()
  const values = new Map<GameNode, number>()
  // An information set is decided only when what follows all of its nodes is known: a seat remembers what it did, so
  // that none of these comes after another.
  const choose = (decision: Decision): number => {
    const sums = decision.actions.map((_, action) =>
      (alike.get(decision) ?? []).reduce(
        (sum, node) => sum + (reach.get(node) ?? 0) * follow(node.outcomes[action] ?? []),
        0,
      ),
    )
    const choice = choices.get(decision) ?? sums.indexOf(Math.max(...sums))
    choices.set(decision, choice)
    return choice
  }
  const valueAt = (node: GameNode): number => {
    const { decision, outcomes } = node
    const value =
      values.get(node) ??
      (decision.seat === name ? follow(outcomes[choose(decision)] ?? []) : weighed(node, chances, follow))
    values.set(node, value)
    return value
  }
  const follow = (branches: readonly GameBranch[]): number => expected(branches, seat, valueAt)
  return follow(graph.starts)
}

function expected(branches: readonly GameBranch[], seat: number, valueAt: (node: GameNode) => number): number {
  return branches.reduce(
    (sum, { probability, rewards, next }) =>
      sum + probability * ((rewards[seat] as number) + (next === null ? 0 : valueAt(next))),
    0,
  )
}

function weighed(
  { decision, outcomes }: GameNode,
  chances: Chances,
  follow: (branches: readonly GameBranch[]) => number,
): number {
  return outcomes.reduce(
    (sum, branches, action) => sum + (chances.get(decision)?.[action] as number) * follow(branches),
    0,
  )
}

/** The probability that each node is reached by chance and the moves of all seats but one, whose moves are certain. */
function reachWithout({ nodes, starts }: GameGraph, chances: Chances, seat: string): Map<GameNode, number> {
  const reach = new Map<GameNode, number>()
  const pass = (branches: readonly GameBranch[], weight: number): void => {
    for (const { probability, next } of branches)
      if (next) reach.set(next, (reach.get(next) ?? 0) + weight * probability)
  }
  pass(starts, 1)
  for (const node of nodes.toReversed())
    for (const [action, branches] of node.outcomes.entries()) {
      const chance = node.decision.seat === seat ? 1 : (chances.get(node.decision)?.[action] as number)
      pass(branches, (reach.get(node) ?? 0) * chance)
    }
  return reach
}
