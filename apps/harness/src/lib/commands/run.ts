import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { seatRecordOf } from '@episodic/report'
import { Command, Option } from 'commander'
import { type Console, resumeCommand, shownPath } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { untilInterrupted } from '../interruption.ts'
import { addModelOptions, type ModelOptions, modelSettingsOf, recordingOf } from '../llm/model-options.ts'
import {
  branchPoints,
  named,
  nonEmpty,
  numberWithin,
  range,
  WHOLE_RANGE,
  weights,
  wholeNumber,
} from '../option-values.ts'
import { isLlm, policyFileOf } from '../policies.ts'
import type { RunConfiguration } from '../run/plan/configuration.ts'
import { countLeaves } from '../run/plan/configuration.ts'
import { countTasks, planOf, tasksOf, unsealed } from '../run/plan/plan.ts'
import { defaultPolicy, findPlayers, includesAgent, type NamedPlayers, seatPolicies } from '../run/plan/players.ts'
import { describeSources, hashFile } from '../run/plan/sources.ts'
import { createTries, type Retried } from '../run/plan/tries.ts'
import { RETRY_TIMEOUT, type Transport } from '../run/play/open-environment.ts'
import { openRunner } from '../run/play/open-runner.ts'
import { maxTasksInFlight, runPlan } from '../run/play/run-plan.ts'
import { showProgress } from '../run/record/progress.ts'
import { foldRun, tornNotice, writeReport } from '../run/record/report-run.ts'
import { createRun, defaultFolder, findRun, holdsRun, RUN_FILES } from '../run/record/run-folder.ts'
import { lockRun } from '../run/record/run-lock.ts'
import { SealedFile } from '../run/record/sealed-file.ts'
import { openWorkers } from '../run/workers/open-workers.ts'
import { runWorker } from '../run/workers/worker-main.ts'
import { isServed, loadPlayedWorld, type PlayedWorld } from '../served-world.ts'
import { addTargetOptions, PLAYED_SERVERS, type TargetOptions, targetOf } from '../target-options.ts'

interface RunOptions extends TargetOptions, ModelOptions {
  readonly dataset?: string
  readonly tasks: number
  readonly difficulty: [number, number]
  readonly split?: string
  readonly policy?: string
  readonly seat?: Record<string, string>
  readonly focus?: string
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
  readonly retryFailed?: Retried
  readonly tries: number
  readonly json?: true
}

