import { z } from 'zod'
import type { EpisodeEnd } from './end-reasons.ts'
import { environmentInfoSchema } from './environment-info.ts'
import { episodeEndSchema } from './episode-end.ts'
import { type FullState, fullStateSchema } from './full-state.ts'
import { type JsonObject, jsonObjectSchema, parsedObjectSchema } from './json.ts'
import { type Limits, limitsRequestSchema, limitsSchema } from './limits.ts'
import { type Observation, observationSchema } from './observation.ts'
import {
  type AppliedEvent,
  appliedEventSchema,
  type PublishedEvent,
  publishedEventSchema,
  publishParamsSchema,
  publishResultSchema,
} from './outside-event.ts'
import { type Terms, termsSchema } from './seats-report.ts'
import { sessionSnapshotSchema } from './session-snapshot.ts'
import { type Action, actionSchema, type StepReport, stepReportSchema } from './step.ts'

/** The version that servers and clients report: the version of this wire format. */
export const WIRE_VERSION = '1.0.0'

/** The MCP extension that the trainer endpoint serves, named in `capabilities.extensions`. */
export const EXTENSION = 'dev.episodic/environment'

/** The extension's methods. Only the trainer endpoint has them; the agent endpoint answers "method not found". */
export const METHODS = {
  list: 'environment/list',
  open: 'environment/open',
  state: 'environment/state',
  legal: 'environment/legal',
  turn: 'environment/turn',
  leave: 'environment/leave',
  watch: 'environment/watch',
  publish: 'environment/publish',
  sessions: 'environment/sessions',
  dump: 'environment/dump',
  snapshot: 'environment/snapshot',
  restore: 'environment/restore',
  fork: 'environment/fork',
  close: 'environment/close',
} as const

/** Keys in `_meta`. Requests carry the first four, answers of the trainer endpoint the last two. */
export const META = {
  /** The control handle, or the handle of one seat, of the session in which a `tools/call` is a step. */
  session: 'dev.episodic/session',
  /** How many steps of the seat the caller has had answered. A `tools/call` at the agent endpoint may carry it too. */
  seq: 'dev.episodic/seq',
  /** The epoch that the caller knows; one older than the session's is fenced. */
  epoch: 'dev.episodic/epoch',
  /** The seat that a `tools/call` is a step of; needed if the environment has several. */
  seat: 'dev.episodic/seat',
  /** The {@link StepReport} of this answer. */
  step: 'dev.episodic/step',
  /** `true` if the answer is the stored one of an earlier call. */
  replayed: 'dev.episodic/replayed',
  /** `true` in a `tools/call` asks for `took` in its answer. */
  timed: 'dev.episodic/timed',
  /** Milliseconds from when the server had read the call to its commit, time in the queue of the session included. */
  took: 'dev.episodic/took',
} as const

/** The seat of an environment that declares no seats. */
export const DEFAULT_SEAT = 'agent'

export const listResultSchema = z.object({ environments: z.array(environmentInfoSchema) })

/** Parameters of `environment/open`. */
export const openParamsSchema = z.strictObject({
  environment: z.string().min(1),
  /** The request is rejected if the server has another version. Default: any. */
  version: z.string().min(1).optional(),
  params: parsedObjectSchema.default({}),
  /** Default: drawn by the host. The same seed, parameters and actions give the same episode. */
  seed: z.string().min(1).max(256).optional(),
  limits: limitsRequestSchema.default({}),
  /** At least 128 random bits from the caller. Opening again with the same key returns the same session. */
  requestKey: z.string().min(16).max(256),
  _meta: z.unknown().optional(),
})

/** One seat of an open session. */
interface OpenSeat {
  /**
   * The agent capability: allows this seat's tools at the agent endpoint, at `/mcp/s/<capability>`, and nothing else.
   */
  readonly capability: string
  /**
   * The seat handle: a secret that allows this seat's steps, turns and legal actions at the trainer endpoint, without
   * what other seats see and earn. Left out if the environment has one seat.
   */
  readonly handle?: string | undefined
  /** The observation of the initial state. */
  readonly observation: Observation
  /** Answered steps so far, which the first step sends. 0 unless the session was restored or forked. */
  readonly seq: number
  /** Φ of the initial state for this seat. Left out if the environment has one seat, or defines no potential. */
  readonly potential?: number | undefined
}

