import type { GameBranch, GameGraph, GameNode } from './game-graph.ts'
import type { Probabilities } from './profile-values.ts'

/** How an episode may end. */
export interface GameEnding {
  /** What each seat has earned, in the order of the seats. */
  readonly returns: readonly number[]
  readonly probability: number
  /** The number of courses of play that end so: orders of moves and draws. */
  readonly courses: number
}

/** Lists what the seats may have earned in the end, most likely first, when they play a profile. */
export function listEndings({ seats, nodes, starts }: GameGraph, profile: Probabilities): GameEnding[] {
  const endings = new Map<string, GameEnding>()
  const reached = nodes.map(() => new Map<string, GameEnding>())
  const pass = (from: GameEnding, branches: readonly GameBranch[], chance: number): void => {
    for (const { probability, rewards, next } of branches) {
      const returns = from.returns.map((earned, seat) => earned + (rewards[seat] as number))
      const key = returns.join(' ')
      const at = next === null ? endings : (reached[next] as Map<string, GameEnding>)
      const known = at.get(key)
      at.set(key, {
        returns,
        probability: from.probability * chance * probability + (known?.probability ?? 0),
        courses: from.courses + (known?.courses ?? 0),
      })
    }
  }
  pass({ returns: seats.map(() => 0), probability: 1, courses: 1 }, starts, 1)
  // Each node comes after those that it leads to.
  for (let at = nodes.length - 1; at >= 0; at--) {
    const { decision, outcomes } = nodes[at] as GameNode
    for (const from of (reached[at] as Map<string, GameEnding>).values())
      for (const [action, branches] of outcomes.entries())
        pass(from, branches, (profile[decision] as readonly number[])[action] as number)
    reached[at]?.clear()
  }
  return [...endings.values()].sort((a, b) => b.probability - a.probability)
}
