import { z } from 'zod'
import { type EpisodeEnd, episodeEndSchema } from './episode-end.ts'
import { type JsonObject, jsonObjectSchema } from './json.ts'
import { type Limits, limitsRequestSchema, limitsSchema } from './limits.ts'
import { type AppliedEvent, appliedEventSchema, type PublishedEvent, publishedEventSchema } from './outside-event.ts'
import { type SessionSnapshot, sessionSnapshotSchema } from './session-snapshot.ts'
import {
  type Action,
  actionSchema,
  type Observation,
  observationSchema,
  type StepReport,
  stepReportSchema,
} from './step.ts'

/** The version by which servers and clients introduce themselves: that of the wire they share. */
export const WIRE_VERSION = '1.0.0'

/** The MCP extension that the trainer endpoint speaks, named in `capabilities.extensions`. */
export const EXTENSION = 'dev.episodic/environment'

/** The extension's methods. They exist at the trainer endpoint alone; the agent endpoint answers "method not found". */
export const METHODS = {
  /** The first message of a connection that carries no headers, where the door asks who calls. */
  authenticate: 'environment/authenticate',
  list: 'environment/list',
  open: 'environment/open',
  state: 'environment/state',
  legal: 'environment/legal',
  watch: 'environment/watch',
  publish: 'environment/publish',
  sessions: 'environment/sessions',
  dump: 'environment/dump',
  snapshot: 'environment/snapshot',
  restore: 'environment/restore',
  fork: 'environment/fork',
  close: 'environment/close',
} as const

/** Keys in `_meta`. Requests carry the first three, answers of the trainer endpoint the last two. */
export const META = {
  /** The control handle of the session that a `tools/call` steps. */
  session: 'dev.episodic/session',
  /** How many steps of the seat the caller believes were applied. */
  seq: 'dev.episodic/seq',
  /** The epoch that the caller holds; an older one than the session's is fenced. */
  epoch: 'dev.episodic/epoch',
  /** The {@link StepReport} of this answer. */
  step: 'dev.episodic/step',
  /** `true` when the answer is a stored one. */
  replayed: 'dev.episodic/replayed',
} as const

/** The seat of a session that names no seats. */
export const DEFAULT_SEAT = 'agent'

/** Hints about a tool for clients, with MCP's names and meanings. A hint that is left out has MCP's default. */
export interface ToolAnnotations {
  /** Changes nothing in the world, such as a look around. MCP's default: false. */
  readonly readOnlyHint?: boolean | undefined
  /** May destroy something. MCP's default: true. */
  readonly destructiveHint?: boolean | undefined
  /** Calling it again with the same arguments changes nothing more. MCP's default: false. */
  readonly idempotentHint?: boolean | undefined
  /** Reaches beyond the world, such as to the web. MCP's default: true. */
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
}
const toolInfoSchema: z.ZodType<ToolInfo> = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: jsonObjectSchema,
  outputSchema: jsonObjectSchema.nullable(),
  annotations: toolAnnotationsSchema.optional(),
})

/** A type of outside events that a world takes. The schema is JSON Schema 2020-12. */
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

/** A world that a server can open. */
export interface EnvironmentInfo {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly paramsSchema: JsonObject
  readonly tools: readonly ToolInfo[]
  /** Names of the reward terms. */
  readonly terms: readonly string[]
  /** Whether the world defines a potential Φ, so that shaping is possible. */
  readonly potential: boolean
  /** Whether the world defines success, so that the report of an episode's end has it. Left out where it does not. */
  readonly success?: boolean | undefined
  /** Whether the world says which actions its rules accept, so that `environment/legal` can be asked. Left out where it does not. */
  readonly legal?: boolean | undefined
  /** Whether its sessions can be snapshotted, restored and forked: not where somebody else keeps the state. */
  readonly forkable: boolean
  /** What a session is called in the tools that make, name and end one (`create_<handle>`); left out where there are none. */
  readonly handle?: string | undefined
  /** Outside events that can be published to its sessions; left out where it takes none. */
  readonly events?: readonly EventInfo[] | undefined
  /** What a session gets when its opener names no limits. */
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
  events: z.array(eventInfoSchema).optional(),
  limits: limitsSchema,
})
export const listResultSchema = z.object({ environments: z.array(environmentInfoSchema) })

/** What `environment/authenticate` takes: a bearer token of the trainer endpoint. It answers `{}`, or the connection ends. */
export const authenticateParamsSchema = z.strictObject({ token: z.string(), _meta: z.unknown().optional() })

