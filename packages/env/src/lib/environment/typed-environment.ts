import type { JsonObject, Observation, SessionSnapshot } from '@episodic/protocol'
import type { z } from 'zod'
import type { EnvironmentSchemas, EveryKey, PublicState, ToolOutput } from '../policy/environment-schemas.ts'
import type { CallOptions, Playable, ResetOptions } from '../session/call-options.ts'
import type { StepResult } from '../session/step-result.ts'
import type { Environment, ResetResult } from './environment.ts'

/**
 * An environment whose actions and structured observations have the types of a definition. They are not checked again:
 * the server checks arguments and answers against the same schemas.
 */
export interface TypedEnvironment<Schemas extends EnvironmentSchemas> extends Environment {
  reset(task?: Playable, options?: ResetOptions): Promise<ResetResult & Observed<PublicState<Schemas>>>
  restore(snapshot: SessionSnapshot, options?: CallOptions): Promise<ResetResult & Observed<PublicState<Schemas>>>
  step<Tool extends keyof Schemas['tools'] & string, Given extends z.input<Schemas['tools'][Tool]['input']>>(
    action: {
      readonly tool: Tool
      readonly arguments: Given & JsonObject & WithoutOthers<Given, z.input<Schemas['tools'][Tool]['input']>>
    },
    options?: CallOptions,
  ): Promise<StepResult & Observed<ToolOutput<Schemas, Tool> | null>>
}

/** Refuses a key that the input of a tool does not have, such as a misspelt optional one. */
type WithoutOthers<Given, Input> = unknown extends Input
  ? unknown
  : { readonly [Key in Exclude<keyof Given, EveryKey<Input>>]: never }

interface Observed<Structured> {
  readonly observation: Observation & { readonly structured: Structured }
}
