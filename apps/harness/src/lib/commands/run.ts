import { join, relative, resolve } from 'node:path'
import { Command, Option } from 'commander'
import type { Console } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { untilInterrupted } from '../interruption.ts'
import { numberWithin, range, weights, wholeNumber } from '../option-values.ts'
import { findPolicy } from '../policies.ts'
import { assertSame, type RunConfiguration } from '../run/configuration.ts'
import { type Door, openTarget, openWorld, scoredBy } from '../run/environments.ts'
import { hashFile, planOf, tasksOf } from '../run/plan.ts'
import { playEpisodes } from '../run/play-episodes.ts'
import { showProgress } from '../run/progress.ts'
import { foldRun, writeReport } from '../run/report-run.ts'
import { holdsRun, RUN_FILES, type RunManifest, readManifest, writeRunFile } from '../run/run-folder.ts'
import { SealedFile } from '../run/sealed-file.ts'
import { addTargetOptions, type TargetOptions, targetOf } from '../target-options.ts'
import { VERSION } from '../version.ts'
import { loadWorld, type World } from '../world.ts'

interface RunOptions extends TargetOptions {
  readonly dataset?: string
  readonly tasks: number
  readonly difficulty: [number, number]
  readonly split?: string
  readonly policy?: string
  readonly rollouts: number
  readonly concurrency: number
  readonly maxSteps?: number
  readonly weights: Record<string, number>
  readonly shaping?: true
  readonly discount: number
  readonly seed: string
  readonly over: Door
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
    .option('--difficulty <low..high>', 'of generated tasks, from 0 to 1', range, [0, 1])
    .addOption(new Option('--split <split>', 'play only this split').choices(['train', 'validation', 'test']))
    .option(
      '--policy <policy>',
      "random, solver, another of the world's, script:<file.json>, or a module (default: solver where there is one)",
    )
    .option('--rollouts <count>', 'episodes of each task', wholeNumber(1), 1)
    .option('--concurrency <count>', 'episodes in flight at once', wholeNumber(1), 64)
    .option('--max-steps <count>', 'cut every episode off after so many steps', wholeNumber(1))
    .option('--weights <term=number,…>', 'weights of reward terms; 1 unless given', weights, {})
    .option('--shaping', "add potential-based shaping, from the world's potential")
    .option('--discount <γ>', 'of shaping and of the discounted return', numberWithin(0, 1), 1)
    .option('--seed <seed>', 'decides generated tasks and every draw of a policy', '0')
    .addOption(
      new Option('--over <door>', 'how to reach the world')
        .choices(['in-process', 'http', 'stdio'])
        .default('in-process'),
    )
    .option('--out <folder>', 'where to write the run (default: runs/<world>-<policy>-<seed>)')
    .option('--resume', 'play only what the run in the folder lacks')
    .option('--json', 'print the summary as JSON')
    .addHelpText(
      'after',
      `
Examples:
  episodic run number-guessing --tasks 500 --policy random
  episodic run number-guessing --over http --concurrency 256 --rollouts 4 --shaping
  episodic run number-guessing --url http://127.0.0.1:7337/env --dataset tasks.jsonl
  episodic run number-guessing --out runs/mine --resume`,
    )
  return addTargetOptions(command).action((world: string, options: RunOptions) => run(world, options, console))
}

