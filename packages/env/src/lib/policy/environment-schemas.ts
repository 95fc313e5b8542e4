import type { JsonObject } from '@episodic/protocol'
import type { z } from 'zod'

/** The part of an environment definition that is read here: name, version, and the schemas that type its play. */
export interface EnvironmentSchemas {
  readonly name: string
  readonly version: string
  /** Left out if the parameters are not known. */
  readonly params?: z.ZodType
  readonly state: { readonly public: z.ZodType }
  readonly tools: { readonly [name: string]: { readonly input: z.ZodType; readonly output: z.ZodType | null } }
}

export type PublicState<Schemas extends EnvironmentSchemas> = z.output<Schemas['state']['public']>

/** The structured answer of a tool: by its own schema, or else the public state. A refused step has none. */
export type ToolOutput<
  Schemas extends EnvironmentSchemas,
  Tool extends keyof Schemas['tools'],
> = Schemas['tools'][Tool]['output'] extends z.ZodType
  ? z.output<Schemas['tools'][Tool]['output']>
  : PublicState<Schemas>

/** The structured observation of an accepted step or of the start. */
export type EnvironmentOutput<Schemas extends EnvironmentSchemas> =
  | PublicState<Schemas>
  | ToolOutput<Schemas, keyof Schemas['tools'] & string>

export type ParamsOf<Schemas extends EnvironmentSchemas> = Schemas extends {
  readonly params: infer Params extends z.ZodType
}
  ? unknown extends z.output<Params>
    ? JsonObject
    : z.output<Params>
  : JsonObject

/** The keys of an object, or of any member of a union of objects. */
export type EveryKey<T> = T extends unknown ? keyof T : never
