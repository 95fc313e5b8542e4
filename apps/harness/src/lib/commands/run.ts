import { resolve } from 'node:path'
import { noteNeverEnded } from '@episodic/report'
import { Command, Option } from 'commander'
import { type Console, resumeCommand, shownPath } from '../base/console.ts'
import { HarnessError } from '../base/harness-error.ts'
import { untilInterrupted } from '../base/interruption.ts'
import {
  branchPoints,
  collect,
  named,
  nonEmpty,
  numberWithin,
  range,
  stages,
  WHOLE_RANGE,
  weights,
  wholeNumber,
} from '../base/option-values.ts'
import { fleetOf } from '../fleet/open-fleet.ts'
import { openRedisQueue } from '../fleet/redis/open-redis-queue.ts'
import { addMetricsOptions, type MetricsFlags, serveMetrics } from '../fleet/serve-metrics.ts'
import { addModelOptions } from '../models/model-options.ts'
import { TRANSPORTS } from '../play/episodes/open-environment.ts'
import { RETRIED } from '../play/plan/tries.ts'
import { configureRun, journalOf, openPrepared, prepareRun } from '../play/prepare-run.ts'
import { concludeRun, runAlone } from '../play/run-alone.ts'
import { CONCURRENCY, LONGEST_EPISODE, type RunSettings, runSettingsSchema } from '../play/run-settings.ts'
import { holdsSet } from '../play/sets/set-folder.ts'
import { runWorker } from '../play/workers/worker-main.ts'
import { CURRICULA } from '../run-folder/plan/curriculum-settings.ts'
import { showSummary } from '../run-folder/record/report-run.ts'
import { defaultFolder, freeFolder, readManifest } from '../run-folder/record/run-folder.ts'
import { resumeCommandsFor } from '../run-folder/resume-commands.ts'
import { addTargetOptions, PLAYED_SERVERS } from '../worlds/target-options.ts'
import { askAgain, askForSet, listSet, runSet, setFolder } from './run-set.ts'
import { leaseOption } from './work.ts'

interface RunOptions extends Omit<RunSettings, 'policy'>, MetricsFlags {
  readonly policy: readonly string[]
  readonly policies?: string
  readonly set?: string
  readonly baseline?: string
  readonly dryRun?: true
  readonly worker?: true
  readonly out?: string
  /** A folder to resume, or `true` for that of `--out`. */
  readonly resume?: true | string
  readonly json?: true
}

const DEFAULTS = runSettingsSchema.parse({})

