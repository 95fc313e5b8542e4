import type { JsonObject, Observation, SessionSnapshot } from '@episodic/protocol'
import type { z } from 'zod'
import type { CallOptions, Environment, Playable, ResetOptions, ResetResult, StepResult } from './environment.ts'

/** The part of an environment definition that is read here: name, version, and the schemas that type its play. */
export interface EnvironmentSchemas {
  readonly name: string
  readonly version: string
  readonly state: { readonly public: z.ZodType }
  readonly tools: { readonly [name: string]: { readonly input: z.ZodType; readonly output: z.ZodType | null } }
}

/**
 * An environment whose actions and structured observations have the types of a definition. They are not checked again:
 * the server checks arguments and answers against the same schemas.
 */
export interface TypedEnvironment<Schemas extends EnvironmentSchemas> extends Environment {
  reset(task?: Playable, options?: ResetOptions): Promise<ResetResult & Observed<PublicState<Schemas>>>
  restore(snapshot: SessionSnapshot, options?: CallOptions): Promise<ResetResult & Observed<PublicState<Schemas>>>
  step<Tool extends keyof Schemas['tools'] & string>(
    action: { readonly tool: Tool; readonly arguments: z.input<Schemas['tools'][Tool]['input']> & JsonObject },
    options?: CallOptions,
  ): Promise<StepResult & Observed<Answer<Schemas, Tool> | null>>
}

type PublicState<Schemas extends EnvironmentSchemas> = z.output<Schemas['state']['public']>

/** The structured answer of a tool: by its own schema, or else the public state. A refused step has none. */
type Answer<
  Schemas extends EnvironmentSchemas,
  Tool extends keyof Schemas['tools'],
> = Schemas['tools'][Tool]['output'] extends z.ZodType
  ? z.output<Schemas['tools'][Tool]['output']>
  : PublicState<Schemas>

interface Observed<Structured> {
  readonly observation: Observation & { readonly structured: Structured }
}
