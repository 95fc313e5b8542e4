import type { GameBranch, GameGraph, GameNode } from './game-graph.ts'
import { type Probabilities, profileValue, reachOf } from './profile-values.ts'

/** The most that a seat can earn against a profile, and the index of its action in each of its information sets. */
export interface Response {
  readonly value: number
  readonly choices: ReadonlyMap<number, number>
}

/** Computes the best response of a seat to the other seats of a profile. */
export function respondBest(graph: GameGraph, profile: Probabilities, seat: number): Response {
  const { nodes } = graph
  const reach = reachOf(graph, profile, { moves: (node) => node.seat !== seat, chance: true })
  const members = Map.groupBy(nodes.keys(), (at) => (nodes[at] as GameNode).decision)
  const values = new Map<number, number>()
  const choices = new Map<number, number>()
  // An information set is decided only when what follows all of its nodes is known: a seat remembers what it did, so
  // that none of these comes after another.
  const choose = (decision: number): number => {
    const known = choices.get(decision)
    if (known !== undefined) return known
    const at = members.get(decision) as number[]
    const actions = (nodes[at[0] as number] as GameNode).outcomes.map((_, action) =>
      at.reduce(
        (sum, node) => sum + (reach[node] as number) * follow((nodes[node] as GameNode).outcomes[action] ?? []),
        0,
      ),
    )
    const best = actions.indexOf(Math.max(...actions))
    choices.set(decision, best)
    return best
  }
  const valueAt = (at: number): number => {
    const known = values.get(at)
    if (known !== undefined) return known
    const node = nodes[at] as GameNode
    const chances = profile[node.decision] as readonly number[]
    const value =
      node.seat === seat
        ? follow(node.outcomes[choose(node.decision)] ?? [])
        : node.outcomes.reduce((sum, branches, action) => sum + (chances[action] as number) * follow(branches), 0)
    values.set(at, value)
    return value
  }
  const follow = (branches: readonly GameBranch[]): number =>
    branches.reduce(
      (sum, { probability, rewards, next }) =>
        sum + probability * ((rewards[seat] as number) + (next === null ? 0 : valueAt(next))),
      0,
    )
  return { value: follow(graph.starts), choices }
}

/** The sum of what each seat could gain by its best response to the others: 0 in a Nash equilibrium, and only there. */
export function nashConvOf(graph: GameGraph, profile: Probabilities): number {
  return profileValue(graph, profile).reduce(
    (sum, value, seat) => sum + respondBest(graph, profile, seat).value - value,
    0,
  )
}
