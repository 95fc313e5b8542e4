import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '@episodic/mcp-server'
import { Command } from 'commander'
import { type Console, colorsOf, shownPath } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { collect, wholeNumber } from '../option-values.ts'
import { formatDivergence } from '../replay/divergence.ts'
import { tellProgress } from '../replay/progress.ts'
import { type RecordedEpisode, readRecorded } from '../replay/read-recorded.ts'
import { type ReplaySummary, replayRun, STRICT_EPISODES } from '../replay/replay-run.ts'
import { traceEpisode } from '../replay/trace.ts'
import { tornNotice } from '../run/report-run.ts'
import { RUN_FILES, readManifest } from '../run/run-folder.ts'
import { loadWorld, type World } from '../world.ts'
import { replayMatrix } from './replay-matrix.ts'

interface ReplayOptions {
  readonly world: readonly string[]
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
    .option('--world <world>', "name, path or package of the world (default: the run's, by its name)", collect, [])
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
line. Ends with 1 where anything differs.

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
  const { file, name } = await findEpisodes(run)
  const { environment } = await loadWorldOf(options.world[0], name)
  const all = readRecorded(file, { onTorn: (line) => console.err.write(tornNotice(line)) })
  const chosen = options.task === undefined ? all : choose(all, options.task, options.attempt)
  const traced = options.task !== undefined && !options.json
  const episodes = traced ? trace(environment, chosen, console) : chosen
  const summary = await replayRun(environment, episodes, tellProgress(console.err))
  if (options.task !== undefined && summary.episodes === 0)
    throw new HarnessError(
      'option-invalid',
      `${shownPath(run)} holds no episode of task ${options.task}${options.attempt === undefined ? '' : `, attempt ${options.attempt}`}.`,
    )
  console.out.write(options.json ? `${JSON.stringify(summary)}\n` : formatReplay(summary, console))
  if (summary.diverged > 0)
    throw new HarnessError(
      'replay-diverged',
      `${summary.diverged} of ${summary.episodes} episodes did not give again what was recorded.`,
    )
}

/** The sealed episodes of a run's folder, or of a file of them alone, and the name of their world. */
async function findEpisodes(run: string): Promise<{ readonly file: string; readonly name: string }> {
  if (!existsSync(run)) throw new HarnessError('run-invalid', `There is no run at ${run}.`)
  if (statSync(run).isDirectory()) {
    const { configuration } = await readManifest(run)
    return { file: join(run, RUN_FILES.episodes), name: configuration.environment.name }
  }
  for await (const { record } of readRecorded(run)) return { file: run, name: record.environment.name }
  throw new HarnessError('run-invalid', `${run} holds no episode.`)
}

async function loadWorldOf(reference: string | undefined, name: string): Promise<World> {
  if (reference !== undefined) return loadWorld(reference)
  try {
    return await loadWorld(name)
  } catch (cause) {
    if (!HarnessError.is(cause, 'world-not-found')) throw cause
    throw new HarnessError('world-not-found', `${cause.message} Name the run's world with --world.`, { cause })
  }
}

async function* choose(episodes: AsyncIterable<RecordedEpisode>, task: string, attempt: number | undefined) {
  for await (const episode of episodes) {
    const { record } = episode
    if (record.task.id.startsWith(task) && (attempt === undefined || record.attempt === attempt)) yield episode
  }
}

async function* trace(environment: Environment, episodes: AsyncIterable<RecordedEpisode>, { out }: Console) {
  for await (const episode of episodes) {
    // Replayed first, which refuses an episode of another version.
    yield episode
    for (const line of traceEpisode(environment, episode.record)) out.write(`${line}\n`)
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
