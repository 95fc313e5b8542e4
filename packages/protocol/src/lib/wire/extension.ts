import { z } from 'zod'
import { type JsonObject, jsonObjectSchema, parsedObjectSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'
import { environmentInfoSchema } from './environment-info.ts'
import { episodeEndSchema, judgementShape } from './episode-end.ts'
import { limitsRequestSchema, limitsSchema } from './limits.ts'
import { observationSchema } from './observation.ts'
import { appliedEventSchema, publishedEventSchema, publishResultSchema, publishShape } from './outside-event.ts'
import { termsSchema } from './seats-report.ts'
import { fullStateSchema, sessionSnapshotSchema } from './session-snapshot.ts'
import { actionSchema, type StepReport, stepReportSchema } from './step.ts'

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

/** Keys in `_meta`. Requests carry the first four, and answers of the trainer endpoint the next four. */
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
  /** The `tools` of the {@link Observation} in this answer. Left out where it has none. */
  tools: 'dev.episodic/tools',
  /** `true` if the answer is the stored one of an earlier call. */
  replayed: 'dev.episodic/replayed',
  /** `true` in a `tools/call` asks for `took` in its answer. */
  timed: 'dev.episodic/timed',
  /** Milliseconds from when the server had read the call to its commit, time in the queue of the session included. */
  took: 'dev.episodic/took',
  /** Of the tool that an answer without a call is: the argument that gets the words. */
  speech: 'dev.episodic/speech',
} as const

/** The seat of an environment that declares no seats. */
export const DEFAULT_SEAT = 'agent'

/** At least 128 random bits from the caller. A request that is repeated with its key returns the same sessions. */
const requestKeySchema = z.string().min(16).max(256)
/** Answered steps at the time of a snapshot or a fork. Default: now. */
const atSchema = z.int().min(0).optional()
/** A number of seconds to wait, and a page of a list or a log. */
const waitSchema = z.number().min(0).max(60).default(0)
const pageSchema = { after: z.int().min(0).default(0), limit: z.int().min(1).max(1_000).default(100) }

const openSeatSchema = z.object({
  /** The agent capability: allows this seat's tools at the agent endpoint, at `/mcp/s/<capability>`, alone. */
  capability: z.string(),
  /**
   * The seat handle: a secret that allows this seat's steps, turns and legal actions at the trainer endpoint, without
   * what other seats see and earn. Left out if the environment has one seat.
   */
  handle: z.string().optional(),
  observation: observationSchema
    .pick({ text: true, tools: true })
    .extend({ structured: parsedObjectSchema.nullable() }),
  /** Answered steps so far, which the first step sends. 0 unless the session was restored or forked. */
  seq: z.int().min(0),
  /** Φ of the initial state for this seat. Left out if the environment has one seat, or defines no potential. */
  potential: z.number().optional(),
})

const openResultSchema = z.object({
  /** Names the session in lists and logs; not a secret. */
  id: z.string(),
  /** The control handle: a secret that allows stepping, watching and closing the session at the trainer endpoint. */
  session: z.string(),
  epoch: z.int(),
  environment: z.object({ name: z.string(), version: z.string() }),
  /** The parameters with defaults filled in. */
  params: parsedObjectSchema,
  seed: z.string(),
  limits: limitsSchema,
  seats: z.record(z.string(), openSeatSchema),
  /** The seats that may act first. Left out if the environment has one seat. */
  turn: z.array(z.string()).optional(),
  /** Φ of the initial state; `null` if the environment defines no potential, or has several seats. */
  potential: z.number().nullable(),
})
/** Result of `environment/open` and `environment/restore`, and of `environment/fork` for each fork. */
export type OpenResult = Wire<typeof openResultSchema>

/**
 * The actions that the rules accept in the current public state: for each tool that may be called, a JSON Schema of its
 * arguments (the tool's input schema, or a narrower one). Empty after the end of the episode.
 */
export interface LegalActions {
  readonly [tool: string]: JsonObject
}

