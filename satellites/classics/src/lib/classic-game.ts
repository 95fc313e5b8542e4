import type { Json, JsonObject } from '@episodic/protocol'
import type { Classic } from './classic.ts'
import type { GameReference } from './game-reference.ts'

/**
 * A game of several seats of this package: what its own entry exports, and what measuring its references takes. The
 * solver plays any seat; strategies go by the view of theirs.
 */
export interface ClassicGame extends Pick<Classic, 'environment' | 'tasks' | 'solver' | 'strategies'> {
  readonly references: readonly GameReference[]
  /** Returns one value for all public states that are equal up to the game's symmetries. */
  readonly symmetric?: (state: JsonObject) => Json
}