/** @param resume - returns the command line that plays the rest of the run in a folder. */
export function runCommand(console: Console, resume: (folder: string) => string = resumeCommand): Command {
  const command = new Command('run')
    .description('run many episodes concurrently, and write a report')
    .argument(
      '[world]',
      'name, path or package of the world; on a server of OpenEnv or ORS, its environment (default: the first)',
    )
    .option('--dataset <file>', 'tasks to play, as JSONL (default: generate them)')
    .option('--tasks <count>', 'number of tasks to generate', wholeNumber(1), 100)
    .addOption(
      new Option('--difficulty <low..high>', 'difficulty of generated tasks, from 0 to 1')
        .argParser(range)
        .default(WHOLE_RANGE, '0..1'),
    )
    .addOption(
      new Option('--split <split>', 'play only this split of the dataset').choices(['train', 'validation', 'test']),
    )
    .option(
      '--policy <policy>',
      'random, solver, a policy of the world, script:<file.json>, llm:<model>, agent:<file>, process:<command>, or a module (default: solver if the world has one, else random)',
    )
    .addOption(
      new Option('--seat <seat=policy>', 'policy of one seat, of several; --policy plays those not named').argParser(
        named,
      ),
    )
    .option('--focus <seat>', 'seat whose figures head the report (default: the first)')
    .option('--rollouts <count>', 'episodes of each task', wholeNumber(1), 1)
    .addOption(
      new Option('--branch <lines@step,…>', 'fork each rollout at these steps, into a tree of episodes')
        .argParser(branchPoints)
        .default([], 'none'),
    )
    .option('--concurrency <count>', 'episodes in flight at once', wholeNumber(1), 64)
    .option('--processes <count>', 'worker processes, one per core', wholeNumber(1, 256), 1)
    .addOption(new Option('--worker', 'play the episodes that the parent process sends').hideHelp())
    .option('--max-steps <count>', 'truncate each episode after this many steps', wholeNumber(1))
    .addOption(
      new Option('--weights <term=number,…>', 'weights of reward terms')
        .argParser(weights)
        .default({}, '1 for each term'),
    )
    .option('--shaping', 'add potential-based reward shaping, γΦ(s′) − Φ(s)')
    .option('--discount <γ>', 'discount factor of shaping and of the discounted return', numberWithin(0, 1), 1)
    .option('--seed <seed>', 'seed of generated tasks, policies and forks', nonEmpty, '0')
    .addOption(
      new Option('--transport <transport>', 'how to connect to the world')
        .choices(['in-process', 'http', 'stdio'])
        .default(undefined, 'in-process; http for an agent'),
    )
    .option('--worker-threads', 'run the rules in worker threads, one per core; stop those that take longer than 10 s')
    .option(
      '--retry-timeout <seconds>',
      'how long to keep retrying an unanswered call, for example during a server restart',
      wholeNumber(0),
      RETRY_TIMEOUT,
    )
    .option('--out <folder>', 'folder of the run (default: runs/<world>-<policy>-<seed>)')
    .option('--resume', 'play the missing episodes of the run in --out')
    .addOption(
      new Option(
        '--retry-failed [which]',
        'with --resume: also play failed episodes again: those of models and servers, or all',
      )
        .choices(['model', 'all'])
        .preset('model'),
    )
    .option('--tries <count>', 'with --retry-failed: how often an episode may be played in all', wholeNumber(2), 3)
    .option('--json', 'print the summary as JSON')
    .addHelpText(
      'after',
      `
Examples:
  episodic run number-guessing --tasks 500 --policy random
  episodic run number-guessing --transport http --rollouts 4 --shaping
  episodic run number-guessing --tasks 100000 --processes 4
  episodic run frozen-lake --branch 4@3        4 episodes that part at step 3
  episodic run frozen-lake --branch 4@3,2@6    trees of 8 episodes
  episodic run number-guessing --url http://127.0.0.1:7337/env --tasks 50
  episodic run --url openenv:http://127.0.0.1:8000 --tasks 20 --max-steps 50
  episodic run --url ors:http://127.0.0.1:8080 --split train --policy llm:qwen3
  episodic run number-guessing --out runs/mine --resume
  episodic run number-guessing --out runs/mine --resume --retry-failed
  episodic run kuhn-poker --seat first=solver --seat second=random
  episodic run warehouse --policy llm:qwen3 --base-url http://127.0.0.1:8000/v1
  episodic run warehouse --policy 'process:my-agent --url $EPISODIC_MCP_URL'`,
    )
  return addTargetOptions(addModelOptions(command), PLAYED_SERVERS).action(
    (world: string | undefined, options: RunOptions, { parent }: Command) =>
      run(world, options, parent?.args ?? [], console, resume),
  )
}

