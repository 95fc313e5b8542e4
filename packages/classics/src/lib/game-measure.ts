import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Reference } from './reference.ts'
import { treeOf } from './solved-policy.ts'

/** The strategies of all seats: uniformly random actions, or the average of a solver after some iterations. */
export type NamedProfile = 'uniform' | { readonly solver: 'cfr' | 'cfrPlus'; readonly iterations: number }

/** How a reference of a game of several seats is measured: on its whole tree, by its rules as they are served. */
export type GameMeasure =
  /** The number of information sets of each seat. */
  | { readonly kind: 'information-sets' }
  /** The number of ways in which an episode ends. */
  | { readonly kind: 'ends' }
  /** What the first seat is expected to earn. */
  | { readonly kind: 'game-value'; readonly profile: NamedProfile }
  /** What the seats gain by their best responses, in sum. */
  | { readonly kind: 'nash-conv'; readonly profile: NamedProfile }

/** A reference of a game of several seats. */
export type GameReference = Reference<GameMeasure>

const KINDS: ReadonlySet<string> = new Set<GameMeasure['kind']>(['information-sets', 'ends', 'game-value', 'nash-conv'])

/** Returns whether a reference is of a game of several seats. */
export function isOfGame(reference: Reference | GameReference): reference is GameReference {
  return KINDS.has(reference.how.kind)
}

/** Measures a reference on the tree of a game. */
export function measureGame(environment: EnvironmentDefinition, { params, how }: GameReference): number | number[] {
  const tree = treeOf(environment, params)
  const profileOf = (named: NamedProfile) => (named === 'uniform' ? tree.uniform : tree[named.solver](named.iterations))
  switch (how.kind) {
    case 'information-sets':
      return environment.seats.map((seat) => tree.decisions.filter((decision) => decision.seat === seat).length)
    case 'ends':
      return tree.ends
    case 'game-value':
      return tree.value(profileOf(how.profile))[environment.seats[0] as string] as number
    case 'nash-conv':
      return tree.nashConv(profileOf(how.profile))
  }
}