export function runCommand(console: Console): Command {
  const command = new Command('run')
    .argument(
      '[worlds...]',
      'name, path or package of the world; on a server of OpenEnv or ORS, its environment (default: the first)',
    )
    .optionsGroup('Tasks:')
    .option('--dataset <file>', 'tasks to play, as JSONL (default: generate them)')
    .option('--tasks <count>', 'number of tasks to generate', wholeNumber(1), DEFAULTS.tasks)
    .addOption(
      new Option('--difficulty <low..high>', 'difficulty of generated tasks, from 0 to 1')
        .argParser(range)
        .default(WHOLE_RANGE, '0..1'),
    )
    .addOption(
      new Option('--split <split>', 'play only this split of the dataset').choices(['train', 'validation', 'test']),
    )
    .optionsGroup('Players:')
    .addOption(
      new Option(
        '--policy <policy>',
        'random, solver, a policy of the world, script:<file.json>, llm:<model>, agent:<file>, process:<command>, or a module; can be repeated',
      )
        .argParser(collect)
        .default([], 'solver if the world has one, else random'),
    )
    .optionsGroup('Sets of runs:')
    .option('--policies <file>', 'players of a set, as JSON: a list of { "name", "policy", … }')
    .option('--set <name>', 'play a set of runs, every world with every player, in runs/<name>')
    .option('--baseline <player>', 'of a set: the player that the others are compared with (default: the first)')
    .option('--dry-run', 'list the runs, their episodes and what they can cost, and play nothing')
    .optionsGroup('Players:')
    .addOption(
      new Option('--seat <seat=policy>', 'policy of one seat, of several; --policy plays those not named').argParser(
        named,
      ),
    )
    .option('--focus <seat>', 'seat whose figures head the report (default: the first)')
    .option(
      '--policy-version <version>',
      'version of the weights that play, for the record: of --policy, and of every seat that it plays',
      nonEmpty,
    )
    .optionsGroup('Episodes:')
    .option('--rollouts <count>', 'episodes of each task', wholeNumber(1), DEFAULTS.rollouts)
    .addOption(
      new Option('--branch <lines@step,…>', 'fork each rollout at these steps, into a tree of episodes')
        .argParser(branchPoints)
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--curriculum <kind>',
        'draw tasks, instead of playing each in turn: in stages of difficulty, or those solved about half of the time',
      ).choices(CURRICULA),
    )
    .addOption(
      new Option(
        '--stages <count@low..high,…>',
        'of a staged curriculum: tasks to draw in each stage, and their difficulty',
      ).argParser(stages),
    )
    .addOption(
      new Option(
        '--adaptive <name=number,…>',
        'of an adaptive curriculum: draws (1000), target (0.5), focus (a tenth of the tasks), explore (0.1), lag (64)',
      ).argParser(weights),
    )
    .optionsGroup('Processes and connections:')
    .option(
      '--concurrency <count>',
      `episodes in flight at once (default: ${CONCURRENCY} for each process)`,
      wholeNumber(1),
    )
    .option('--processes <count>', 'worker processes, one per core', wholeNumber(1, 256), DEFAULTS.processes)
    .option('--queue <url>', 'workers of this queue play, on any machine: see episodic work')
    .addOption(leaseOption())
    .addOption(new Option('--worker', 'play the episodes that the parent process sends').hideHelp())
    .optionsGroup('Episodes:')
    .option('--max-steps <count>', 'truncate each episode after this many steps', wholeNumber(1))
    .option(
      '--episode-timeout <seconds>',
      'stop a player that takes longer for an episode (default: never, and agents after 1800)',
      wholeNumber(1, LONGEST_EPISODE),
    )
    .optionsGroup('Rewards:')
    .addOption(
      new Option('--weights <term=number,…>', 'weights of reward terms')
        .argParser(weights)
        .default({}, '1 for each term'),
    )
    .option('--shaping', 'add potential-based reward shaping, γΦ(s′) − Φ(s)')
    .option(
      '--discount <γ>',
      'discount factor of shaping and of the discounted return',
      numberWithin(0, 1),
      DEFAULTS.discount,
    )
    .optionsGroup('Tasks:')
    .option('--seed <seed>', 'seed of generated tasks, policies and forks', nonEmpty, DEFAULTS.seed)
    .optionsGroup('Processes and connections:')
    .addOption(
      new Option('--transport <transport>', 'how to connect to the world')
        .choices(TRANSPORTS)
        .default(undefined, 'the fastest: in-process; websocket for agents and servers that offer it, else http'),
    )
    .option('--worker-threads', 'run the rules in worker threads, one per core; stop those that take longer than 10 s')
    .option(
      '--retry-timeout <seconds>',
      'how long to keep retrying an unanswered call, for example during a server restart',
      wholeNumber(0),
      DEFAULTS.retryTimeout,
    )
    .optionsGroup('Output, and playing on:')
    .option(
      '--out <folder>',
      'folder of the run (default: runs/<world>-<policy>-<seed>, and with -2, -3 … if that was played to its end)',
    )
    .option('--resume [folder]', 'play the missing episodes of the run in --out, or of the set in this folder')
    .addOption(
      new Option(
        '--retry-failed [which]',
        'with --resume: also play failed episodes again: those of models and servers, or all',
      )
        .choices(RETRIED)
        .preset('model'),
    )
    .option(
      '--tries <count>',
      'with --retry-failed: how often an episode may be played in all',
      wholeNumber(2),
      DEFAULTS.tries,
    )
    .optionsGroup('Language models:')
    .option('--record-models', 'with agent:<file> and process:<command>: record what it asks of language models')
    .optionsGroup('Output, and playing on:')
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
  episodic run frozen-lake --curriculum staged --stages 500@0..0.3,500@0.7..1
  episodic run frozen-lake --curriculum adaptive --adaptive draws=500,target=0.6
  episodic run number-guessing --url http://127.0.0.1:7337/env --tasks 50
  episodic run --url openenv:http://127.0.0.1:8000 --tasks 20 --max-steps 50
  episodic run --url ors:http://127.0.0.1:8080 --split train --policy llm:qwen3
  episodic run number-guessing --out runs/mine --resume
  episodic run number-guessing --out runs/mine --resume --retry-failed
  episodic run number-guessing frozen-lake --policy solver --policy random
  episodic run warehouse --policies models.json --set june --dry-run
  episodic run --resume runs/june
  episodic run kuhn-poker --seat first=solver --seat second=random
  episodic run warehouse --policy llm:qwen3 --base-url http://127.0.0.1:8000/v1
  episodic run warehouse --policy 'process:my-agent --url $EPISODIC_MCP_URL'
  episodic run warehouse --policy 'process:my-agent' --record-models`,
    )
  return addTargetOptions(
    addModelOptions(
      addMetricsOptions(command.optionsGroup('Processes and connections:')).optionsGroup('Language models:'),
    ).optionsGroup('Processes and connections:'),
    PLAYED_SERVERS,
  ).action((worlds: string[], options: RunOptions) => run(worlds, options, command, console))
}

/** Returns the error for a run that shall be resumed by its folder alone, as a set can be. */
async function worldMissing(folder: string): Promise<HarnessError> {
  const manifest = await readManifest(folder)
  const { resume } = resumeCommandsFor(
    { folder: resolve(folder), setFolder: null, manifest },
    { missing: 1, failed: 0 },
  )
  const example = resume === undefined ? '' : `, for example:\n  ${resume}`
  return new HarnessError(
    'option-invalid',
    `${shownPath(folder)} is one run, and only a set is resumed by its folder alone. Give what the run plays too${example}`,
  )
}

async function run(
  worlds: readonly string[],
  {
    out,
    resume,
    worker,
    json,
    policy,
    policies,
    set,
    baseline,
    dryRun,
    metricsPort,
    metricsAddress,
    ...rest
  }: RunOptions,
  command: Command,
  console: Console,
): Promise<void> {
  if (worker)
    return runWorker(async ({ reference, settings, target, folder, configuration }) => {
      const prepared = await prepareRun(reference, settings, undefined, target)
      return openPrepared(prepared, configuration, journalOf(prepared, configuration, folder))
    })
  const settings = runSettingsSchema.parse(rest)
  assertForQueue(settings, command)
  await using _metrics =
    metricsPort === undefined ? null : await openMetrics(settings, metricsPort, metricsAddress, console)
  if (typeof resume === 'string' && holdsSet(resume)) {
    const asked = await askAgain(resume, settings, command)
    const folder = resolve(resume)
    return dryRun
      ? listSet(asked, { folder, json }, console)
      : runSet(asked, { folder, resume: true, isAgain: true, json }, console)
  }
  const isSet = worlds.length > 1 || policy.length > 1 || policies !== undefined || set !== undefined
  if (baseline !== undefined && !isSet)
    throw new HarnessError('option-invalid', '--baseline is for a set of runs: give several players or worlds.')
  if (typeof resume === 'string' && isSet) throw new HarnessError('option-invalid', `${resume} holds no set to resume.`)
  if ((isSet || dryRun) && settings.curriculum !== undefined)
    throw new HarnessError(
      'option-invalid',
      '--curriculum draws tasks by how one player does, so it is for a run of its own. Play each player in a run, and leave --set, --policies and --dry-run out.',
    )
  if (isSet || dryRun) {
    const asked = await askForSet({ worlds, policies, policy, baseline, settings })
    const folder = isSet ? setFolder(asked, { set, out }) : null
    if (dryRun || folder === null) return listSet(asked, { folder, out, json }, console)
    return runSet(asked, { folder, resume: resume === true, json }, console)
  }
  if (typeof resume === 'string' && worlds.length === 0 && !settings.url) throw await worldMissing(resume)
  const prepared = await prepareRun(worlds[0], { ...settings, policy: policy[0] })
  const configuration = await configureRun(prepared)
  const named = (typeof resume === 'string' ? resume : out) ?? defaultFolder(configuration)
  const folder = resolve(out === undefined && resume === undefined ? await freeFolder(named) : named)
  if (folder !== resolve(named))
    console.err.write(`${named} holds a run that was played to its end. This one goes to ${shownPath(folder)}.\n`)
  const interruption = untilInterrupted(console)
  const { signal } = interruption
  try {
    const openRunner = fleetOf(prepared.settings)
    const options = { folder, resume: resume !== undefined, signal, openRunner, resumeLine: resumeCommand }
    const played = await runAlone(prepared, configuration, options, console)
    showSummary(folder, played.summary, { json }, console)
    const notice = noteNeverEnded(played.summary)
    if (notice !== null) console.err.write(`${notice}\n`)
    if (!concludeRun(played, resumeCommand, console)) process.exitCode = interruption.status ?? 1
  } catch (error) {
    // Interrupted before it played anything: there is nothing to report.
    if (!signal.aborted || error !== signal.reason) throw error
    process.exitCode = interruption.status ?? 1
  } finally {
    interruption.stop()
  }
}

/** Throws `option-invalid` for `--concurrency` with a queue. Its default does not count. */
function assertForQueue({ queue, concurrency }: RunSettings, command: Command): void {
  if (queue !== undefined && command.getOptionValueSource('concurrency') === 'cli')
    throw new HarnessError(
      'option-invalid',
      `--concurrency is for episodes that this process plays, and with --queue the workers play them all. Leave it out, and start the workers with it: episodic work --concurrency ${concurrency} --queue …`,
    )
}

/** Serves metrics of the queue of a run. Rejects with `option-invalid` if it has none. */
async function openMetrics(
  { queue: url }: RunSettings,
  port: number,
  address: string,
  { err }: Console,
): Promise<AsyncDisposable> {
  if (url === undefined)
    throw new HarnessError('option-invalid', '--metrics-port shows a queue: give --queue too, or leave it out.')
  await using opened = new AsyncDisposableStack()
  const queue = opened.use(await openRedisQueue(url))
  const metrics = opened.use(await serveMetrics(queue, { port, address }))
  err.write(`Metrics at ${metrics.url}/metrics\n`)
  return opened.move()
}
