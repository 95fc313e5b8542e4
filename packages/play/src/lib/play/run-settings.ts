import { modelOptionsSchema } from '@episodic/models/model-options'
import { numberWithin, wholeNumber } from '@episodic/run/base/option-values'
import { flag, inFile, option } from '@episodic/run/base/options'
import { episodeOptions, rewardOptions, seatOptions, taskOptions } from '@episodic/run/folder/plan/plan-options'
import { z } from 'zod'
import { PLAYED_SERVERS, targetOptions } from '../worlds/target-options.ts'

/** How a run connects to a world that it serves itself, the fastest first. All but the first start a server process. */
export const TRANSPORTS = ['in-process', 'websocket', 'stdio', 'http'] as const
export type Transport = (typeof TRANSPORTS)[number]

export const RETRY_TIMEOUT = 15

/** Which failed episodes are played again: for a reason outside of policy and rules, for a simulated user, or all. */
const RETRIED = ['model', 'user', 'all'] as const
export type Retried = (typeof RETRIED)[number]

/** Episodes in flight at once for each process: with fewer, a process waits for the next ones most of the time. */
const CONCURRENCY = 64

/** The hidden option that sets the lease, in seconds: for tests, which cannot wait for the default. */
export const leaseOptions = z.object({
  lease: option('<seconds>', 'silence after which a process counts as ended', numberWithin(0.5, 3_600).optional(), {
    isHidden: true,
  }),
})

export const processOptions = z.object({
  concurrency: option(
    '<count>',
    `episodes in flight at once (default: ${CONCURRENCY} for each process)`,
    wholeNumber(1).optional(),
  ),
  processes: option('<count>', 'worker processes, one per core', wholeNumber(1, 256).default(1)),
  queue: option('<url>', 'workers of this queue play, on any machine: see episodic queue work'),
  ...leaseOptions.shape,
  transport: option('<transport>', 'how to connect to the world', z.enum(TRANSPORTS).optional(), {
    usual: 'the fastest: in-process; websocket for agents and servers that offer it, else http',
  }),
  retryTimeout: option(
    '<seconds>',
    'how long to keep retrying an unanswered call, for example during a server restart',
    wholeNumber(0).default(RETRY_TIMEOUT),
    inFile,
  ),
})

export const retryOptions = z.object({
  retryFailed: option(
    '[which]',
    'with --resume: also play failed episodes again: those of models and servers, of simulated users, or all',
    z.enum(RETRIED).optional(),
    { preset: 'model' },
  ),
  tries: option(
    '<count>',
    'with --retry-failed: how often an episode may be played in all',
    wholeNumber(2).default(3),
    inFile,
  ),
})

export const languageModelOptions = z.object({
  recordModels: flag('with agent:<file> and process:<command>: record what it asks of language models'),
  ...modelOptionsSchema.shape,
})

export const serverOptions = targetOptions(PLAYED_SERVERS)

/** How a process plays the episodes of a run: the settings that are sent to the workers of a queue. */
export const playSettingsSchema = z.object({
  ...processOptions.pick({ transport: true, retryTimeout: true }).shape,
  ...serverOptions.pick({ url: true }).shape,
  ...languageModelOptions.shape,
})
export type PlaySettings = z.infer<typeof playSettingsSchema>

/**
 * How a run is asked for: what the options of `episodic run` say, as plain JSON, so that it can be kept in a file and
 * sent to another process. `runSettingsSchema.parse({})` gives the defaults.
 */
export const runSettingsSchema = z
  .object({
    ...taskOptions.shape,
    policy: z.string().optional(),
    ...seatOptions.shape,
    ...episodeOptions.shape,
    ...rewardOptions.shape,
    ...processOptions.shape,
    ...retryOptions.shape,
    ...languageModelOptions.shape,
    ...serverOptions.shape,
  })
  .transform((options) => ({ ...options, concurrency: options.concurrency ?? CONCURRENCY * options.processes }))
export type RunSettings = z.infer<typeof runSettingsSchema>
