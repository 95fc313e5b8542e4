import type { TasksDefinition } from '@episodic/dataset'
import type { Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Action, Json, JsonObject } from '@episodic/protocol'
import type { Reference } from './reference.ts'

/** A policy that goes by the public state and the number of steps before. */
export type Strategy = (state: JsonObject, step: number) => Action

/** A world of this package: what its own entry exports, and what measuring its references takes. */
export interface Classic {
  readonly environment: EnvironmentDefinition
  readonly tasks: TasksDefinition
  readonly solver: Policy
  readonly references: readonly Reference[]
  /** Whether the private state decides something, so that exact values are those of players that do not see it. */
  readonly hasSecrets?: boolean
  /** Lists the public states in the order of the reference's transition table. Default: in the order of discovery. */
  readonly states?: (params: JsonObject) => readonly JsonObject[]
  /** Returns the part of a public state that decides what follows. Default: all of it. */
  readonly keyOf?: (state: JsonObject) => Json
  /** What {@link Reference.how} names. */
  readonly strategies?: { readonly [name: string]: Strategy }
}

/** Returns a strategy that a reference names. Throws a `RangeError` if the world has none of the name. */
export function strategyOf(
  { environment, strategies = {} }: Pick<Classic, 'environment' | 'strategies'>,
  name: string,
): Strategy {
  const strategy = strategies[name]
  if (!strategy) throw new RangeError(`${environment.name} has no strategy "${name}".`)
  return strategy
}
