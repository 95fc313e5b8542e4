import type { TasksDefinition } from '@episodic/dataset'
import type { Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Json, JsonObject } from '@episodic/protocol'
import type { Reference } from './reference.ts'
import type { Profile } from './solve/game-tree.ts'

/** A world of this package: what its own entry exports, and what measuring its references takes. */
export interface Classic {
  readonly environment: EnvironmentDefinition
  readonly tasks: TasksDefinition
  /** In a game, it plays any seat. */
  readonly solver: Policy
  readonly references: readonly Reference[]
  /** Lists the public states in the order of the reference's transition table. Default: in the order of discovery. */
  readonly states?: (params: JsonObject) => readonly JsonObject[]
  /** Returns the part of a public state that decides what follows. Default: all of it. */
  readonly keyOf?: (state: JsonObject) => Json
  /** The equilibrium of a game that its references are of. */
  readonly equilibrium?: Profile
}