/** What `environment/open` takes. */
export const openParamsSchema = z.strictObject({
  environment: z.string().min(1),
  /** Refused when the server has another version; left out, any will do. */
  version: z.string().min(1).optional(),
  params: jsonObjectSchema.default({}),
  /** Left out, the host draws one. The same seed, parameters and actions give the same episode. */
  seed: z.string().min(1).max(256).optional(),
  limits: limitsRequestSchema.default({}),
  /** At least 128 random bits made by the caller. Opening again with the same key gives the same session. */
  requestKey: z.string().min(16).max(256),
  _meta: z.unknown().optional(),
})
export type OpenParams = z.input<typeof openParamsSchema>

/** One seat of an open session. */
export interface OpenSeat {
  /** The agent capability: good for this seat's tools at the agent endpoint, at `/mcp/s/<capability>`, and for nothing else. */
  readonly capability: string
  /** How the world stands where the session begins. */
  readonly observation: Observation
  /** Answered steps at that moment: what the first step sends. 0 unless the session was restored or forked. */
  readonly seq: number
}

/** What `environment/open` and `environment/restore` answer, and `environment/fork` for each fork. */
export interface OpenResult {
  /** Names the session in lists and logs; no secret. */
  readonly id: string
  /** The control handle: a secret that steps, watches and closes the session at the trainer endpoint. */
  readonly session: string
  readonly epoch: number
  readonly environment: { readonly name: string; readonly version: string }
  /** The parameters with defaults filled in. */
  readonly params: JsonObject
  readonly seed: string
  readonly limits: Limits
  readonly seats: { readonly [seat: string]: OpenSeat }
  /** Φ where the session begins; `null` where the world has none. */
  readonly potential: number | null
}
export const openResultSchema: z.ZodType<OpenResult> = z.object({
  id: z.string(),
  session: z.string(),
  epoch: z.int(),
  environment: z.object({ name: z.string(), version: z.string() }),
  params: jsonObjectSchema,
  seed: z.string(),
  limits: limitsSchema,
  seats: z.record(
    z.string(),
    z.object({ capability: z.string(), observation: observationSchema, seq: z.int().min(0) }),
  ),
  potential: z.number().nullable(),
})

/** What `environment/snapshot` takes. */
export const snapshotParamsSchema = z.strictObject({
  session: z.string(),
  /** How many steps were answered at the moment that is asked for; left out, the present. */
  at: z.int().min(0).optional(),
  _meta: z.unknown().optional(),
})
export const snapshotResultSchema = z.object({ snapshot: sessionSnapshotSchema })

/** What `environment/restore` takes: a new session begins where the snapshot was taken. */
export const restoreParamsSchema = z.strictObject({
  snapshot: sessionSnapshotSchema,
  /** As for `environment/open`. */
  requestKey: z.string().min(16).max(256),
  _meta: z.unknown().optional(),
})
export interface RestoreRequest {
  readonly snapshot: SessionSnapshot
  readonly requestKey: string
}

/** What `environment/fork` takes: new sessions of the same owner begin where this one stands, or stood. */
export const forkParamsSchema = z.strictObject({
  session: z.string(),
  /** As for `environment/snapshot`. */
  at: z.int().min(0).optional(),
  count: z.int().min(1).max(1_000).default(1),
  /** Fork i (from 0) gets the seed `seedFor(seed, 'fork', i)` and fresh chance; left out, all have that of their parent. */
  seed: z.string().min(1).max(256).optional(),
  /** As for `environment/open`: forking again with the same key gives the same forks. */
  requestKey: z.string().min(16).max(256),
  _meta: z.unknown().optional(),
})
export const forkResultSchema = z.object({ forks: z.array(openResultSchema) })

/**
 * The actions that the rules of a session accept in its public state: for each tool that may be called now, a JSON Schema of
 * the arguments, which is its input schema or narrower. Empty once the episode has ended.
 */
export interface LegalActions {
  readonly [tool: string]: JsonObject
}
/** What `environment/legal` answers. */
export const legalResultSchema = z.object({ tools: z.record(z.string(), jsonObjectSchema) })

/** What `environment/state`, `environment/legal` and `environment/close` take. */
export const sessionParamsSchema = z.strictObject({ session: z.string(), _meta: z.unknown().optional() })

/** The truth about a session, private state included: for the trainer endpoint alone. */
export interface StateResult {
  readonly id: string
  readonly environment: { readonly name: string; readonly version: string }
  readonly revision: number
  readonly epoch: number
  /** Answered steps of each seat. */
  readonly seats: { readonly [seat: string]: { readonly seq: number } }
  /** Virtual time, in milliseconds. */
  readonly now: number
  readonly state: { readonly public: JsonObject; readonly private: JsonObject }
  readonly end: EpisodeEnd | null
}
export const stateResultSchema: z.ZodType<StateResult> = z.object({
  id: z.string(),
  environment: z.object({ name: z.string(), version: z.string() }),
  revision: z.int(),
  epoch: z.int(),
  seats: z.record(z.string(), z.object({ seq: z.int() })),
  now: z.number(),
  state: z.object({ public: jsonObjectSchema, private: jsonObjectSchema }),
  end: episodeEndSchema.nullable(),
})

