import { ContextError } from './context-error.ts'
import type { IntentCandidate } from './interpreter.ts'

/** One way an utterance could go: a candidate, and who would take it. */
export interface Route extends IntentCandidate {
  /** `null` for a command, such as `cancel`. */
  readonly context: string | null
  /** The frame that would take it; `null` where the context would be opened, and for a command. */
  readonly frame: number | null
  /** Whether the active frame would take it. A command counts as its own. */
  readonly active: boolean
}

/** What a router decides. */
export type RouteDecision =
  | { readonly kind: 'take'; readonly route: Route }
  /** Two or more could be meant: the user is asked. */
  | { readonly kind: 'ask'; readonly routes: readonly Route[] }
  /** None is good enough: the user is asked what they mean. */
  | { readonly kind: 'none' }

/**
 * Picks among the ways that are open: best score first, slots checked and guards asked. A port: pure, and what it returns
 * is among what it was given.
 */
export type Router = (routes: readonly Route[]) => RouteDecision

/** How many ways a user is asked to choose between, at most. */
const MAX_ASKED = 4

export interface RouterOptions {
  /** The lowest score that is acted on, from 0 to 1. Default 0.5. */
  readonly threshold?: number
  /** Scores that differ by less than this are equally likely, from 0 to 1. Default 0.1. */
  readonly margin?: number
}

/**
 * Creates the router that conversations use by default.
 *
 * Of the ways that reach the threshold, those of the active context come first: another context has to be better by at
 * least the margin. Among the ways of whoever comes first, two within the margin are asked about, never guessed; so is a
 * command that competes with anybody's way, because giving something up by mistake loses it.
 *
 * Throws `definition-invalid` where a bound is not from 0 to 1.
 */
export function createRouter({ threshold = 0.5, margin = 0.1 }: RouterOptions = {}): Router {
  for (const [name, value] of Object.entries({ threshold, margin }))
    if (!(value >= 0 && value <= 1))
      throw new ContextError('definition-invalid', `The ${name} of a router is ${value}, and has to be from 0 to 1.`)
  return (routes) => {
    const likely = routes.filter(({ score }) => score >= threshold)
    const [own, other] = [likely.find(({ active }) => active), likely.find(({ active }) => !active)]
    const digression = other && (!own || other.score - own.score >= margin)
    const best = digression ? other : own
    if (!best) return { kind: 'none' }
    const meant = likely.filter(
      (route) =>
        Math.abs(best.score - route.score) < margin &&
        (route.active === best.active || route.context === null || best.context === null),
    )
    if (meant.length === 1) return { kind: 'take', route: best }
    return { kind: 'ask', routes: meant.slice(0, MAX_ASKED) }
  }
}
