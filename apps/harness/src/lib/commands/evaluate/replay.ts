import { fileURLToPath } from 'node:url'
import { formatDivergence } from '@episodic/analysis/replay/divergence'
import { readOrigins, recordsOf } from '@episodic/continue/origin/origins-file'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { World } from '@episodic/play/worlds/world'
import { type Console, colorsOf, say, shownPath } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { texts, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { isAgentName } from '@episodic/run/base/player-names'
import { hashModule } from '@episodic/run/folder/plan/content-hash'
import { findSealed, type RecordedLine, readRecorded } from '@episodic/run/folder/read-recorded'
import { tornNotice } from '@episodic/run/folder/record/report-run'
import { z } from 'zod'
import { openPlan } from '../../evaluate/replay/open-plan.ts'
import { loadRecordedWorld } from '../../evaluate/replay/recorded-world.ts'
import { type ReplaySummary, replayRun, STRICT_EPISODES } from '../../evaluate/replay/replay-run.ts'
import { traceEpisode } from '../../evaluate/replay/trace.ts'
import { defineCommand } from '../define-command.ts'
import { replayMatrix } from './replay-matrix.ts'

const replayOptions = z.object({
  world: option(
    '<world>',
    'name, path or package of the world (default: that of your own run, or one of its name)',
    texts,
  ),
  dataset: option('<file>', 'file of the tasks, if it has moved since the run'),
  task: option('<id>', 'replay only tasks whose id starts with this, and print their steps'),
  attempt: option('<number>', 'with --task: only this attempt', wholeNumber(0).optional()),
  matrix: flag('instead: record with every store, transport and concurrency, and compare'),
  episodes: option('<count>', 'with --matrix: episodes to record with each setting', wholeNumber(1).default(1_000)),
  json: flag('print the summary as JSON'),
})
type ReplayOptions = z.infer<typeof replayOptions>

export const command = defineCommand('replay', replayOptions, {
  argument: ['[run]', 'folder of a run, finished or not, or a file of sealed episodes'],
  help: `
Compares the start, and of each step the observation, raw reward terms,
potential, refusal, state hash and end; and verifies the hash chain of each
line. With the folder of a run it also computes rewards, returns and the plan
again, and compares each line's task, parameters, seed, attempt and policy with
the plan. Missing and unplanned episodes are counted. The exit status is 1 if
anything differs, if lines conflict, or if a complete run lacks an episode.

The first ${STRICT_EPISODES} episodes, and each that differs, are replayed strictly: rules that
use Math.random, the clock, timers or the network fail.

Examples:
  episodic replay runs/number-guessing-solver-0
  episodic replay runs/mine --world ./my-world.ts --json
  episodic replay runs/mine --task 3f2a --attempt 0
  episodic replay --matrix --episodes 100 --world number-guessing`,
  run(run: string | undefined, options, console) {
    if (options.matrix) return replayMatrix(options, console)
    if (run !== undefined) return replay(run, options, console)
    throw invalidOption('Nothing to replay. Give the folder of a run, or --matrix.')
  },
})

async function replay(run: string, options: ReplayOptions, console: Console): Promise<void> {
  const sealed = await findSealed(run)
  const { file, folder, manifest, complete } = sealed
  const configuration = manifest?.configuration
  const warn = (notice: string) => say(console.err, notice)
  const world = await loadRecordedWorld(sealed, options.world[0], warn)
  const { environment } = world
  const rules = await findRules(world, manifest?.sources?.world?.sha256)
  const continued = await readOrigins(folder)
  const origins = recordsOf(continued)
  const all = readRecorded(file, { onTorn: (line) => say(console.err, tornNotice(line)) })
  const chosen = options.task === undefined ? all : choose(all, options.task, options.attempt)
  const traced = options.task !== undefined && !options.json
  const episodes = traced ? trace(environment, chosen, { scoring: configuration ?? null, origins }, console) : chosen
  const scheduled = options.task === undefined ? manifest?.scheduled : undefined
  const { plan, unknown } = manifest
    ? await openPlan({ folder, manifest, world, origins: continued }, options.dataset)
    : { plan: undefined, unknown: null }
  const summary = await replayRun(
    environment,
    episodes,
    // Lines alone do not tell whether an agent played.
    {
      scoring: configuration,
      plan,
      scheduled,
      declaredOnly: configuration !== undefined,
      origins,
      mayLeave: !configuration || isAgentName(configuration.policy.name),
    },
    progressTo(console.err),
  )
  if (options.task !== undefined && summary.episodes === 0)
    throw invalidOption(
      `${shownPath(run)} holds no episode of task ${options.task}${options.attempt === undefined ? '' : `, attempt ${options.attempt}`}.`,
    )
  const notChecked = manifest ? (plan ? [] : UNKNOWN_WITHOUT_PLAN) : [...UNKNOWN_WITHOUT_PLAN, ...UNKNOWN_WITHOUT_RUN]
  const whole = `${JSON.stringify({ ...summary, rules, notChecked })}\n`
  console.out.write(options.json ? whole : formatReplay(summary, console))
  if (!options.json) say(console.out, `Judged by ${formatJudge(rules)}`)
  if (notChecked.length > 0 && !options.json)
    say(console.out, `Not checked: ${notChecked.join(', ')}. ${unknown ?? NOT_KNOWN}`)
  const missing = summary.missing ? `${summary.missing} of ${scheduled} episodes are missing` : null
  if (missing && !complete) console.err.write(`${missing}: the run was stopped. Resume it to play them.\n`)
  const wrong = [
    ...(summary.diverged > 0 ? [`${summary.diverged} of ${summary.episodes} episodes differ from their replay.`] : []),
    ...(summary.conflicting > 0
      ? [`${summary.conflicting} lines conflict with another line of the same episode.`]
      : []),
    ...(summary.unplanned > 0 ? [`${summary.unplanned} lines are of episodes that the run did not plan.`] : []),
    ...(plan &&
    manifest &&
    (configuration?.until ? plan.scheduled < manifest.scheduled : plan.scheduled !== manifest.scheduled)
      ? [
          `run.json says that ${manifest?.scheduled} episodes were scheduled, but its configuration plans ${plan.scheduled}.`,
        ]
      : []),
    ...(missing && complete ? [`${missing}, but the run's summary says that all were sealed.`] : []),
  ]
  if (wrong.length > 0) throw new HarnessError('replay-diverged', wrong.join(' '))
}

/** Whose rules a replay judged by: its module, and whether `run.json` has the same hash; `null` if it has none. */
async function findRules({ url, environment }: World, recorded: string | undefined) {
  const file = fileURLToPath(url)
  // Covers the files that it imports by relative paths.
  const sha256 = await hashModule(file)
  const sameAsRecorded = recorded === undefined ? null : recorded === sha256
  return { environment: `${environment.name}@${environment.version}`, file: shownPath(file), sha256, sameAsRecorded }
}

function formatJudge({ environment, file, sha256, sameAsRecorded }: Awaited<ReturnType<typeof findRules>>): string {
  const recorded = sameAsRecorded === null ? '' : sameAsRecorded ? ', as in run.json' : ', which run.json does not have'
  return `the rules of ${environment} in ${file} (SHA-256 ${sha256.slice(0, 12)}…${recorded}).`
}

/** What lines alone cannot verify: they do not have the run's scoring, nor whether an agent played. */
const UNKNOWN_WITHOUT_RUN = [
  'reward.total',
  'reward.shaping',
  'returns.discounted',
  'end closed',
  'undeclared arguments',
]
/** What cannot be verified without the generator or the file of tasks. */
const UNKNOWN_WITHOUT_PLAN = ['task', 'params', 'seed', 'attempt', 'policy', 'step limit']
const NOT_KNOWN =
  'Only the folder of a run has its plan, weights, shaping and discount, and shows whether an agent played.'

async function* choose(episodes: AsyncIterable<RecordedLine>, task: string, attempt: number | undefined) {
  for await (const episode of episodes) {
    const { record } = episode
    if (record.task.id.startsWith(task) && (attempt === undefined || record.attempt === attempt)) yield episode
  }
}

async function* trace(
  environment: EnvironmentDefinition,
  episodes: AsyncIterable<RecordedLine>,
  options: Parameters<typeof traceEpisode>[2],
  { out }: Console,
) {
  for await (const episode of episodes) {
    // The consumer replays it first, and rejects an episode of another version.
    yield episode
    for (const line of traceEpisode(environment, episode.record, options))
      for (const each of line.split('\n')) say(out, each)
    out.write('\n')
  }
}

function formatReplay(summary: ReplaySummary, { out }: Console): string {
  const { episodes, steps, replayed, diverged, notReplayable, seconds, stepsPerSecond, divergences } = summary
  const { red, green } = colorsOf(out)
  const counts = [
    green(`${replayed} reproduced`),
    ...(diverged > 0 ? [red(`${diverged} diverged`)] : []),
    ...(notReplayable > 0 ? [`${notReplayable} not replayable`] : []),
  ]
  const unshown = diverged - divergences.length
  return [
    ...divergences.map((divergence) => `${formatDivergence(divergence)}\n`),
    ...(unshown > 0 ? [`… and ${unshown} more.\n`] : []),
    `${episodes} episodes: ${counts.join(', ')}. ${steps} steps in ${seconds.toFixed(2)} s, ${Math.round(stepsPerSecond)} steps/s.\n`,
  ].join('\n')
}

/** Milliseconds between two lines of progress, and before the first. */
const PROGRESS_INTERVAL = 2_000

function progressTo(stream: Console['err']): (done: Pick<ReplaySummary, 'episodes' | 'diverged'>) => void {
  const started = performance.now()
  let printed = started
  return ({ episodes, diverged }) => {
    const now = performance.now()
    if (now - printed < PROGRESS_INTERVAL) return
    printed = now
    const rate = Math.round((episodes * 1_000) / (now - started))
    stream.write(`${episodes} episodes replayed, ${diverged} diverged, ${rate} episodes/s\n`)
  }
}
