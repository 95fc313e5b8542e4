import { ContextError } from './context-error.ts'
import type { IntentCandidate } from './interpreter.ts'

/** A candidate, and what would handle it. */
export interface Route extends IntentCandidate {
  /** `null` for a command, such as `cancel`. */
  readonly context: string | null
  /** The frame that would handle it; `null` if the context would be opened, and for a command. */
  readonly frame: number | null
  /** Whether the active frame would handle it. True for a command. */
  readonly active: boolean
}

export type RouteDecision =
  | { readonly kind: 'take'; readonly route: Route }
  /** Two or more are equally likely: the user is asked to choose. */
  | { readonly kind: 'ask'; readonly routes: readonly Route[] }
  /** None is likely enough: the user is asked what they mean. */
  | { readonly kind: 'none' }

/**
 * Picks one of the possible routes. A port: pure. `routes` are sorted by score, best first; their slots are valid and
 * their guards have agreed. The decision contains only routes from `routes`.
 */
export type Router = (routes: readonly Route[]) => RouteDecision

const MAX_OPTIONS = 4

export interface RouterOptions {
  /** The lowest score that is routed, from 0 to 1. Default 0.5. */
  readonly threshold?: number
  /** Scores that differ by less than this are equally likely, from 0 to 1. Default 0.1. */
  readonly margin?: number
}

/**
 * Creates the router that conversations use by default.
 *
 * Of the routes that reach the threshold, those of the active context come first: another context has to score higher
 * by at least the margin. If two routes of the winning side are within the margin, the user is asked; likewise if a
 * command competes with any other route, because cancelling something by mistake loses it.
 *
 * Throws `definition-invalid` if a bound is not from 0 to 1.
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
    return { kind: 'ask', routes: meant.slice(0, MAX_OPTIONS) }
  }
}
