import type { Measure, Reference } from './reference.ts'

/**
 * The strategies of all seats: uniformly random actions, backward induction, the average of a solver after some
 * iterations, a named strategy of the game in every seat, or one of these for each seat.
 */
export type NamedProfile =
  | 'uniform'
  | 'backward-induction'
  | { readonly solver: 'cfr' | 'cfrPlus'; readonly iterations: number }
  | { readonly strategy: string }
  | { readonly seats: { readonly [seat: string]: NamedProfile } }

/** How a reference of a game of several seats is measured, by its rules as they are served. */
export type GameMeasure =
  /** The number of information sets of each seat. */
  | { readonly kind: 'information-sets' }
  /** The number of ways in which an episode ends. */
  | { readonly kind: 'ends' }
  /** What the first seat is expected to earn. */
  | { readonly kind: 'game-value'; readonly profile: NamedProfile }
  /** What the seats gain by their best responses, in sum. */
  | { readonly kind: 'nash-conv'; readonly profile: NamedProfile }
  /** The numbers of different positions after 0, 1, … steps. */
  | { readonly kind: 'positions'; readonly plies: number }
  /** The same, where positions that the game's symmetries make equal are one. */
  | { readonly kind: 'symmetric-positions'; readonly plies: number }
  /** The numbers of orders of moves after 0, 1, … steps. */
  | { readonly kind: 'courses'; readonly plies: number }
  /** The numbers of whole games that the first seat wins, that the second wins, and that nobody wins. */
  | { readonly kind: 'ending-courses' }
  /** The chances that the first seat wins, that the second wins, and that nobody wins. */
  | { readonly kind: 'ending-chances'; readonly profile: NamedProfile }
  /** What each seat earns in one match of named strategies. */
  | { readonly kind: 'match'; readonly strategies: { readonly [seat: string]: string } }

/** A reference of a game of several seats. */
export type GameReference = Reference<GameMeasure>

/** The kinds of measures of worlds of one seat. */
const KINDS_OF_ONE: { readonly [Kind in Measure['kind']]: true } = {
  table: true,
  'expected-return': true,
  trajectory: true,
  played: true,
}

/** Returns whether a reference is of a game of several seats. */
export function isOfGame(reference: Reference | GameReference): reference is GameReference {
  return !Object.hasOwn(KINDS_OF_ONE, reference.how.kind)
}
