import type { JsonObject, Refusal, Truncation } from '@episodic/protocol'
import type { Played, SessionState } from '@episodic/state'
import type { EnvironmentDefinition, GameDefinition } from './environment.ts'
import type { GameEffects } from './game-call.ts'
import type { RulesTurn } from './rules-turn.ts'

/** The definition of an environment of several seats. */
export type GameEnvironment = EnvironmentDefinition & { readonly game: GameDefinition }

/** What the rules decided about one action, before rewards. */
export interface DecidedMove {
  readonly refusal: Refusal | null
  readonly text: string
  /** The data of an answer whose tool declares an output; otherwise the answer has the view of the seat. */
  readonly structured?: JsonObject
  readonly change: Played['change']
  /** `null` if the action was refused, or is sealed until others have moved. */
  readonly effects: GameEffects | null
  /** The seats whose moves were played: of one, or of a whole round. */
  readonly moved: readonly string[]
  /** The state that rewards compare with; default: that before the step. */
  readonly before?: SessionState
  readonly undeclared?: string | undefined
  /** The seats that a round of sealed moves still waits for; default: as the rules say. */
  readonly waiting?: readonly string[]
  /** The limit by which the move ends the episode for all; default: that of the turn. */
  readonly truncation?: Truncation
}

/** Returns the seats that the episode goes on for. */
export function playingSeats({ seats }: Pick<RulesTurn['record'], 'seats'>): readonly string[] {
  return Object.keys(seats).filter((seat) => !seats[seat]?.end)
}