/**
 * What one seat knows of a session. It changes nothing, so it can be asked again: everything since the seat's own last
 * step is in it, until its next one.
 */
const turnResultSchema = z.object({
  mine: z.boolean(),
  /** The seats that may act now; empty once the episode is over. */
  turn: z.array(z.string()),
  observation: observationSchema,
  /** Texts for the seat since its own last step, oldest first. */
  messages: z.array(z.string()),
  /** Raw reward that the seat earned by the steps of others since its own last step. */
  due: termsSchema,
  /** Φ of the state for this seat; `null` if the environment defines no potential. */
  potential: z.number().nullable(),
  /** How the episode ended for this seat; `null` if it has not. */
  end: episodeEndSchema.nullable(),
  ...judgementShape,
  /** Answered steps of the seat, which its next step sends. */
  seq: z.int().min(0),
  /** Commits of any kind to the session. By a seat handle, the same as `seq`. */
  revision: z.int().min(0),
})

/** The full state of a session, private part included: only for the trainer endpoint. */
const stateResultSchema = z.object({
  id: z.string(),
  environment: z.object({ name: z.string(), version: z.string() }),
  revision: z.int(),
  epoch: z.int(),
  /** Answered steps of each seat. */
  seats: z.record(z.string(), z.object({ seq: z.int() })),
  now: z.number(),
  state: fullStateSchema,
  end: episodeEndSchema.nullable(),
})

const loggedStepSchema = z.object({
  seat: z.string(),
  action: actionSchema,
  observation: observationSchema,
  report: stepReportSchema,
  /** Events that its tool published and that were applied with the step, oldest first. Left out if there are none. */
  published: z.array(publishedEventSchema).optional(),
})
/** One answered step as the session's step log keeps it. */
export type LoggedStep = Wire<typeof loggedStepSchema>

const watchResultSchema = z.object({
  steps: z.array(loggedStepSchema),
  /**
   * Outside events after revision `after` that no step has followed yet, oldest first. The report of the next step
   * repeats them, so a watcher recognises them by their revision. If one of them ended the episode, one more step may
   * follow. Left out if there are none.
   */
  events: z.array(appliedEventSchema).optional(),
  end: episodeEndSchema.nullable(),
})

/** An open session as an operator sees it, without secrets and state. */
const sessionSummarySchema = z.object({
  id: z.string(),
  environment: z.string(),
  owner: z.string().nullable(),
  /** Seconds since it was opened, and since its last finished call. */
  age: z.number(),
  idle: z.number(),
  /** UTF-8 bytes that the store keeps for it alone, its step log included. */
  bytes: z.int(),
  /** UTF-8 bytes of the large state in which it began, kept once for all that began in it; omitted for a small one. */
  shared: z.int().optional(),
  /** Answered steps of all seats. */
  steps: z.int(),
  /** Answered steps of each seat, and how the episode ended for it; omitted if there is one seat. */
  seats: z.record(z.string(), z.object({ steps: z.int(), end: episodeEndSchema.nullable() })).optional(),
  /** The seats that may act; omitted if there is one seat. */
  turn: z.array(z.string()).optional(),
  /** Entries of the bounded history. */
  history: z.int(),
  end: episodeEndSchema.nullable(),
})

const dumpResultSchema = z.object({
  /** The record of the session, without its step log. */
  session: jsonObjectSchema,
  /** Entries after revision `after`, in order: see {@link LoggedStep}. */
  log: z.array(jsonObjectSchema),
  /** What to send as `after` for the next page; `null` after the last. */
  next: z.int().nullable(),
})

const closeResultSchema = z.object({
  end: episodeEndSchema,
  /** If this request ended it. */
  ...judgementShape,
  /** The last step, which the server took for the player that has left. Left out if it took none. */
  step: loggedStepSchema.optional(),
})
const paramsOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject({ ...shape, _meta: z.unknown().optional() })

/** The same of a method that is called with the handle of a session. */
const inSession = <Shape extends z.ZodRawShape>(shape: Shape) => paramsOf({ session: z.string(), ...shape })

