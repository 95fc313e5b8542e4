import type { TasksDefinition } from '@episodic/dataset'
import type { Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Json, JsonObject } from '@episodic/protocol'
import type { Strategy } from './classic.ts'
import type { GameReference } from './game-reference.ts'

/** A game of several seats of this package: what its own entry exports, and what measuring its references takes. */
export interface ClassicGame {
  readonly environment: EnvironmentDefinition
  readonly tasks: TasksDefinition
  /** Plays any seat. */
  readonly solver: Policy
  readonly references: readonly GameReference[]
  /** What {@link GameReference} names. They go by the view of their seat. */
  readonly strategies?: { readonly [name: string]: Strategy }
  /** Returns one value for all public states that are equal up to the game's symmetries. */
  readonly symmetric?: (state: JsonObject) => Json
}