async function run(
  given: string | undefined,
  options: RunOptions,
  args: readonly string[],
  console: Console,
  resume: (folder: string) => string,
): Promise<void> {
  const target = targetOf(options, PLAYED_SERVERS)
  const world = await loadPlayedWorld(given, target)
  const reference = given ?? world.environment.name
  const chosen = { policy: options.policy, seats: options.seat, focus: options.focus }
  const players = await findPlayers(world, chosen, { model: modelSettingsOf(options, options.processes) })
  const isPlayedByAgent = includesAgent(players)
  const { concurrency, processes, retryTimeout, workerThreads = false } = options
  // An agent needs a URL.
  const transport = options.transport ?? (isPlayedByAgent ? 'http' : 'in-process')
  const openHere = (configuration: RunConfiguration) =>
    openRunner(configuration, {
      reference,
      world,
      target,
      transport,
      workerThreads,
      concurrency,
      retryTimeout,
      players,
      recording: recordingOf(options),
    })
  if (options.worker) return runWorker(openHere)
  assertRetry(options)
  if (isPlayedByAgent && options.branch.length > 0)
    throw new HarnessError(
      'option-invalid',
      '--branch needs a policy: an agent plays whole episodes, which cannot be forked. Leave --branch out.',
    )
  if (isPlayedByAgent && isServed(world))
    throw new HarnessError(
      'option-invalid',
      'An agent plays over MCP, and a server of another system has no session URLs. Give a policy.',
    )
  const configuration = await configure(world, chosen, options)
  const { branch } = configuration
  const folder = resolve(options.out ?? defaultFolder(configuration))
  const earlier = await findRun(folder, configuration, options.resume === true)
  const interruption = untilInterrupted(console)
  const { signal } = interruption
  const tasks = () => tasksOf(configuration, world, { signal })
  try {
    const warn = (notice: string) => void console.err.write(`${console.err.isTTY ? '\n' : ''}${notice}\n`)
    await using runner = await (processes === 1
      ? openHere(configuration)
      : openWorkers(configuration, { args, processes, warn, signal }))
    const policyNames = [configuration.policy, ...Object.values(configuration.seats ?? {})].map(({ name }) => name)
    const played = {
      transport: isServed(world) ? world.address : target ? 'a server that was there' : transport,
      concurrency,
      processes,
      ...(players.kind === 'one' && { player: players.player.name }),
      ...(isServed(world) && { guarantees: world.guarantees }),
      ...(policyNames.some(isLlm) && { transcript: options.transcript }),
    }
    const sources = await describeSources(folder, reference, world, configuration)
    const count = earlier ? 0 : await countTasks(tasks())
    using lock = lockRun(folder)
    // Look again: another process may have created it since.
    const manifest =
      (await findRun(folder, configuration, options.resume === true)) ??
      (await createRun(folder, configuration, count, { played, sources }))
    const { world: recorded } = manifest.sources ?? {}
    if (!isServed(world) && recorded && recorded.sha256 !== sources.world?.sha256)
      warn(
        `${shownPath(fileURLToPath(world.url))} has changed since this run started. If its behavior changed, give the environment a new version and start a new run.`,
      )
    const leaves = countLeaves(branch)
    const tries = createTries({ retried: options.retryFailed, most: options.tries })
    const fold = await foldRun(folder, manifest, {
      signal,
      onTorn: (line) => console.err.write(tornNotice(line)),
      onSealed: (record) => void tries.add(record),
    })
    await using file = await SealedFile.open(join(folder, RUN_FILES.episodes), () => lock.assertHeld())
    const progress = showProgress(console.err, manifest.scheduled, tries.done)
    let failure: unknown = null
    try {
      await runPlan(unsealed(planOf(tasks(), configuration.rollouts), leaves, tries.next), {
        run: manifest.name,
        runTask: runner.runTask,
        inFlight: maxTasksInFlight(concurrency, branch),
        elapsed: fold.elapsed,
        signal,
        async seal(record) {
          // Of a tree that is played again, only the missing episodes are sealed.
          if (!tries.add(record)) return
          await file.append(record)
          fold.add(record)
          progress.add(seatRecordOf(record, configuration.focus))
        },
      })
    } catch (error) {
      failure = error
    } finally {
      progress.stop()
    }
    // A run that lost its server or was interrupted still has results to report.
    if (failure !== null && !signal.aborted && !isLost(failure)) throw failure
    if (HarnessError.is(failure, 'disk-failed')) throw failure
    lock.assertHeld()
    const { counts, failures } = await writeReport(folder, fold, { json: options.json === true }, console)
    if (counts.unresolved > 0) {
      console.err.write(`${counts.unresolved} episodes are left. To play them:\n  ${resume(folder)}\n`)
      if (HarnessError.is(failure)) throw failure
      process.exitCode = interruption.status ?? 1
    } else if (counts.finished === 0)
      throw new HarnessError('run-failed', `No episode finished. ${failures[0]?.name}: ${failures[0]?.message}`)
  } catch (error) {
    // Interrupted before it played anything: there is nothing to report.
    if (signal.aborted && error === signal.reason) {
      process.exitCode = interruption.status ?? 1
      return
    }
    if (HarnessError.is(error, 'disk-failed') && holdsRun(folder))
      console.err.write(`When there is space again, resume with:\n  ${resume(folder)}\n`)
    throw error
  } finally {
    interruption.stop()
  }
}