/** Result of `environment/open` and `environment/restore`, and of `environment/fork` for each fork. */
export interface OpenResult {
  /** Names the session in lists and logs; not a secret. */
  readonly id: string
  /** The control handle: a secret that allows stepping, watching and closing the session at the trainer endpoint. */
  readonly session: string
  readonly epoch: number
  readonly environment: { readonly name: string; readonly version: string }
  /** The parameters with defaults filled in. */
  readonly params: JsonObject
  readonly seed: string
  readonly limits: Limits
  readonly seats: { readonly [seat: string]: OpenSeat }
  /** The seats that may act first. Left out if the environment has one seat. */
  readonly turn?: readonly string[] | undefined
  /** Φ of the initial state; `null` if the environment defines no potential, or has several seats. */
  readonly potential: number | null
}
export const openResultSchema: z.ZodType<OpenResult> = z.object({
  id: z.string(),
  session: z.string(),
  epoch: z.int(),
  environment: z.object({ name: z.string(), version: z.string() }),
  params: parsedObjectSchema,
  seed: z.string(),
  limits: limitsSchema,
  seats: z.record(
    z.string(),
    z.object({
      capability: z.string(),
      handle: z.string().optional(),
      observation: z.object({ text: z.string(), structured: parsedObjectSchema.nullable() }),
      seq: z.int().min(0),
      potential: z.number().optional(),
    }),
  ),
  turn: z.array(z.string()).optional(),
  potential: z.number().nullable(),
})

/** Parameters of `environment/snapshot`. */
export const snapshotParamsSchema = z.strictObject({
  session: z.string(),
  /** Answered steps at the time of the snapshot. Default: now. */
  at: z.int().min(0).optional(),
  _meta: z.unknown().optional(),
})
export const snapshotResultSchema = z.object({ snapshot: sessionSnapshotSchema })

/** Parameters of `environment/restore`, which opens a new session from a snapshot. */
export const restoreParamsSchema = z.strictObject({
  snapshot: sessionSnapshotSchema,
  /** As for `environment/open`. */
  requestKey: z.string().min(16).max(256),
  _meta: z.unknown().optional(),
})

/**
 * Parameters of `environment/fork`, which opens sessions of the same owner from a present or past state of this one.
 */
export const forkParamsSchema = z.strictObject({
  session: z.string(),
  /** As for `environment/snapshot`. */
  at: z.int().min(0).optional(),
  count: z.int().min(1).max(1_000).default(1),
  /** Fork i (from 0) gets the seed `seedFor(seed, 'fork', i)` and new random streams. Default: those of its parent. */
  seed: z.string().min(1).max(256).optional(),
  /** As for `environment/open`: forking again with the same key returns the same forks. */
  requestKey: z.string().min(16).max(256),
  _meta: z.unknown().optional(),
})
export const forkResultSchema = z.object({ forks: z.array(openResultSchema) })

/**
 * The actions that the rules accept in the current public state: for each tool that may be called, a JSON Schema of its
 * arguments (the tool's input schema, or a narrower one). Empty after the end of the episode.
 */
export interface LegalActions {
  readonly [tool: string]: JsonObject
}
/** Result of `environment/legal`. */
const legalResultSchema = z.object({ tools: z.record(z.string(), jsonObjectSchema) })

/** Parameters of `environment/state` and `environment/close`. */
export const sessionParamsSchema = z.strictObject({ session: z.string(), _meta: z.unknown().optional() })

/** Parameters of `environment/legal`. `seat` is needed if the environment has several. */
const legalParamsSchema = z.strictObject({
  session: z.string(),
  seat: z.string().optional(),
  _meta: z.unknown().optional(),
})

/**
 * Parameters of `environment/turn`, which waits up to `wait` seconds until `seat` may act, or its episode is over.
 */
const turnParamsSchema = z.strictObject({
  session: z.string(),
  seat: z.string(),
  wait: z.number().min(0).max(60).default(0),
  _meta: z.unknown().optional(),
})

