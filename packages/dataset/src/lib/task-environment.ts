import type { JsonObject } from '@episodic/protocol'
import type { z } from 'zod'

/** A schema that says nothing beyond "an object of JSON". */
export type AnyParams = z.ZodType<JsonObject, JsonObject>

/**
 * What a dataset has to know of an environment. An environment's own definition fits as it is; so does a literal,
 * for a world that is served elsewhere.
 */
export interface TaskEnvironment<Params extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly version: string
  /** The names of the tools, or a record that has them as keys. */
  readonly tools: readonly string[] | Readonly<Record<string, unknown>>
  /** Accepts the world's parameters, and its own output again. Left out, any JSON object will do. */
  readonly params?: Params | undefined
}

/** The names of an environment's tools, in the order in which it names them. */
export function toolNames({ tools }: TaskEnvironment): readonly string[] {
  return isList(tools) ? tools : Object.keys(tools)
}

function isList(tools: TaskEnvironment['tools']): tools is readonly string[] {
  return Array.isArray(tools)
}
