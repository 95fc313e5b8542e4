import type { TasksDefinition } from '@episodic/dataset'
import type { Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { GameReference } from './game-measure.ts'

/** A game of several seats of this package: what its own entry exports. */
export interface ClassicGame {
  readonly environment: EnvironmentDefinition
  readonly tasks: TasksDefinition
  /** Plays any seat. */
  readonly solver: Policy
  readonly references: readonly GameReference[]
}
