import type { Action, JsonObject } from '@episodic/protocol'

/**
 * Whose returns are computed: the best policy's, the one's that takes every legal action equally often, or that of a
 * function from the public state to an action.
 */
export type SolvedPolicy = 'optimal' | 'uniform' | ((state: JsonObject) => Action)