/**
 * The schemas of each method, by its name in {@link METHODS}. Parameters are strict, so a misspelt key is reported;
 * results are lenient, so a newer server may add keys.
 */
export const METHOD_SCHEMAS = {
  list: { result: z.object({ environments: z.array(environmentInfoSchema) }) },
  open: {
    params: paramsOf({
      environment: z.string().min(1),
      /** The request is rejected if the server has another version. Default: any. */
      version: z.string().min(1).optional(),
      params: parsedObjectSchema.default({}),
      /** Default: drawn by the host. The same seed, parameters and actions give the same episode. */
      seed: z.string().min(1).max(256).optional(),
      limits: limitsRequestSchema.default({}),
      requestKey: requestKeySchema,
    }),
    result: openResultSchema,
  },
  state: { params: inSession({}), result: stateResultSchema },
  /** `seat` is needed if the environment has several. */
  legal: {
    params: inSession({ seat: z.string().optional() }),
    result: z.object({ tools: z.record(z.string(), jsonObjectSchema) }),
  },
  /** Waits up to `wait` seconds until `seat` may act, or its episode is over. */
  turn: { params: inSession({ seat: z.string(), wait: waitSchema }), result: turnResultSchema },
  /**
   * The player of `seat` has left, and the rules decide what that means. Rejected with `not-your-turn` until it is the
   * turn of the seat.
   */
  leave: { params: inSession({ seat: z.string() }), result: turnResultSchema },
  /** Entries after revision `after`, waiting up to `wait` seconds for the first. */
  watch: { params: inSession({ ...pageSchema, wait: waitSchema }), result: watchResultSchema },
  publish: { params: inSession(publishShape), result: publishResultSchema },
  sessions: {
    /** Sessions come in the order of their ids; pass the last id of one page to get the next. */
    params: paramsOf({ after: z.string().optional(), limit: pageSchema.limit }),
    result: z.object({ total: z.int(), sessions: z.array(sessionSummarySchema) }),
  },
  /** The session of an id, as `environment/sessions` lists it, and a page of its step log. */
  dump: {
    params: paramsOf({
      id: z.string().min(1),
      /** Includes private state and what follows from it. Texts that the environment lists as secrets stay hidden. */
      private: z.boolean().default(false),
      ...pageSchema,
    }),
    result: dumpResultSchema,
  },
  snapshot: { params: inSession({ at: atSchema }), result: z.object({ snapshot: sessionSnapshotSchema }) },
  /** Opens a new session from a snapshot. */
  restore: {
    params: paramsOf({ snapshot: sessionSnapshotSchema, requestKey: requestKeySchema }),
    result: openResultSchema,
  },
  /** Opens sessions of the same owner from a present or past state of this one. */
  fork: {
    params: inSession({
      at: atSchema,
      count: z.int().min(1).max(1_000).default(1),
      /** Fork i (from 0) gets the seed `seedFor(seed, 'fork', i)` and new random streams. Default: its parent's. */
      seed: z.string().min(1).max(256).optional(),
      requestKey: requestKeySchema,
    }),
    result: z.object({ forks: z.array(openResultSchema) }),
  },
  /** The session no longer exists afterwards, so closing again does not find it. */
  close: {
    params: inSession({
      /**
       * Whether the player has left before the end. An environment may judge what it has left, in a last step; with
       * `if-played`, only where something was played. Default: the session is given up, and nothing is judged.
       */
      left: z.union([z.boolean(), z.literal('if-played')]).default(false),
    }),
    result: closeResultSchema,
  },
}

type Schemas = typeof METHOD_SCHEMAS

/** The parameters of a method as its server reads them: defaults are filled in, and `_meta` is removed. */
export type MethodParams<Name extends Exclude<keyof Schemas, 'list'>> = Omit<Wire<Schemas[Name]['params']>, '_meta'>

export type MethodResult<Name extends keyof Schemas> = Wire<Schemas[Name]['result']>