/**
 * Parameters of `environment/leave`: the player of `seat` has left, and the rules decide what that means. Rejected with
 * `not-your-turn` until it is the turn of the seat. Answered as `environment/turn`.
 */
const leaveParamsSchema = z.strictObject({ session: z.string(), seat: z.string(), _meta: z.unknown().optional() })

/**
 * What one seat knows of a session. It changes nothing, so it can be asked again: everything since the seat's own last
 * step is in it, until its next one.
 */
export interface TurnResult {
  /** Whether the seat may act now. */
  readonly mine: boolean
  /** The seats that may act now; empty once the episode is over. */
  readonly turn: readonly string[]
  readonly observation: Observation
  /** Texts for the seat since its own last step, oldest first. */
  readonly messages: readonly string[]
  /** Raw reward that the seat earned by the steps of others since its own last step. */
  readonly due: Terms
  /** Φ of the state for this seat; `null` if the environment defines no potential. */
  readonly potential: number | null
  /** How the episode ended for this seat; `null` if it has not. */
  readonly end: EpisodeEnd | null
  /** Whether the seat succeeded, if its episode is over and the environment defines success. */
  readonly success?: boolean | undefined
  /** Answered steps of the seat, which its next step sends. */
  readonly seq: number
  /** Commits of any kind to the session. By a seat handle, the same as `seq`. */
  readonly revision: number
}
const turnResultSchema: z.ZodType<TurnResult> = z.object({
  mine: z.boolean(),
  turn: z.array(z.string()),
  observation: observationSchema,
  messages: z.array(z.string()),
  due: termsSchema,
  potential: z.number().nullable(),
  end: episodeEndSchema.nullable(),
  success: z.boolean().optional(),
  seq: z.int().min(0),
  revision: z.int().min(0),
})

/** The full state of a session, private part included: only for the trainer endpoint. */
export interface StateResult {
  readonly id: string
  readonly environment: { readonly name: string; readonly version: string }
  readonly revision: number
  readonly epoch: number
  /** Answered steps of each seat. */
  readonly seats: { readonly [seat: string]: { readonly seq: number } }
  /** Virtual time, in milliseconds. */
  readonly now: number
  readonly state: FullState
  readonly end: EpisodeEnd | null
}
export const stateResultSchema: z.ZodType<StateResult> = z.object({
  id: z.string(),
  environment: z.object({ name: z.string(), version: z.string() }),
  revision: z.int(),
  epoch: z.int(),
  seats: z.record(z.string(), z.object({ seq: z.int() })),
  now: z.number(),
  state: fullStateSchema,
  end: episodeEndSchema.nullable(),
})

/** Parameters of `environment/watch`: entries after revision `after`, waiting up to `wait` seconds for the first. */
export const watchParamsSchema = z.strictObject({
  session: z.string(),
  after: z.int().min(0).default(0),
  limit: z.int().min(1).max(1_000).default(100),
  wait: z.number().min(0).max(60).default(0),
  _meta: z.unknown().optional(),
})

/** One answered step as the session's step log keeps it. */
export interface LoggedStep {
  readonly seat: string
  readonly action: Action
  readonly observation: Observation
  readonly report: StepReport
  /** Events that its tool published and that were applied with the step, oldest first. Left out if there are none. */
  readonly published?: readonly PublishedEvent[] | undefined
}
export interface WatchResult {
  readonly steps: readonly LoggedStep[]
  /**
   * Outside events after revision `after` that no step has followed yet, oldest first. The report of the next step
   * repeats them, so a watcher recognises them by their revision. If one of them ended the episode, one more step may
   * follow. Left out if there are none.
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

/** An open session as an operator sees it, without secrets and state. */
export interface SessionSummary {
  readonly id: string
  readonly environment: string
  readonly owner: string | null
  /** Seconds since it was opened, and since its last finished call. */
  readonly age: number
  readonly idle: number
  /** UTF-8 bytes that the store keeps for it, its step log included. */
  readonly bytes: number
  /** Answered steps of all seats. */
  readonly steps: number
  /** Answered steps of each seat, and how the episode ended for it; omitted if there is one seat. */
  readonly seats?: { readonly [seat: string]: { readonly steps: number; readonly end: EpisodeEnd | null } } | undefined
  /** The seats that may act; omitted if there is one seat. */
  readonly turn?: readonly string[] | undefined
  /** Entries of the bounded history. */
  readonly history: number
  readonly end: EpisodeEnd | null
}
export const sessionsParamsSchema = z.strictObject({
  /** Sessions come in the order of their ids; pass the last id of one page to get the next. */
  after: z.string().optional(),
  limit: z.int().min(1).max(1_000).default(100),
  _meta: z.unknown().optional(),
})
export const sessionsResultSchema: z.ZodType<{
  readonly total: number
  readonly sessions: readonly SessionSummary[]
}> = z.object({
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
      seats: z.record(z.string(), z.object({ steps: z.int(), end: episodeEndSchema.nullable() })).optional(),
      turn: z.array(z.string()).optional(),
      history: z.int(),
      end: episodeEndSchema.nullable(),
    }),
  ),
})

