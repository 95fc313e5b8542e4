import type { JsonObject } from '@episodic/protocol'

/** A call of a tool, without the id of the session. */
export interface Action {
  readonly tool: string
  readonly arguments: JsonObject
}

/**
 * Plays one episode from what it is shown alone: first the opening observation, then the answer to each of its actions.
 * Throws if it cannot find there what it needs.
 */
export type Player = (shown: string) => Action

/** The groups of the last match in what a player was shown. Throws with all that was shown where there is none. */
export function findIn(shown: string, pattern: RegExp, what: string): readonly string[] {
  const found = [...shown.matchAll(pattern)].at(-1)
  if (!found) throw new Error(`${what} is not in what the player was shown:\n${shown}`)
  return found.slice(1)
}
