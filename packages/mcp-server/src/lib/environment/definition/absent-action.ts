import type { Action } from '@episodic/protocol'
import { z } from 'zod'

const absenceSchema = z.enum(['turn-limit', 'step-limit', 'left'])

/**
 * Why the server takes the step of a seat that does not act: its time for the turn is over, it has no steps left, or
 * the opener of the session says that its player has left.
 */
export type Absence = z.infer<typeof absenceSchema>

/**
 * The tool of the step that the server takes for a seat that is absent. No player can call it: see {@link absenceOf}.
 */
export const ABSENT = 'absent'

/** Returns the step that the server takes for an absent seat. */
export function absenceAction(cause: Absence): Action {
  return { tool: ABSENT, arguments: { cause } }
}

/**
 * Returns why a seat is absent, if the action is the server's step for it; `null` for an action of a player. A player's
 * call of a tool that does not exist has lost its arguments.
 */
export function absenceOf({ tool, arguments: { cause } }: Action): Absence | null {
  const parsed = tool === ABSENT ? absenceSchema.safeParse(cause) : null
  return parsed?.success ? parsed.data : null
}
