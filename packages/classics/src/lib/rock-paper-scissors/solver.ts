import { randomPolicy } from '@episodic/env'

/** Throws all hands equally often: the one equilibrium, for any number of rounds. */
export const solver = randomPolicy()