/**
 * Parameters of `environment/dump`: the id of a session, as listed by `environment/sessions`, and a page of its step
 * log.
 */
const dumpParamsSchema = z.strictObject({
  id: z.string().min(1),
  /**
   * Includes private state and what it can be computed from. Texts that the environment lists as secrets stay hidden.
   */
  private: z.boolean().default(false),
  after: z.int().min(0).default(0),
  limit: z.int().min(1).max(1_000).default(100),
  _meta: z.unknown().optional(),
})

/** Result of `environment/dump`. */
interface DumpResult {
  /** The record of the session, without its step log. */
  readonly session: JsonObject
  /** Entries after revision `after`, in order: see {@link LoggedStep}. */
  readonly log: readonly JsonObject[]
  /** What to send as `after` for the next page; `null` after the last. */
  readonly next: number | null
}
const dumpResultSchema: z.ZodType<DumpResult> = z.object({
  session: jsonObjectSchema,
  log: z.array(jsonObjectSchema),
  next: z.int().nullable(),
})

/** Result of `environment/close`. The session no longer exists afterwards, so closing again does not find it. */
export interface CloseResult {
  readonly end: EpisodeEnd
  /**
   * Whether the episode succeeded, if this request ended it and the environment defines success. Left out otherwise.
   */
  readonly success?: boolean | undefined
}
export const closeResultSchema: z.ZodType<CloseResult> = z.object({
  end: episodeEndSchema,
  success: z.boolean().optional(),
})

/**
 * The schemas of each method, by its name in {@link METHODS}. Parameters are strict, so a misspelt key is reported;
 * results are lenient, so a newer server may add keys.
 */
export const METHOD_SCHEMAS = {
  list: { result: listResultSchema },
  open: { params: openParamsSchema, result: openResultSchema },
  state: { params: sessionParamsSchema, result: stateResultSchema },
  legal: { params: legalParamsSchema, result: legalResultSchema },
  turn: { params: turnParamsSchema, result: turnResultSchema },
  leave: { params: leaveParamsSchema, result: turnResultSchema },
  watch: { params: watchParamsSchema, result: watchResultSchema },
  publish: { params: publishParamsSchema, result: publishResultSchema },
  sessions: { params: sessionsParamsSchema, result: sessionsResultSchema },
  dump: { params: dumpParamsSchema, result: dumpResultSchema },
  snapshot: { params: snapshotParamsSchema, result: snapshotResultSchema },
  restore: { params: restoreParamsSchema, result: openResultSchema },
  fork: { params: forkParamsSchema, result: forkResultSchema },
  close: { params: sessionParamsSchema, result: closeResultSchema },
}

type Method = keyof typeof METHOD_SCHEMAS

/** The parameters of a method as its server reads them: defaults are filled in, and `_meta` is removed. */
export type MethodParams<Name extends Method> = (typeof METHOD_SCHEMAS)[Name] extends {
  readonly params: infer Params extends z.ZodType
}
  ? Omit<z.output<Params>, '_meta'>
  : never

/** The result of a method. */
export type MethodResult<Name extends Method> = (typeof METHOD_SCHEMAS)[Name] extends {
  readonly result: infer Result extends z.ZodType
}
  ? z.output<Result>
  : never