async function configure(world: PlayedWorld, players: NamedPlayers, options: RunOptions): Promise<RunConfiguration> {
  const { name, version, hasPotential } = world.environment
  const split = options.split ?? null
  const seats = seatPolicies(world, players)
  if (seats) assertForSeats(name, options)
  const focus = options.focus ?? Object.keys(seats ?? {})[0]
  const policy = (focus && seats?.[focus]) ?? players.policy ?? defaultPolicy(world)
  const leaves = countLeaves(options.branch)
  if (options.branch.length > 0 && leaves > options.concurrency)
    throw new HarnessError(
      'option-invalid',
      `--branch plays ${leaves} episodes of a tree at once, and --concurrency is ${options.concurrency}. Give --concurrency ${leaves}, or fewer lines.`,
    )
  const rollouts = maxTasksInFlight(options.concurrency, options.branch)
  if (options.processes > rollouts)
    throw new HarnessError(
      'option-invalid',
      `--processes ${options.processes} is more than the ${rollouts} ${leaves > 1 ? 'trees' : 'episodes'} that --concurrency ${options.concurrency} plays at once. Give fewer processes, or more --concurrency.`,
    )
  if (options.shaping && !hasPotential)
    throw new HarnessError(
      'option-invalid',
      `--shaping needs a potential, and ${name} defines no potential. Leave --shaping out.`,
    )
  return {
    environment: { name, version, ...(isServed(world) && { system: world.guarantees.system }) },
    tasks: options.dataset
      ? { from: 'dataset', file: options.dataset, sha256: await hashFile(options.dataset), split }
      : { from: 'generator', count: options.tasks, difficulty: options.difficulty, split },
    policy: await describePolicy(policy),
    ...(seats && { seats: await describePolicies(seats), focus }),
    sampling: samplingOf(seats ? Object.values(seats) : [policy], options),
    rollouts: options.rollouts,
    branch: options.branch,
    maxSteps: options.maxSteps ?? null,
    weights: options.weights,
    shaping: options.shaping ?? false,
    discount: options.discount,
    seed: options.seed,
  }
}

async function describePolicy(name: string): Promise<RunConfiguration['policy']> {
  const file = policyFileOf(name)
  return { name, sha256: file && (await hashFile(file)) }
}

async function describePolicies(seats: { readonly [seat: string]: string }): Promise<RunConfiguration['seats']> {
  const described = Object.entries(seats).map(async ([seat, name]) => [seat, await describePolicy(name)] as const)
  return Object.fromEntries(await Promise.all(described))
}

/** Throws `option-invalid` where failed episodes cannot be played again. */
function assertRetry({ retryFailed, resume, branch }: RunOptions): void {
  if (!retryFailed) return
  if (!resume)
    throw new HarnessError(
      'option-invalid',
      '--retry-failed plays the failed episodes of a run again: give --resume and its --out too.',
    )
  if (branch.length > 0)
    throw new HarnessError(
      'option-invalid',
      '--retry-failed is for runs without --branch: a tree is played as a whole.',
    )
}

/** Throws `option-invalid` for options that runs of several seats do not have. */
function assertForSeats(name: string, { branch, shaping }: RunOptions): void {
  const given = branch.length > 0 ? '--branch' : shaping ? '--shaping' : null
  if (given)
    throw new HarnessError(
      'option-invalid',
      `${given} is for environments of one seat, and ${name} has several. Leave it out.`,
    )
}

/** The settings of a language model that affect its answers. */
function samplingOf(policies: readonly string[], options: RunOptions): RunConfiguration['sampling'] {
  const { temperature, maxTokens, tokenBudget } = modelSettingsOf(options)
  return policies.some(isLlm) && (temperature ?? maxTokens ?? tokenBudget) !== null
    ? { temperature, maxTokens, tokenBudget }
    : null
}

/** Whether a run stopped because its server, workers or model failed. It can be resumed. */
function isLost(failure: unknown): boolean {
  return (['server-failed', 'worker-failed', 'model-refused'] as const).some((code) => HarnessError.is(failure, code))
}
