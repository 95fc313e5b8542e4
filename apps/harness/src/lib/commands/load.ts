import { DatasetError } from '@episodic/dataset'
import type { Playable, Target } from '@episodic/env'
import { Command, Option } from 'commander'
import { isAgent } from '../agents/agent.ts'
import { type Console, colorsOf } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { untilInterrupted } from '../interruption.ts'
import { generateLoad, type LoadCounts, type LoadResult } from '../load/generate-load.ts'
import { cpuBetween, readServerCpu } from '../load/server-cpu.ts'
import { someText, wholeNumber } from '../option-values.ts'
import { findPlayer } from '../policies.ts'
import type { RunConfiguration } from '../run/configuration.ts'
import { type Opened, openTarget, openWorld, type Transport } from '../run/environments.ts'
import { tasksOf } from '../run/plan.ts'
import { startServer } from '../serve/start-server.ts'
import { addTargetOptions, type TargetOptions, targetOf } from '../target-options.ts'
import { loadWorld, type World } from '../world.ts'

interface LoadCommandOptions extends TargetOptions {
  readonly sessions: number
  readonly inFlight: number
  readonly seconds: number
  readonly steps?: number
  readonly policy?: string
  readonly seed: string
  readonly transport: Transport
  readonly store: string
  readonly workerThreads?: boolean
  readonly json?: true
}

/** Distinct tasks that sessions play in turn. */
const TASKS = 1_000
/** Milliseconds between two lines of progress. */
const INTERVAL = 1_000
/** The longest load, in seconds: timers count no further than 24 days. */
const MOST_SECONDS = 2_000_000
/** Milliseconds in which the server's `/metrics` has to answer. */
const METRICS_TIMEOUT = 5_000

export function loadCommand(console: Console): Command {
  const command = new Command('load')
    .description('load-test a world: steps a second, latency, failures, and what a step costs the server')
    .argument('<world>', 'name, path or package of the world')
    .option('--sessions <count>', 'sessions that are open at once', wholeNumber(1, 100_000), 100)
    .option('--in-flight <count>', 'steps that wait for their answer at once, over all sessions', wholeNumber(1), 16)
    .option('--seconds <count>', 'how long to go on', wholeNumber(1, MOST_SECONDS), 10)
    .option('--steps <count>', 'stop after so many steps, where that is sooner', wholeNumber(1))
    .option(
      '--policy <policy>',
      'who plays, as for run, but no agent (default: solver where there is one, else random)',
    )
    .option('--seed <seed>', 'decides the tasks and every draw of the policy', someText, '0')
    .addOption(
      new Option('--transport <transport>', 'how to reach the server that is started for it')
        .choices(['http', 'stdio', 'in-process'])
        .default('http'),
    )
    .option('--store <store>', 'where that server keeps its sessions, as for serve', 'memory')
    .option('--worker-threads', 'have that server play the rules in threads')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Starts a server of the world in a process of its own, or takes the one that
--url names, and steps it at the trainer endpoint. Latency is from sending a
step to its answer. The server's processor time comes from its /metrics, so it
is known over HTTP and of a single process. Ends with 1 where anything failed.

Examples:
  episodic load number-guessing
  episodic load ./my-world.ts --sessions 1000 --in-flight 64 --seconds 30
  episodic load ./my-world.ts --store sqlite:load.db --worker-threads --json
  episodic load ./my-world.ts --url http://127.0.0.1:7337/env`,
    )
  return addTargetOptions(command).action((world: string, options: LoadCommandOptions) => load(world, options, console))
}

async function load(reference: string, options: LoadCommandOptions, console: Console): Promise<void> {
  const world = await loadWorld(reference)
  const { name, version } = world.environment
  const { sessions, inFlight, seconds, seed, json } = options
  const policyName = options.policy ?? (world.solver ? 'solver' : 'random')
  const policy = await findPlayer(policyName, world)
  if (isAgent(policy))
    throw new HarnessError(
      'option-invalid',
      `--policy ${policyName} is an agent, which steps by itself. Give a policy.`,
    )
  const tasks = await readTasks(world, options)
  const given = targetOf(options)
  const interruption = untilInterrupted(console)
  try {
    await using opened = await openServer(reference, world, given, options)
    const served = opened.connection.environment(name).info
    if (served.version !== version)
      throw new HarnessError(
        'server-failed',
        `The server plays ${name} ${served.version}, and the world here is ${version}. Serve that version, or load the server's.`,
      )
    const readCpu = async () =>
      opened.url === null ? null : readServerCpu(opened.url, opened.token, AbortSignal.timeout(METRICS_TIMEOUT))
    const before = await readCpu()
    const result = await generateLoad({
      connection: opened.connection,
      environment: name,
      policy,
      tasks,
      sessions,
      inFlight,
      seconds,
      steps: options.steps ?? Number.POSITIVE_INFINITY,
      seed,
      signal: interruption.signal,
      onStep: showProgress(console),
    })
    const cpu = cpuBetween(before, await readCpu())
    const report = reportOf(result, {
      environment: { name, version },
      transport: given ? 'a server that was there' : options.transport,
      policy: policyName,
      sessions,
      inFlight,
      interrupted: interruption.signal.aborted,
      cpu,
    })
    console.out.write(json ? `${JSON.stringify(report)}\n` : formatReport(report, console))
    if (interruption.status !== null) process.exitCode = interruption.status
    else if (result.steps === 0)
      throw new HarnessError('server-failed', `No step was answered. ${report.failures[0]?.message ?? ''}`.trim())
    else if (report.failures.length > 0) process.exitCode = 1
  } finally {
    interruption.stop()
  }
}

