import { z } from 'zod'
import { type JsonObject, jsonObjectSchema } from './json.ts'
import { type Limits, limitsSchema } from './limits.ts'

/** Hints about a tool for clients, with MCP's names, meanings and defaults. */
export interface ToolAnnotations {
  /** Changes nothing in the world. MCP's default: false. */
  readonly readOnlyHint?: boolean | undefined
  /** May destroy something. MCP's default: true. */
  readonly destructiveHint?: boolean | undefined
  /** Calling it again with the same arguments changes nothing more. MCP's default: false. */
  readonly idempotentHint?: boolean | undefined
  /** Reaches outside the world, for example the web. MCP's default: true. */
  readonly openWorldHint?: boolean | undefined
}
const toolAnnotationsSchema: z.ZodType<ToolAnnotations> = z.object({
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
})

/** A tool as a player sees it. Schemas are JSON Schema 2020-12. */
export interface ToolInfo {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject | null
  readonly annotations?: ToolAnnotations | undefined
  /** `true`: its calls are sealed, and played when every seat in turn has moved. Left out if not. */
  readonly sealed?: true | undefined
}
const toolInfoSchema: z.ZodType<ToolInfo> = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: jsonObjectSchema,
  outputSchema: jsonObjectSchema.nullable(),
  annotations: toolAnnotationsSchema.optional(),
  sealed: z.literal(true).optional(),
})

/** A type of outside events that an environment accepts. The schema is JSON Schema 2020-12. */
export interface EventInfo {
  readonly type: string
  readonly description: string
  readonly dataSchema: JsonObject
}
const eventInfoSchema: z.ZodType<EventInfo> = z.object({
  type: z.string(),
  description: z.string(),
  dataSchema: jsonObjectSchema,
})

/** One seat of an environment that has several. */
export interface SeatInfo {
  readonly name: string
  /** The names of its tools. */
  readonly tools: readonly string[]
}
const seatInfoSchema: z.ZodType<SeatInfo> = z.object({ name: z.string(), tools: z.array(z.string()) })

/** An environment that a server can open. */
export interface EnvironmentInfo {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly paramsSchema: JsonObject
  readonly tools: readonly ToolInfo[]
  /** Names of the reward terms. */
  readonly terms: readonly string[]
  /** Whether the environment defines a potential Φ, so that shaping is possible. */
  readonly potential: boolean
  /** Whether the environment defines success, which the last report of an episode then holds. Left out if not. */
  readonly success?: boolean | undefined
  /** Whether the environment lists its legal actions, for `environment/legal`. Left out if not. */
  readonly legal?: boolean | undefined
  /** Whether its sessions can be snapshotted, restored and forked: not if an external server keeps the state. */
  readonly forkable: boolean
  /**
   * The noun in the names of the tools that create and end a session (`create_<handle>`). Left out if there are none.
   */
  readonly handle?: string | undefined
  /** Its seats, in order. Left out if it has one seat. */
  readonly seats?: readonly SeatInfo[] | undefined
  /** What each seat sees as data, as JSON Schema 2020-12. Left out if there is one seat. */
  readonly viewSchema?: JsonObject | undefined
  /** Outside events that can be published to its sessions. Left out if there are none. */
  readonly events?: readonly EventInfo[] | undefined
  /** The limits of a session whose opener sets none. */
  readonly limits: Limits
}
export const environmentInfoSchema: z.ZodType<EnvironmentInfo> = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  paramsSchema: jsonObjectSchema,
  tools: z.array(toolInfoSchema),
  terms: z.array(z.string()),
  potential: z.boolean(),
  success: z.boolean().optional(),
  legal: z.boolean().optional(),
  forkable: z.boolean(),
  handle: z.string().optional(),
  seats: z.array(seatInfoSchema).optional(),
  viewSchema: jsonObjectSchema.optional(),
  events: z.array(eventInfoSchema).optional(),
  limits: limitsSchema,
})
