import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, Option } from 'commander'
import { isAgent } from '../agents/agent.ts'
import { type Console, shownPath } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { untilInterrupted } from '../interruption.ts'
import { addModelOptions, type ModelOptions, modelSettingsOf } from '../llm/model-options.ts'
import { branchPoints, numberWithin, range, someText, WHOLE_RANGE, weights, wholeNumber } from '../option-values.ts'
import { findPlayer, isLlm, policyFileOf } from '../policies.ts'
import { beginRun, findRun } from '../run/begin-run.ts'
import type { RunConfiguration } from '../run/configuration.ts'
import { countLeaves } from '../run/count-leaves.ts'
import { defaultFolder } from '../run/default-folder.ts'
import { RETRY_TIMEOUT, type Transport } from '../run/environments.ts'
import { hashFile } from '../run/hash-file.ts'
import { openPlaying } from '../run/open-playing.ts'
import { openWorkers } from '../run/open-workers.ts'
import { type PlannedEpisode, planOf, tasksOf } from '../run/plan.ts'
import { plannedInFlight } from '../run/play-episodes.ts'
import { playPlan } from '../run/play-plan.ts'
import { showProgress } from '../run/progress.ts'
import { foldRun, tornNotice, writeReport } from '../run/report-run.ts'
import { resumeLine } from '../run/resume-line.ts'
import { holdsRun, RUN_FILES } from '../run/run-folder.ts'
import { lockRun } from '../run/run-lock.ts'
import { SealedFile } from '../run/sealed-file.ts'
import { describeSources } from '../run/sources.ts'
import { work } from '../run/work.ts'
import { addTargetOptions, type TargetOptions, targetOf } from '../target-options.ts'
import { loadWorld, type World } from '../world.ts'

interface RunOptions extends TargetOptions, ModelOptions {
  readonly dataset?: string
  readonly tasks: number
  readonly difficulty: [number, number]
  readonly split?: string
  readonly policy?: string
  readonly rollouts: number
  readonly branch: RunConfiguration['branch']
  readonly concurrency: number
  readonly processes: number
  readonly worker?: true
  readonly maxSteps?: number
  readonly weights: Record<string, number>
  readonly shaping?: true
  readonly discount: number
  readonly seed: string
  readonly transport?: Transport
  readonly workerThreads?: true
  readonly retryTimeout: number
  readonly out?: string
  readonly resume?: true
  readonly json?: true
}

export function runCommand(console: Console): Command {
  const command = new Command('run')
    .description('play many episodes at once, and report on them')
    .argument('<world>', 'name, path or package of the world')
    .option('--dataset <file>', 'tasks to play, as JSONL; left out, they are generated')
    .option('--tasks <count>', 'how many tasks to generate', wholeNumber(1), 100)
    .addOption(
      new Option('--difficulty <low..high>', 'of generated tasks, from 0 to 1')
        .argParser(range)
        .default(WHOLE_RANGE, '0..1'),
    )
    .addOption(new Option('--split <split>', 'play only this split').choices(['train', 'validation', 'test']))
    .option(
      '--policy <policy>',
      "random, solver, another of the world's, script:<file.json>, llm:<model>, agent:<file>, process:<command>, or a module (default: solver where there is one)",
    )
    .option('--rollouts <count>', 'episodes of each task', wholeNumber(1), 1)
    .addOption(
      new Option('--branch <lines@step,…>', 'fork every rollout at a step into so many lines that each play on: a tree')
        .argParser(branchPoints)
        .default([], 'none'),
    )
    .option('--concurrency <count>', 'episodes in flight at once', wholeNumber(1), 64)
    .option('--processes <count>', 'processes that play them, a core each', wholeNumber(1, 256), 1)
    .addOption(new Option('--worker', 'play what the run that started this process deals to it').hideHelp())
    .option('--max-steps <count>', 'cut every episode off after so many steps', wholeNumber(1))
    .addOption(
      new Option('--weights <term=number,…>', 'weights of reward terms')
        .argParser(weights)
        .default({}, '1 for each term'),
    )
    .option('--shaping', "add potential-based shaping, from the world's potential")
    .option('--discount <γ>', 'of shaping and of the discounted return', numberWithin(0, 1), 1)
    .option('--seed <seed>', 'decides generated tasks, every draw of a policy, and forks', someText, '0')
    .addOption(
      new Option('--transport <transport>', 'how to reach the world')
        .choices(['in-process', 'http', 'stdio'])
        .default(undefined, 'in-process; http for an agent'),
    )
    .option('--worker-threads', 'play the rules in threads, a core each; rules that run for more than 10 s are stopped')
    .option(
      '--retry-timeout <seconds>',
      'how long a call that gets no answer is made again, as while a server restarts',
      wholeNumber(0),
      RETRY_TIMEOUT,
    )
    .option('--out <folder>', 'where to write the run (default: runs/<world>-<policy>-<seed>, a long policy shortened)')
    .option('--resume', 'play only what the run in the folder lacks')
    .option('--json', 'print the summary as JSON')
    .addHelpText(
      'after',
      `
Examples:
  episodic run number-guessing --tasks 500 --policy random
  episodic run number-guessing --transport http --rollouts 4 --shaping
  episodic run number-guessing --tasks 100000 --processes 4
  episodic run frozen-lake --branch 4@3        best of 4, from the third step
  episodic run frozen-lake --branch 4@3,2@6    trees of 8 episodes
  episodic run number-guessing --url http://127.0.0.1:7337/env --tasks 50
  episodic run number-guessing --out runs/mine --resume
  episodic run warehouse --policy llm:qwen3 --base-url http://127.0.0.1:8000/v1
  episodic run warehouse --policy 'process:my-agent --url $EPISODIC_MCP_URL'`,
    )
  return addTargetOptions(addModelOptions(command)).action((world: string, options: RunOptions, { parent }: Command) =>
    run(world, options, parent?.args ?? [], console),
  )
}

