import { z } from 'zod'
import { jsonObjectSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'
import { limitsSchema } from './limits.ts'

const toolAnnotationsSchema = z.object({
  /** Changes nothing in the world. MCP's default: false. */
  readOnlyHint: z.boolean().optional(),
  /** May destroy something. MCP's default: true. */
  destructiveHint: z.boolean().optional(),
  /** Calling it again with the same arguments changes nothing more. MCP's default: false. */
  idempotentHint: z.boolean().optional(),
  /** Reaches outside the world, for example the web. MCP's default: true. */
  openWorldHint: z.boolean().optional(),
})
/** Hints about a tool for clients, with MCP's names, meanings and defaults. */
export type ToolAnnotations = Wire<typeof toolAnnotationsSchema>

const toolInfoSchema = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: jsonObjectSchema,
  outputSchema: jsonObjectSchema.nullable(),
  annotations: toolAnnotationsSchema.optional(),
  /** `true`: its calls are sealed, and played when every seat in turn has moved. Left out if not. */
  sealed: z.literal(true).optional(),
  /** An answer of a language model without a call is a call of it: its only argument, which gets the words. */
  speech: z.string().optional(),
})
/** A tool as a player sees it. Schemas are JSON Schema 2020-12. */
export type ToolInfo = Wire<typeof toolInfoSchema>

const eventInfoSchema = z.object({ type: z.string(), description: z.string(), dataSchema: jsonObjectSchema })
/** A type of outside events that an environment accepts. The schema is JSON Schema 2020-12. */
export type EventInfo = Wire<typeof eventInfoSchema>

const seatInfoSchema = z.object({
  name: z.string(),
  tools: z.array(z.string()),
})

export const environmentInfoSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  paramsSchema: jsonObjectSchema,
  tools: z.array(toolInfoSchema),
  terms: z.array(z.string()),
  /** Whether the environment defines a potential Φ, so that shaping is possible. */
  potential: z.boolean(),
  /** Whether the environment defines success, which the last report of an episode then holds. Left out if not. */
  success: z.boolean().optional(),
  /** Names of its further verdicts, which the last report of an episode then holds. Left out if there are none. */
  verdicts: z.array(z.string()).optional(),
  /** `true`: what a player leaves before the end is judged, in a last step. Left out if not. */
  judgesLeft: z.literal(true).optional(),
  /** Whether the environment lists its legal actions, for `environment/legal`. Left out if not. */
  legal: z.boolean().optional(),
  /** `true`: tools appear and vanish within an episode; see the `tools` of an observation. Left out if not. */
  offers: z.literal(true).optional(),
  /** Whether all calls of one answer of a model are played. Default: those of an only seat are. */
  parallelToolCalls: z.boolean().optional(),
  /** What seats have said before their first move. Left out if nothing. */
  greetings: z.record(z.string(), z.string()).optional(),
  /** Whether its sessions can be snapshotted, restored and forked: not if an external server keeps the state. */
  forkable: z.boolean(),
  /** The noun in the names of the tools that create and end a session (`create_<handle>`). Left out if none. */
  handle: z.string().optional(),
  /** Its seats, in order. Left out if it has one seat. */
  seats: z.array(seatInfoSchema).optional(),
  /** What each seat sees as data, as JSON Schema 2020-12. Left out if there is one seat. */
  viewSchema: jsonObjectSchema.optional(),
  /** Outside events that can be published to its sessions. Left out if there are none. */
  events: z.array(eventInfoSchema).optional(),
  limits: limitsSchema,
})
/** An environment that a server can open. */
export type EnvironmentInfo = Wire<typeof environmentInfoSchema>
