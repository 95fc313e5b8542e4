import type { Action } from '@episodic/protocol'
import { z } from 'zod'
import type { EnvironmentDefinition } from './environment.ts'

const absenceSchema = z.enum(['turn-limit', 'step-limit', 'left'])

/** Why the server takes a seat's step: its time or steps are over, or its player has left, as the opener says. */
export type Absence = z.infer<typeof absenceSchema>

/** The tool of the server's step for an absent seat. No player can call it: see {@link absenceOf}. */
export const ABSENT = 'absent'

/**
 * Whether the rules judge what the only player leaves when it goes before the end. With several seats, they decide what
 * a seat loses that does not act, and the episode goes on.
 */
export function judgesLeft({ absent, multiplayer }: Pick<EnvironmentDefinition, 'absent' | 'multiplayer'>): boolean {
  return absent !== null && !multiplayer
}

export function absenceAction(cause: Absence): Action {
  return { tool: ABSENT, arguments: { cause } }
}

/**
 * Returns why a seat is absent, if the action is the server's step for it; `null` for an action of a player. A player's
 * call of a tool that does not exist has lost its arguments.
 *
 * @param environment - is played: one of one seat without `absent` may have a tool of that name. Default: any other.
 */
export function absenceOf(
  { tool, arguments: { cause } }: Action,
  environment?: Pick<EnvironmentDefinition, 'absent' | 'multiplayer'>,
): Absence | null {
  if (environment && !environment.absent && !environment.multiplayer) return null
  const parsed = tool === ABSENT ? absenceSchema.safeParse(cause) : null
  return parsed?.success ? parsed.data : null
}
