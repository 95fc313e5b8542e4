import type { JsonObject } from '@episodic/protocol'
import type { z } from 'zod'

export type AnyParams = z.ZodType<JsonObject, JsonObject>

/** What a dataset needs to know about an environment: its definition, or a literal for one that another server has. */
export interface TaskEnvironment<Params extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly version: string
  /** The names of the tools, or a record that has them as keys. */
  readonly tools: readonly string[] | Readonly<Record<string, unknown>>
  /** Accepts the parameters, and its own output. Default: any JSON object. */
  readonly params?: Params | undefined
}

export function toolNames({ tools }: TaskEnvironment): readonly string[] {
  return isList(tools) ? tools : Object.keys(tools)
}

function isList(tools: TaskEnvironment['tools']): tools is readonly string[] {
  return Array.isArray(tools)
}