/** What `environment/watch` takes: the entries after revision `after`, waiting up to `wait` seconds for the first. */
export const watchParamsSchema = z.strictObject({
  session: z.string(),
  after: z.int().min(0).default(0),
  limit: z.int().min(1).max(1_000).default(100),
  wait: z.number().min(0).max(60).default(0),
  _meta: z.unknown().optional(),
})
export type WatchParams = z.input<typeof watchParamsSchema>

/** One answered step as the session's step log keeps it. */
export interface LoggedStep {
  readonly seat: string
  readonly action: Action
  readonly observation: Observation
  readonly report: StepReport
  /** Events that its tool published, oldest first, applied with it. Left out where there were none. */
  readonly published?: readonly PublishedEvent[] | undefined
}
export interface WatchResult {
  readonly steps: readonly LoggedStep[]
  /**
   * Outside events after revision `after` that no step has followed yet, oldest first. The next step tells of them too, in
   * its report, so whoever watches on knows them by their revision. Where one of them has ended the episode, one step may
   * follow. Left out where there are none.
   */
  readonly events?: readonly AppliedEvent[] | undefined
  readonly end: EpisodeEnd | null
}
export const watchResultSchema: z.ZodType<WatchResult> = z.object({
  steps: z.array(
    z.object({
      seat: z.string(),
      action: actionSchema,
      observation: observationSchema,
      report: stepReportSchema,
      published: z.array(publishedEventSchema).optional(),
    }),
  ),
  events: z.array(appliedEventSchema).optional(),
  end: episodeEndSchema.nullable(),
})

/** A live session as an operator sees it. Holds no secret and no state. */
export interface SessionSummary {
  readonly id: string
  readonly environment: string
  readonly owner: string | null
  /** Seconds since it was opened, and since its last finished call. */
  readonly age: number
  readonly idle: number
  /** UTF-8 bytes that the store keeps for it, its step log included. */
  readonly bytes: number
  readonly steps: number
  /** Entries of the bounded history that the world keeps. */
  readonly history: number
  readonly end: EpisodeEnd | null
}
export const sessionsParamsSchema = z.strictObject({
  /** Sessions come in the order of their ids; pass the last id of one page to get the next. */
  after: z.string().optional(),
  limit: z.int().min(1).max(1_000).default(100),
  _meta: z.unknown().optional(),
})
export const sessionsResultSchema = z.object({
  total: z.int(),
  sessions: z.array(
    z.object({
      id: z.string(),
      environment: z.string(),
      owner: z.string().nullable(),
      age: z.number(),
      idle: z.number(),
      bytes: z.int(),
      steps: z.int(),
      history: z.int(),
      end: episodeEndSchema.nullable(),
    }),
  ),
})

/** What `environment/dump` takes: the id of a session, as `environment/sessions` lists it, and a page of its step log. */
export const dumpParamsSchema = z.strictObject({
  id: z.string().min(1),
  /** Includes private state and what it can be computed from; what the world lists as secret is hidden all the same. */
  private: z.boolean().default(false),
  after: z.int().min(0).default(0),
  limit: z.int().min(1).max(1_000).default(100),
  _meta: z.unknown().optional(),
})
export type DumpRequest = Omit<z.output<typeof dumpParamsSchema>, '_meta'>

/** What `environment/dump` answers. */
export interface DumpResult {
  /** The record of the session, without its step log. */
  readonly session: JsonObject
  /** Entries after revision `after`, in order: see {@link LoggedStep}. */
  readonly log: readonly JsonObject[]
  /** What to send as `after` for the next page; `null` after the last. */
  readonly next: number | null
}
export const dumpResultSchema: z.ZodType<DumpResult> = z.object({
  session: jsonObjectSchema,
  log: z.array(jsonObjectSchema),
  next: z.int().nullable(),
})

/** What `environment/close` answers: how the episode ended. The session is gone after it, and closing again finds none. */
export interface CloseResult {
  readonly end: EpisodeEnd
  /** Whether the episode succeeded, where this request ended it and the world defines success. Left out otherwise. */
  readonly success?: boolean | undefined
}
export const closeResultSchema: z.ZodType<CloseResult> = z.object({
  end: episodeEndSchema,
  success: z.boolean().optional(),
})