/** A server to load. `url` is its trainer endpoint; `null` where it has none of HTTP. */
interface Loaded extends Pick<Opened, 'connection'>, AsyncDisposable {
  readonly url: string | null
  readonly token: string | undefined
}

async function openServer(
  reference: string,
  world: World,
  given: Target | null,
  { transport, store, workerThreads = false, sessions }: LoadCommandOptions,
): Promise<Loaded> {
  await using cleanUp = new AsyncDisposableStack()
  // A call that gets no answer is a failure here, and not made again.
  const retryTimeout = 0
  const places = { sessions: sessions + 16, workerThreads, store }
  let target = given
  let opened: Opened
  if (!target && transport === 'http') target = cleanUp.use(await startServer(reference, places)).target
  if (target) opened = cleanUp.use(await openTarget(target, retryTimeout))
  else opened = cleanUp.use(await openWorld(reference, world, { transport: transport, ...places, retryTimeout }))
  const { url, token } =
    target && typeof target === 'object' && 'url' in target ? target : { url: null, token: undefined }
  const owned = cleanUp.move()
  return { connection: opened.connection, url, token, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** The first tasks of the world's generator; fewer where it has no more. */
async function readTasks(world: World, { seed, sessions }: LoadCommandOptions): Promise<Playable[]> {
  const { name, version } = world.environment
  const count = Math.min(TASKS, Math.max(sessions, 100))
  const configuration = {
    environment: { name, version },
    tasks: { from: 'generator', count, difficulty: [0, 1], split: null },
    seed,
  } satisfies Partial<RunConfiguration>
  const tasks: Playable[] = []
  try {
    for await (const task of tasksOf(configuration, world)) tasks.push(task)
  } catch (error) {
    if (tasks.length === 0 || !DatasetError.is(error, 'exhausted')) throw error
  }
  return tasks
}

function showProgress({ err }: Console): (counts: LoadCounts) => void {
  let shown = 0
  return ({ seconds, steps, failures }) => {
    if ((seconds - shown) * 1_000 < INTERVAL) return
    shown = seconds
    const failed = [...failures.values()].reduce((sum, { count }) => sum + count, 0)
    err.write(`${Math.round(seconds)} s  ${steps} steps  ${Math.round(steps / seconds)} steps/s  ${failed} failed\n`)
  }
}

/** What a load came to, as `--json` prints it. Latencies are milliseconds. */
interface LoadReport {
  readonly environment: { readonly name: string; readonly version: string }
  readonly transport: string
  readonly policy: string
  readonly sessions: number
  readonly inFlight: number
  readonly seconds: number
  readonly steps: number
  readonly refused: number
  readonly opened: number
  readonly stepsPerSecond: number
  readonly latency: { readonly p50: number; readonly p90: number; readonly p99: number; readonly max: number }
  readonly failures: readonly { readonly code: string; readonly count: number; readonly message: string }[]
  /** Processor time of the server, opening and closing sessions included; `null` where it is not known. */
  readonly serverCpuMicrosecondsPerStep: number | null
  /** Stopped by Ctrl-C or by a request to terminate. */
  readonly interrupted: boolean
}

function reportOf(
  { latency, failures, ...counts }: LoadResult,
  {
    cpu,
    ...asked
  }: Pick<LoadReport, 'environment' | 'transport' | 'policy' | 'sessions' | 'inFlight' | 'interrupted'> & {
    readonly cpu: number | null
  },
): LoadReport {
  const { steps, seconds } = counts
  return {
    ...asked,
    ...counts,
    stepsPerSecond: seconds > 0 ? steps / seconds : 0,
    latency: {
      p50: latency.percentile(0.5),
      p90: latency.percentile(0.9),
      p99: latency.percentile(0.99),
      max: latency.longest,
    },
    failures: [...failures].map(([code, failure]) => ({ code, ...failure })).sort((a, b) => b.count - a.count),
    serverCpuMicrosecondsPerStep: cpu === null || steps === 0 ? null : (cpu * 1_000_000) / steps,
  }
}

function formatReport(report: LoadReport, { out }: Console): string {
  const { bold, dim, red } = colorsOf(out)
  const { environment, transport, policy, sessions, inFlight, steps, refused, opened, seconds, latency, failures } =
    report
  const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ms`
  const cpu = report.serverCpuMicrosecondsPerStep
  const failed = failures.reduce((sum, { count }) => sum + count, 0)
  return `
${bold(`${environment.name} ${environment.version}`)} ${dim(`${transport} · ${policy} · ${sessions} sessions · ${inFlight} in flight`)}

  steps a second   ${Math.round(report.stepsPerSecond)}   ${steps} steps (${refused} refused) in ${seconds.toFixed(1)} s, ${opened} sessions opened
  latency          p50 ${ms(latency.p50)}   p90 ${ms(latency.p90)}   p99 ${ms(latency.p99)}   max ${ms(latency.max)}
  server CPU       ${cpu === null ? 'not known' : `${cpu.toFixed(0)} µs a step, opening and closing included`}
  failed episodes  ${failed === 0 ? '0' : red(String(failed))}
${failures.map(({ code, count, message }) => `    ${count} × ${code}: ${message.split('\n')[0]?.slice(0, 160)}\n`).join('')}`
}