async function run(reference: string, options: RunOptions, console: Console): Promise<void> {
  const world = await loadWorld(reference)
  const target = targetOf(options)
  const policyName = options.policy ?? (world.solver ? 'solver' : 'random')
  const policy = await findPolicy(policyName, world)
  const configuration = await configure(world, policyName, options)
  const folder = resolve(options.out ?? defaultFolder(configuration))
  const interruption = untilInterrupted(console)
  const { signal } = interruption
  const onTorn = (line: number) => console.err.write(`Line ${line} is torn, as by a crash, and is left out.\n`)
  const tasks = () => tasksOf(configuration, world, { signal, onTorn })
  try {
    const manifest = await openRun(folder, configuration, tasks, options)
    const sealed = new Set<string>()
    const fold = await foldRun(folder, manifest, { onTorn, signal, onSealed: (record) => sealed.add(keyOf(record)) })
    await using opened = await (target
      ? openTarget(target)
      : openWorld(reference, world, options.over, options.concurrency + 16))
    await using file = await SealedFile.open(join(folder, RUN_FILES.episodes))
    const progress = showProgress(console.err, manifest.scheduled, sealed.size)
    try {
      await playEpisodes(unsealed(planOf(tasks(), configuration.rollouts), sealed), {
        run: manifest.name,
        createEnvironment: scoredBy(configuration, opened.connection),
        policy,
        seed: configuration.seed,
        discount: configuration.discount,
        concurrency: options.concurrency,
        elapsed: fold.elapsed,
        signal,
        async seal(record) {
          await file.append(record)
          fold.add(record)
          progress.add(record)
        },
      })
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      progress.stop()
    }
    const { counts } = await writeReport(folder, fold, options.json === true, console)
    if (counts.unresolved === 0) return
    console.err.write(`${counts.unresolved} episodes are left. To play them:\n  ${resumeLine(folder)}\n`)
    process.exitCode = 130
  } catch (error) {
    if (HarnessError.is(error, 'disk-failed') || HarnessError.is(error, 'server-failed'))
      console.err.write(`What is sealed is kept. To go on:\n  ${resumeLine(folder)}\n`)
    throw error
  } finally {
    interruption.stop()
  }
}

/** Begins a run in a folder, or goes on with the one that is there. */
async function openRun(
  folder: string,
  configuration: RunConfiguration,
  tasks: () => AsyncIterable<unknown>,
  options: RunOptions,
): Promise<RunManifest> {
  if (holdsRun(folder)) {
    const manifest = await readManifest(folder)
    assertSame(manifest.configuration, configuration, relative('', folder))
    if (options.resume) return manifest
    throw new HarnessError(
      'run-exists',
      `${relative('', folder)} holds this run already. Give --resume to play what it lacks, or another --out.`,
    )
  }
  if (options.resume) throw new HarnessError('run-invalid', `${relative('', folder)} holds no run to resume.`)
  let count = 0
  for await (const _ of tasks()) count += 1
  if (count === 0) throw new HarnessError('dataset-invalid', 'There is no task to play. Check --dataset and --split.')
  const manifest: RunManifest = {
    format: 1,
    name: folder.split(/[/\\]/).at(-1) as string,
    createdAt: new Date().toISOString(),
    scheduled: count * configuration.rollouts,
    configuration,
    versions: { episodic: VERSION, node: process.version },
    played: { over: targetOf(options) ? 'a server that was there' : options.over, concurrency: options.concurrency },
  }
  await writeRunFile(folder, RUN_FILES.manifest, `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}

async function configure(world: World, policy: string, options: RunOptions): Promise<RunConfiguration> {
  const { name, version, hasPotential } = world.environment
  const split = options.split ?? null
  if (options.shaping && !hasPotential)
    throw new HarnessError('option-invalid', `${name} defines no potential, so --shaping has nothing to shape with.`)
  return {
    environment: { name, version },
    tasks: options.dataset
      ? { from: 'dataset', file: options.dataset, sha256: await hashFile(options.dataset), split }
      : { from: 'generator', count: options.tasks, difficulty: options.difficulty, split },
    policy,
    rollouts: options.rollouts,
    maxSteps: options.maxSteps ?? null,
    weights: options.weights,
    shaping: options.shaping ?? false,
    discount: options.discount,
    seed: options.seed,
  }
}

/** What of a plan is not sealed yet. */
async function* unsealed<E extends Keyed>(plan: AsyncIterable<E>, sealed: ReadonlySet<string>): AsyncGenerator<E> {
  for await (const planned of plan) if (!sealed.has(keyOf(planned))) yield planned
}

interface Keyed {
  readonly task: { readonly id: string }
  readonly attempt: number
}

function keyOf({ task, attempt }: Keyed): string {
  return `${task.id} ${attempt}`
}

function defaultFolder({ environment, policy, seed }: RunConfiguration): string {
  return join('runs', [environment.name, policy, seed].join('-').replace(/[^\w.-]+/g, '-'))
}

/** The command that was given, so that it goes on where it stopped. */
function resumeLine(folder: string): string {
  const given = process.argv.slice(2).filter((word) => word !== '--resume')
  const out = given.some((word) => word === '--out' || word.startsWith('--out=')) ? [] : ['--out', relative('', folder)]
  return ['episodic', ...given, ...out, '--resume']
    .map((word) => (/^[\w./:=@,+-]+$/.test(word) ? word : `'${word}'`))
    .join(' ')
}
