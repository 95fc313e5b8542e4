import type { Guarantees, JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import { anchorsSchema } from '../anchors/anchor-schema.ts'
import { unearnedSchema } from '../cheating/unearned-schema.ts'
import { noiseSchema } from '../noise/noise-floor.ts'
import { type Proportion, proportionSchema } from './proportion.ts'

const tallySchema = z.object({ name: z.string(), count: z.int() })

/** A mean with its 95 % interval: `null` for fewer than two clusters, and if none deviates (error 0). */
export const estimateSchema = z.object({
  mean: z.number(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  /** `null` with fewer than two clusters. */
  standardError: z.number().nullable(),
  count: z.int(),
  /** Groups of values that are not independent of each other: the attempts of one task are one cluster. */
  clusters: z.int(),
})

/** The rate of some of the episodes, and how many of those failed and are not in it. */
const groupSchema = z.object({ ...proportionSchema.shape, failed: z.int().default(0) })

/** See `VoidBounds`; `null` if no episode failed. */
export const boundsSchema = z.object({ low: z.number(), high: z.number() }).nullable().default(null)

/** pass@k or pass^k, with the bounds of its rate: each failed attempt is lost, or won. */
const passSchema = z.object({ k: z.int(), ...estimateSchema.shape, bounds: boundsSchema })

const treesSchema = z.object({ return: estimateSchema.nullable(), success: proportionSchema, bounds: boundsSchema })

/** Episodes that failed and were played again, how many plays that took, how many finished; `null` if none. */
export const retriedSchema = z.object({ episodes: z.int(), plays: z.int(), finished: z.int() }).nullable().default(null)

/** Counts of values in bins of one width, from `start`, a multiple of it. An edge belongs to the bin it starts. */
const histogramSchema = z.object({ start: z.number(), width: z.number(), counts: z.array(z.int()) })

const distributionSchema = z.object({
  mean: estimateSchema,
  least: z.number(),
  lowerQuartile: z.number(),
  median: z.number(),
  upperQuartile: z.number(),
  most: z.number(),
  histogram: histogramSchema,
})

const treeSchema = z.object({
  task: z.string(),
  rollout: z.int(),
  /** Its branch points in order of steps, at most 24. `path` is that of the forked line. */
  points: z.array(
    z.object({
      path: z.array(z.int()),
      at: z.int(),
      observation: z.string(),
      /** Monte Carlo estimate of the state's value: the mean of `returnsToGo`, one per line, unshaped, discounted. */
      value: estimateSchema.nullable(),
      returnsToGo: z.array(z.number().nullable()),
    }),
  ),
  /** The ends of its lines, at most 64. */
  leaves: z.array(
    z.object({
      path: z.array(z.int()),
      at: z.array(z.int()),
      steps: z.int(),
      outcome: z.enum(['succeeded', 'fell-short', 'truncated', 'failed']),
      return: z.number().nullable(),
    }),
  ),
  omitted: z.object({ points: z.int(), leaves: z.int() }),
})

export const guaranteesSchema: z.ZodType<Guarantees> = z.object({
  system: z.enum(['episodic', 'mcp', 'ors', 'openenv']),
  replay: z.boolean(),
  delivery: z.enum(['exactly-once', 'at-most-once']),
  seed: z.enum(['decides', 'passed-on', 'ignored']),
})

const tokensSchema = z
  .object({
    episodes: z.int(),
    requests: z.int(),
    /** Requests whose tokens a server counted; left out if all were counted. */
    counted: z.int().optional(),
    prompt: z.int(),
    completion: z.int(),
    /** In the currency of the run's prices; `null` unless the cost of every request is known. */
    cost: z.number().nullable(),
    /**
     * Requests whose cost is not known, because they had no answer or one without usage, and what the others cost. Left
     * out if all costs are known, and if none is.
     */
    unpriced: z.object({ requests: z.int(), cost: z.number() }).optional(),
    /**
     * Requests whose token ids are known, and how many of them drifted: went on from an earlier answer with other
     * tokens than it sampled. Left out if no ids are known.
     */
    traced: z.object({ requests: z.int(), drifted: z.int() }).optional(),
  })
  .nullable()
  .default(null)

/** Percentiles are upper ends of buckets that are 0.8 % wide; `longest` is exact. */
const latencySchema = z.object({
  median: z.number(),
  p90: z.number(),
  p99: z.number(),
  longest: z.number(),
  bins: z.array(z.object({ from: z.number(), to: z.number(), count: z.int() })),
})

/** The parts of a mean step over a connection, in milliseconds. */
const stepPartsSchema = z.object({
  steps: z.int(),
  /** In the server, from when it had read the call to the commit; other calls that it answers meanwhile are in it. */
  server: z.number(),
  /** What the fastest step took outside of the server: the way there and back, with nothing to wait for. */
  wire: z.number(),
  /** The rest: waiting for a place on the connection, for the event loop of the server, and for that of the run. */
  queue: z.number(),
})

/**
 * The summary of a run: plain JSON, and the same bytes for the same sealed episodes in any order.
 *
 * Returns, successes and pass@k are over finished episodes only: a failed one does not count as zero. Intervals are 95
 * %, with the attempts of one task as one cluster: those of means by Student's t, those of shares by Wilson's score.
 * All times are in milliseconds. Unknown figures are `null`, for example the interval of a single task.
 */
export const summarySchema = z.object({
  format: z.literal(1),
  run: z.string(),
  /** Environments as `name@version`, and policy names. At most 16 of each. */
  environments: z.array(z.string()),
  policies: z.array(z.string()),
  /** `null` for a run on Episodic's own server, which promises replay and steps that happen exactly once. */
  guarantees: guaranteesSchema.nullable().default(null),
  /** How the run reached its world: `in-process`, `websocket`, `stdio`, `http`, or another system's address. */
  transport: z.string().nullable().default(null),
  /** `scheduled` = `finished` + `failed` + `unresolved`, always. */
  counts: z.object({
    scheduled: z.int(),
    finished: z.int(),
    failed: z.int(),
    unresolved: z.int(),
    tasks: z.int(),
    /** Recorded steps, including those of failed episodes, and how many of them were refused. */
    steps: z.int(),
    refused: z.int(),
    /** Sealed lines that contradict another one of the same try: a finished one counts, then the lowest hash. */
    conflicts: z.int(),
  }),
  /**
   * Episodes in which every call named a tool that does not exist, their calls, and the names, most frequent first: at
   * most 16, each cut to 64 characters. Such a name often comes from the parser of a model server. Left out if there
   * are none.
   */
  unknownTools: z.object({ episodes: z.int(), calls: z.int(), names: z.array(tallySchema) }).optional(),
  ends: z.object({ terminated: z.array(tallySchema), truncated: z.array(tallySchema) }),
  /** Failed episodes by error code, most frequent first, each with one message. */
  failures: z.array(z.object({ name: z.string(), count: z.int(), message: z.string() })),
  /**
   * Failed episodes that were played again, how many plays that took, and how many of the episodes finished at last;
   * `null` if there were none. The first finished try of an episode counts, else the last one.
   */
  retried: retriedSchema,
  success: z.object({
    /** The rules of success that applied: the world's or the default one (docs/write/environments.md, "Success"). */
    rules: z.array(z.enum(['default', 'world'])).default([]),
    /** Successes among truncated episodes: 0 under the default rule. */
    truncated: z.int().default(0),
    /** By episodes: each finished one counts once. */
    overall: proportionSchema,
    bounds: boundsSchema,
    /** Over the first tries that finished; `null` if nothing was played again. */
    firstTry: groupSchema.nullable().default(null),
    /**
     * Ten bins of difficulty, `from` inclusive and `to` exclusive (the last bin includes 1); empty ones are left out. A
     * group whose episodes have all failed has no rate.
     */
    byDifficulty: z.array(z.object({ from: z.number(), to: z.number(), ...groupSchema.shape })),
    bySplit: z.array(z.object({ name: z.string(), ...groupSchema.shape })),
    /** At most 64 tags, in the order of their names. An episode counts under each of its tags. */
    byTag: z.array(z.object({ name: z.string(), ...groupSchema.shape })),
    /** The unbiased estimate, averaged over the `clusters` tasks that have at least `k` finished attempts. */
    passAtK: z.array(passSchema),
    passHatK: z.array(passSchema).default([]),
    /** `null` for fewer than two tasks, and for rollouts that were forked into trees. */
    noise: noiseSchema.nullable().default(null),
    anchors: anchorsSchema.optional(),
    unearned: unearnedSchema.optional(),
    steps: distributionSchema.nullable(),
  }),
  /**
   * The further verdicts of the world, in the order of their names: each over the finished episodes that have it. An
   * episode that a player of several has cut off has none. Left out if there are none.
   */
  verdicts: z.array(z.object({ name: z.string(), ...groupSchema.shape })).optional(),
  /** `unshaped` is the sum of the reward terms, `total` includes shaping, `discounted` is the discounted `total`. */
  returns: z.object({
    unshaped: distributionSchema.nullable(),
    total: distributionSchema.nullable(),
    discounted: distributionSchema.nullable(),
  }),
  /**
   * What a curriculum drew, part by part: the draws `from` up to and without `to`, their stage, the number of distinct
   * tasks, and the mean difficulty. `successes` of `count` first plays that finished, beside those that `failed`;
   * `rate` is `null` if none finished. `null` for a run without a curriculum.
   */
  curriculum: z
    .array(
      z.object({
        from: z.int(),
        to: z.int(),
        stage: z.string().nullable(),
        tasks: z.int(),
        difficulty: z.number(),
        successes: z.int(),
        count: z.int(),
        failed: z.int().default(0),
        rate: z.number().nullable(),
      }),
    )
    .nullable()
    .default(null),
  /** Figures of rollouts that were forked into trees, for which pass@k has only k = 1; `null` if there are none. */
  branch: z
    .object({
      leaves: z.int(),
      /** Rollouts whose leaves have all finished, and other rollouts. The figures are over the former. */
      rollouts: z.int(),
      partial: z.int(),
      /** Of the partial ones, those whose leaves have all ended, some by a failure. The bounds are over them too. */
      failed: z.int().default(0),
      /** Over rollouts: the highest return among the leaves, and whether any leaf succeeded. */
      best: treesSchema,
      mean: treesSchema,
      /** At most 6, drawn by the hash of task and rollout. */
      trees: z.array(treeSchema),
    })
    .nullable(),
  rewards: z.object({
    /** Mean reward of step 0, 1, …, over the `count` finished episodes with that many steps. At most 1,000 steps. */
    byStep: z.array(z.object({ count: z.int(), total: z.number(), unshaped: z.number() })),
    /** Each raw term: its sum over an episode, averaged over finished ones, and the steps in which it is not 0. */
    byTerm: z.array(z.object({ name: z.string(), mean: z.number(), steps: z.int() })),
    /** Steps of finished episodes for which there is no term at all. They add nothing to a return. */
    missing: z.int().default(0),
    /** Finished episodes with steps of which none has a term: their return of 0 is an empty sum. */
    unrewarded: z.int().default(0),
  }),
  /** Requests to language models, including those that led to no step; `null` if there were none. */
  tokens: tokensSchema,
  /**
   * The main figures of every seat; `null` for an environment of one seat. All other figures are of the seat in focus.
   * `return` is unshaped, and `faults` counts the failed episodes in which its policy or action was at fault.
   */
  seats: z
    .array(
      z.object({
        name: z.string(),
        focus: z.boolean(),
        policies: z.array(z.string()),
        success: proportionSchema,
        return: estimateSchema.nullable(),
        steps: z.int(),
        refused: z.int(),
        tokens: tokensSchema,
        faults: z.int(),
      }),
    )
    .nullable()
    .default(null),
  time: z.object({
    /** From the start of the first episode to the end of the last. */
    milliseconds: z.number(),
    episodesPerSecond: z.number().nullable(),
    stepsPerSecond: z.number().nullable(),
    episode: distributionSchema.nullable(),
    /** From sending an action to the world's answer, without the time of a model; `null` if nobody measured it. */
    step: latencySchema.nullable(),
    /** Where the time of a mean step over a connection went; `null` if no server said how long it took. */
    stepParts: stepPartsSchema.nullable().default(null),
    /** From sending a request to the end of a language model's answer; `null` if none was measured. */
    model: latencySchema.nullable().default(null),
    /** What requests to models waited for limits and between tries: in all, at most, and how many; `null`: none. */
    waited: z.object({ milliseconds: z.number(), longest: z.number(), requests: z.int() }).nullable().default(null),
    /** Episodes in flight: the mean in each of equally long bins from the start of the first, and the peak. */
    concurrency: z.object({ binMilliseconds: z.number(), inFlight: z.array(z.number()), peak: z.int() }).nullable(),
  }),
})

export type Summary = z.infer<typeof summarySchema>
export type StepParts = z.infer<typeof stepPartsSchema>
export type Latency = z.infer<typeof latencySchema>
export type Estimate = z.infer<typeof estimateSchema>
export type { Proportion }
export type Histogram = z.infer<typeof histogramSchema>
export type Distribution = z.infer<typeof distributionSchema>
export type Tally = z.infer<typeof tallySchema>

export interface ReportedRun {
  readonly name: string
  /** How many episodes were planned. Default: as many as are sealed. */
  readonly scheduled?: number | undefined
  /** What the server promised. Default: what Episodic's does. */
  readonly guarantees?: Guarantees | undefined
  readonly transport?: string | undefined
  /** Where the time of its steps went. Default: unknown. */
  readonly stepParts?: StepParts | null | undefined
  /** Shown verbatim. */
  readonly configuration: JsonObject
}