async function run(reference: string, options: RunOptions, args: readonly string[], console: Console): Promise<void> {
  const world = await loadWorld(reference)
  const target = targetOf(options)
  const policyName = options.policy ?? (world.solver ? 'solver' : 'random')
  const player = await findPlayer(policyName, world, { model: modelSettingsOf(options, options.processes) })
  const { concurrency, processes, retryTimeout, workerThreads = false } = options
  // An agent needs an address.
  const transport = options.transport ?? (isAgent(player) ? 'http' : 'in-process')
  const playHere = (configuration: RunConfiguration) =>
    openPlaying(configuration, {
      reference,
      world,
      target,
      transport,
      workerThreads,
      concurrency,
      retryTimeout,
      player,
    })
  if (options.worker) return work(playHere)
  if (isAgent(player) && options.branch.length > 0)
    throw new HarnessError(
      'option-invalid',
      'An agent plays a whole episode by itself, so that --branch cannot fork it.',
    )
  const configuration = await configure(world, policyName, options)
  const { branch } = configuration
  const folder = resolve(options.out ?? defaultFolder(configuration))
  const earlier = await findRun(folder, configuration, options.resume === true)
  const interruption = untilInterrupted(console)
  const { signal } = interruption
  const tasks = () => tasksOf(configuration, world, { signal })
  try {
    const warn = (notice: string) => void console.err.write(`${console.err.isTTY ? '\n' : ''}${notice}\n`)
    await using playing = await (processes === 1
      ? playHere(configuration)
      : openWorkers(configuration, { args, processes, warn, signal }))
    const played = {
      transport: target ? 'a server that was there' : transport,
      concurrency,
      processes,
      player: player.name,
    }
    const sources = await describeSources(folder, reference, world, configuration)
    const count = earlier ? 0 : await countTasks(tasks())
    using lock = lockRun(folder)
    // Looked at anew: somebody may have begun it since.
    const manifest =
      (await findRun(folder, configuration, options.resume === true)) ??
      (await beginRun(folder, configuration, count, { played, sources }))
    if (manifest.sources && manifest.sources.world.sha256 !== sources.world.sha256)
      warn(
        `${shownPath(fileURLToPath(world.url))} has changed since this run began. Where it plays otherwise now, give the environment a new version and start another run.`,
      )
    const leaves = countLeaves(branch)
    const sealed = new Set<string>()
    const fold = await foldRun(folder, manifest, {
      signal,
      onTorn: (line) => console.err.write(tornNotice(line)),
      onSealed: (record) => sealed.add(keyOf(record)),
    })
    await using file = await SealedFile.open(join(folder, RUN_FILES.episodes), () => lock.assertHeld())
    const progress = showProgress(console.err, manifest.scheduled, sealed.size)
    let failure: unknown = null
    try {
      await playPlan(unsealed(planOf(tasks(), configuration.rollouts), leaves, sealed), {
        run: manifest.name,
        play: playing.play,
        inFlight: plannedInFlight(concurrency, branch),
        elapsed: fold.elapsed,
        signal,
        async seal(record) {
          // Of a tree that is played again, only what was missing is kept.
          if (sealed.has(keyOf(record))) return
          await file.append(record)
          fold.add(record)
          progress.add(record)
        },
      })
    } catch (error) {
      failure = error
    } finally {
      progress.stop()
    }
    // A run that lost its server, or that was stopped, has something to report all the same.
    if (failure !== null && !signal.aborted && !isLost(failure)) throw failure
    if (HarnessError.is(failure, 'disk-failed')) throw failure
    lock.assertHeld()
    const { counts, failures } = await writeReport(folder, fold, { json: options.json === true }, console)
    if (counts.unresolved > 0) {
      console.err.write(`${counts.unresolved} episodes are left. To play them:\n  ${resumeLine(folder)}\n`)
      if (HarnessError.is(failure)) throw failure
      process.exitCode = interruption.status ?? 1
    } else if (counts.finished === 0)
      throw new HarnessError('run-failed', `No episode finished. ${failures[0]?.name}: ${failures[0]?.message}`)
  } catch (error) {
    // Stopped before it could begin to play: there is nothing to report.
    if (signal.aborted && error === signal.reason) {
      process.exitCode = interruption.status ?? 1
      return
    }
    if (HarnessError.is(error, 'disk-failed') && holdsRun(folder))
      console.err.write(`With room for more, go on with:\n  ${resumeLine(folder)}\n`)
    throw error
  } finally {
    interruption.stop()
  }
}

