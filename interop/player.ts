import type { JsonObject } from '@episodic/protocol'

/** A call of a tool, without the id of the session. */
export interface Action {
  readonly tool: string
  readonly arguments: JsonObject
}

/**
 * Plays one episode from what it is shown alone: first the opening observation, then the answer to each of its actions.
 * Throws where it cannot find there what it needs.
 */
export type Player = (shown: string) => Action
