import { metricsOptions } from '@episodic/fleet/metrics-options'
import {
  languageModelOptions,
  processOptions,
  type RunSettings,
  retryOptions,
  serverOptions,
} from '@episodic/play/play/run-settings'
import { type McpOptions, mcpOptions } from '@episodic/play/worlds/mcp-options'
import { countOrFile, countOrFileSchema } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import {
  episodeOptions,
  policyOption,
  rewardOptions,
  seatOptions,
  taskOptions,
} from '@episodic/run/folder/plan/plan-options'
import { z } from 'zod'

const setOptions = z.object({
  policies: option('<file>', 'players of a set, as JSON: a list of { "name", "policy", … }'),
  wordings: option(
    '<file>',
    'wordings that every llm: player of a set reads: JSON of { name, systemPrompt, describe }',
  ),
  set: option('<name>', 'play a set of runs, every world with every player, in runs/<name>'),
  baseline: option(
    '<player>',
    'of a set: the player that the others are compared with (default: the first); with --until the folder of a run, from which the difference is to be known',
  ),
  dryRun: flag('list the runs, their episodes and what they can cost, and play nothing'),
})

const outputOptions = z.object({
  file: option(
    '<file>',
    'JSON of these options by their names and of the keys below, or the JSON itself; can be repeated',
    z.array(z.string()).optional(),
  ),
  out: option(
    '<folder>',
    'folder of the run (default: runs/<world>-<policy>-<seed>, and with -2, -3 … if that was played to its end)',
  ),
  /** A folder to resume, or `true` for that of `--out`. */
  resume: option(
    '[folder]',
    'play the missing episodes of the run in --out, or of the set in this folder',
    z.union([z.string(), z.literal(true)]).optional(),
    { text: { read: (folder) => folder } },
  ),
  ...retryOptions.shape,
  anchors: flag('also measure floor and oracle: what doing nothing and the solver of the world earn on these tasks'),
  json: flag('print the summary as JSON'),
})

const workerOptions = z.object({ worker: flag('play the episodes that the parent process sends', { isHidden: true }) })

const countedTasks = taskOptions.extend({
  tasks: option(
    '<count>',
    'number of tasks to generate, or a JSONL file with a prompt and params in each line',
    countOrFileSchema.default(100),
    { text: countOrFile },
  ),
})

/** By their headings in the help, in its order. */
export const RUN_OPTIONS: Readonly<Record<string, z.ZodObject>> = {
  'Tasks:': countedTasks,
  'An MCP server instead of a world:': mcpOptions,
  'Players:': policyOption.extend(seatOptions.shape),
  'Sets of runs:': setOptions,
  'Episodes:': episodeOptions,
  'Processes and connections:': z.object({
    ...processOptions.shape,
    ...workerOptions.shape,
    ...metricsOptions.shape,
    ...serverOptions.shape,
  }),
  'Rewards:': rewardOptions,
  'Output, and playing on:': outputOptions,
  'Language models:': languageModelOptions,
}
/** The heading of the keys of a file that are no flags. */
export const IN_FILE = 'Only in the JSON of --file:'

export type RunOptions = Omit<RunSettings, 'policy' | 'tasks'> &
  Pick<z.infer<typeof countedTasks>, 'tasks'> &
  McpOptions &
  z.infer<typeof policyOption> &
  z.infer<typeof setOptions> &
  z.infer<typeof workerOptions> &
  z.infer<typeof metricsOptions> &
  z.infer<typeof outputOptions>