/** Reads all tasks once, so that a bad one is told of before anything is played. */
async function countTasks(tasks: AsyncIterable<{ readonly id: string }>): Promise<number> {
  const ids = new Set<string>()
  for await (const { id } of tasks) {
    // An id names the episodes of its task: two of one name could not be told apart, nor both be counted.
    if (ids.has(id)) throw new HarnessError('dataset-invalid', `Two tasks have the id ${id}. Give each one of its own.`)
    ids.add(id)
  }
  if (ids.size === 0)
    throw new HarnessError('dataset-invalid', 'There is no task to play. Check --dataset and --split.')
  return ids.size
}

async function configure(world: World, policy: string, options: RunOptions): Promise<RunConfiguration> {
  const { name, version, hasPotential } = world.environment
  const split = options.split ?? null
  const policyFile = policyFileOf(policy)
  const leaves = countLeaves(options.branch)
  if (options.branch.length > 0 && leaves > options.concurrency)
    throw new HarnessError(
      'option-invalid',
      `--branch makes ${leaves} episodes of each rollout, which are in flight together, and --concurrency allows ${options.concurrency}. Give --concurrency ${leaves}, or fewer lines.`,
    )
  const rollouts = plannedInFlight(options.concurrency, options.branch)
  if (options.processes > rollouts)
    throw new HarnessError(
      'option-invalid',
      `--processes ${options.processes} are more than the ${rollouts} ${leaves > 1 ? 'trees' : 'episodes'} that --concurrency ${options.concurrency} plays at once. Give fewer, or more --concurrency.`,
    )
  if (options.shaping && !hasPotential)
    throw new HarnessError('option-invalid', `${name} defines no potential, so --shaping has nothing to shape with.`)
  return {
    environment: { name, version },
    tasks: options.dataset
      ? { from: 'dataset', file: options.dataset, sha256: await hashFile(options.dataset), split }
      : { from: 'generator', count: options.tasks, difficulty: options.difficulty, split },
    policy: { name: policy, sha256: policyFile && (await hashFile(policyFile)) },
    sampling: samplingOf(policy, options),
    rollouts: options.rollouts,
    branch: options.branch,
    maxSteps: options.maxSteps ?? null,
    weights: options.weights,
    shaping: options.shaping ?? false,
    discount: options.discount,
    seed: options.seed,
  }
}

/** What of a language model's settings decides what it answers, as far as anything does. */
function samplingOf(policy: string, options: RunOptions): RunConfiguration['sampling'] {
  const { temperature, maxTokens, tokenBudget } = modelSettingsOf(options)
  return isLlm(policy) && (temperature ?? maxTokens ?? tokenBudget) !== null
    ? { temperature, maxTokens, tokenBudget }
    : null
}

/** The episodes of a plan that are not sealed yet. Each ends in `leaves` leaves. */
async function* unsealed(
  plan: AsyncIterable<PlannedEpisode>,
  leaves: number,
  sealed: ReadonlySet<string>,
): AsyncGenerator<PlannedEpisode> {
  for await (const planned of plan)
    for (let leaf = 0; leaf < leaves; leaf++) {
      if (sealed.has(keyOf({ task: planned.task, attempt: planned.attempt * leaves + leaf }))) continue
      yield planned
      break
    }
}

/** Whether a run stopped because its server, worker or model is gone or refuses requests: such a run can be resumed. */
function isLost(failure: unknown): boolean {
  return (['server-failed', 'worker-failed', 'model-refused'] as const).some((code) => HarnessError.is(failure, code))
}

interface Keyed {
  readonly task: { readonly id: string }
  readonly attempt: number
}

function keyOf({ task, attempt }: Keyed): string {
  return `${task.id} ${attempt}`
}
