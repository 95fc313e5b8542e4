import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { canonicalJson, createRng, type JsonObject, seedFor } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import type { Setting } from './check-context.ts'

/** The start of an episode of several seats: what each of them holds. */
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
    const own = seedFor(seed, 'deal', i)
    return { seed: own, state: rehearse(environment, { params, seed: own }).start.state }
  })
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

/**
 * Returns the start of a deal, for the `start` of an environment that begins with it. The environment's own `start`
 * runs first, for the draws that it takes from the session's streams, and once more with the seed of the deal, for what
 * it may keep outside the state.
 */
export function startDealt(
  environment: EnvironmentDefinition,
  context: Parameters<EnvironmentDefinition['start']>[0],
  { seed, state }: Deal,
): SessionState {
  environment.start(context)
  environment.start({ params: context.params, rng: createRng(seed) })
  return structuredClone(state)
}
