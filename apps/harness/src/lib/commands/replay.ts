import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { Command } from 'commander'
import { type Console, colorsOf, shownPath } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { collect, wholeNumber } from '../option-values.ts'
import { isAgentName } from '../policies.ts'
import { formatDivergence } from '../replay/divergence.ts'
import { findSealed } from '../replay/find-sealed.ts'
import { openPlan } from '../replay/open-plan.ts'
import { tellProgress } from '../replay/progress.ts'
import { type RecordedLine, readRecorded } from '../replay/read-recorded.ts'
import { type ReplaySummary, replayRun, STRICT_EPISODES } from '../replay/replay-run.ts'
import { type Scoring, UNKNOWN_WITHOUT_PLAN, UNKNOWN_WITHOUT_RUN } from '../replay/scoring.ts'
import { traceEpisode } from '../replay/trace.ts'
import { tornNotice } from '../run/report-run.ts'
import { loadRecordedWorld } from '../run/sources.ts'
import { loadWorld } from '../world.ts'
import { replayMatrix } from './replay-matrix.ts'

interface ReplayOptions {
  readonly world: readonly string[]
  readonly dataset?: string
  readonly task?: string
  readonly attempt?: number
  readonly matrix?: true
  readonly episodes: number
  readonly json?: true
}

export function replayCommand(console: Console): Command {
  return new Command('replay')
    .description("play a run's sealed episodes again by the world's rules alone, and compare")
    .argument('[run]', 'folder of a run, finished or not, or a file of sealed episodes')
    .option('--world <world>', 'name, path or package of the world (default: the one that run.json names)', collect, [])
    .option('--dataset <file>', 'the tasks of the run, where they came from a file that is somewhere else now')
    .option('--task <id>', 'replay the episodes of one task, or of those whose ids begin so, and print their steps')
    .option('--attempt <number>', 'with --task: only this attempt', wholeNumber(0))
    .option('--matrix', 'instead: record over every store, door and concurrency, and compare all of it')
    .option('--episodes <count>', 'with --matrix: how many to record in each setting', wholeNumber(1), 1_000)
    .option('--json', 'print the summary as JSON')
    .addHelpText(
      'after',
      `
Compares the start and, of every step, observation, raw reward terms,
potential, refusal, state hash and end; and each line's hash chain with the
line. Of a run's folder, rewards and returns are made anew too, and so is its
plan: each line's task, parameters, seed, attempt and policy are compared with
it, and episodes that are not there, or not planned, are counted. Ends with 1
where anything differs, where two lines of one episode do, and where a run that
was complete lacks any.

The first ${STRICT_EPISODES} episodes, and any that differs, are replayed strictly: rules that
reach for Math.random, the clock, timers or the network fail.

Examples:
  episodic replay runs/number-guessing-solver-0
  episodic replay runs/mine --world ./my-world.ts --json
  episodic replay runs/mine --task 3f2a --attempt 0
  episodic replay --matrix --episodes 100 --world number-guessing`,
    )
    .action((run: string | undefined, options: ReplayOptions) => {
      if (options.matrix) return replayMatrix(options, console)
      if (run !== undefined) return replay(run, options, console)
      throw new HarnessError('option-invalid', 'Name the folder of a run, or give --matrix.')
    })
}

async function replay(run: string, options: ReplayOptions, console: Console): Promise<void> {
  const { file, name, folder, manifest, complete } = await findSealed(run)
  const configuration = manifest?.configuration
  const warn = (notice: string) => void console.err.write(`${notice}\n`)
  const [given] = options.world
  const world = await (given === undefined
    ? loadRecordedWorld({ folder, sources: manifest?.sources, name }, warn)
    : loadWorld(given))
  const { environment } = world
  const all = readRecorded(file, { onTorn: (line) => console.err.write(tornNotice(line)) })
  const chosen = options.task === undefined ? all : choose(all, options.task, options.attempt)
  const traced = options.task !== undefined && !options.json
  const episodes = traced ? trace(environment, chosen, configuration ?? null, console) : chosen
  // Of what was chosen out of a run, nobody knows how much there was to be.
  const scheduled = options.task === undefined ? manifest?.scheduled : undefined
  const { plan, unknown } = manifest
    ? await openPlan({ folder, manifest, world }, options.dataset)
    : { plan: undefined, unknown: null }
  const summary = await replayRun(
    environment,
    episodes,
    // Who played is not known of lines alone.
    {
      scoring: configuration,
      plan,
      scheduled,
      declaredOnly: configuration !== undefined,
      mayLeave: !configuration || isAgentName(configuration.policy.name),
    },
    tellProgress(console.err),
  )
  if (options.task !== undefined && summary.episodes === 0)
    throw new HarnessError(
      'option-invalid',
      `${shownPath(run)} holds no episode of task ${options.task}${options.attempt === undefined ? '' : `, attempt ${options.attempt}`}.`,
    )
  const notChecked = manifest ? (plan ? [] : UNKNOWN_WITHOUT_PLAN) : [...UNKNOWN_WITHOUT_PLAN, ...UNKNOWN_WITHOUT_RUN]
  console.out.write(options.json ? `${JSON.stringify({ ...summary, notChecked })}\n` : formatReplay(summary, console))
  if (notChecked.length > 0 && !options.json)
    console.out.write(
      `Not checked: ${notChecked.join(', ')}. ${unknown ? `${unknown} Name it with --dataset.` : NOT_KNOWN}\n`,
    )
  const missing = summary.missing ? `${summary.missing} of ${scheduled} episodes are not there` : null
  if (missing && !complete)
    console.err.write(`${missing}: the run was stopped before them, and can be resumed to play them.\n`)
  const wrong = [
    ...(summary.diverged > 0
      ? [`${summary.diverged} of ${summary.episodes} episodes did not give again what was recorded.`]
      : []),
    ...(summary.conflicting > 0 ? [`${summary.conflicting} lines contradict another line of the same episode.`] : []),
    ...(summary.unplanned > 0 ? [`${summary.unplanned} lines are of no episode that the run planned.`] : []),
    ...(plan && plan.scheduled !== manifest?.scheduled
      ? [
          `run.json says that ${manifest?.scheduled} episodes were scheduled, and its configuration plans ${plan.scheduled}.`,
        ]
      : []),
    ...(missing && complete ? [`${missing}, and the run's summary says that all were sealed.`] : []),
  ]
  if (wrong.length > 0) throw new HarnessError('replay-diverged', wrong.join(' '))
}

const NOT_KNOWN =
  'A file alone does not say what its run planned, how it weighed, shaped and discounted, nor who may leave before the end; its folder does.'

async function* choose(episodes: AsyncIterable<RecordedLine>, task: string, attempt: number | undefined) {
  for await (const episode of episodes) {
    const { record } = episode
    if (record.task.id.startsWith(task) && (attempt === undefined || record.attempt === attempt)) yield episode
  }
}

async function* trace(
  environment: EnvironmentDefinition,
  episodes: AsyncIterable<RecordedLine>,
  scoring: Scoring | null,
  { out }: Console,
) {
  for await (const episode of episodes) {
    // Replayed first, which refuses an episode of another version.
    yield episode
    for (const line of traceEpisode(environment, episode.record, scoring)) out.write(`${line}\n`)
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
    `${episodes} episodes: ${counts.join(', ')}. ${steps} steps in ${seconds.toFixed(2)} s, ${Math.round(stepsPerSecond)} a second.\n`,
  ].join('\n')
}
