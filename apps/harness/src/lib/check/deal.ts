import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { canonicalJson, createRng, type JsonObject, seedFor } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import type { z } from 'zod'
import type { Setting } from './check-context.ts'

/** The start of an episode: what everybody sees, what each of several seats holds, and what is private. */
export interface Deal {
  /** The seed that dealt it, or most of it. */
  readonly seed: string
  readonly state: SessionState
}

/** Returns the deals of many seeds. */
export function drawDeals(
  environment: EnvironmentDefinition,
  { params }: Setting,
  seed: string,
  count: number,
): readonly Deal[] {
  return Array.from({ length: count }, (_, i) => {
    const own = seedFor(seed, 'beginning', i)
    return { seed: own, state: rehearse(environment, { params, seed: own }).start.state }
  })
}

/** Returns the seats that play from a deal. */
export function seatsOfDeal({ seats }: EnvironmentDefinition, { state: { own } }: Deal): readonly string[] {
  return own ? Object.keys(own) : seats
}

/** Returns what a seat can see of a state, as JSON with sorted keys. */
export function seenBy(state: SessionState, seat: string): string {
  return canonicalJson([state.public, state.own?.[seat] ?? {}])
}

/** Returns the parts of a state that a seat cannot see. */
export function hiddenFrom({ own = {}, private: hidden }: SessionState, seat: string): JsonObject {
  const others = Object.entries(own).filter(([name]) => name !== seat)
  return { own: Object.fromEntries(others) as JsonObject, private: hidden }
}

/** Returns the name of a hidden place in findings: `own.bob.card` in a game; `card` for `private.card` of one seat. */
export function namePlace({ game }: EnvironmentDefinition, place: string): string {
  return game ? place : place.replace(/^private\./, '')
}

/**
 * Returns an environment whose episodes start from a deal. The environment's own `start` runs first, for the draws that
 * it takes from the session's streams, and once more with the seed of the deal, for what it may keep outside the state.
 */
export function dealtEnvironment(environment: EnvironmentDefinition, { seed, state }: Deal): EnvironmentDefinition {
  return {
    ...environment,
    start(context) {
      environment.start(context)
      environment.start({ params: context.params, rng: createRng(seed) })
      return structuredClone(state)
    },
  }
}

/** Whether the schema of the private state accepts a part and keeps all of it. */
export function keepsPrivate({ state }: EnvironmentDefinition, part: JsonObject): boolean {
  return keepsPart(state.private, part)
}

/** Whether the schema of what one of several seats sees accepts a part and keeps all of it. */
export function keepsOwn({ game }: EnvironmentDefinition, part: JsonObject): boolean {
  return game !== null && keepsPart(game.own, part)
}

function keepsPart(schema: z.ZodType, part: JsonObject): boolean {
  const parsed = schema.safeParse(part)
  return parsed.success && JSON.stringify(parsed.data) === JSON.stringify(part)
}
