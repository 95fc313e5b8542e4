import { DatasetError } from '@episodic/dataset'
import type { Playable, Target } from '@episodic/env'
import { openTarget } from '@episodic/play/play/episodes/open-environment'
import { generateLoad, type LoadCounts, type LoadResult } from '@episodic/play/play/load/generate-load'
import { cpuBetween, readServerCpu } from '@episodic/play/play/load/server-cpu'
import { tasksOf } from '@episodic/play/play/plan/plan'
import { isAgent } from '@episodic/play/worlds/agents/agent'
import { type McpOptions, mcpOptions, withoutMcp } from '@episodic/play/worlds/mcp-options'
import { findWorlds } from '@episodic/play/worlds/mcp-world'
import { findPlayer } from '@episodic/play/worlds/policies'
import { startServer } from '@episodic/play/worlds/serve/start-server'
import { targetOf } from '@episodic/play/worlds/target'
import { targetOptions } from '@episodic/play/worlds/target-options'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import { type Console, colorsOf } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { untilInterrupted } from '@episodic/run/base/interruption'
import { nonEmpty, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import type { RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

/** Distinct tasks, which sessions play in turn. */
const TASKS = 1_000
/** Milliseconds between two lines of progress. */
const INTERVAL = 1_000
/** The longest load, in seconds: timers are limited to 24 days. */
const MOST_SECONDS = 2_000_000

const loadOptions = z.object({
  sessions: option('<count>', 'concurrent sessions', wholeNumber(1, 100_000).default(100)),
  inFlight: option('<count>', 'concurrent steps, over all sessions', wholeNumber(1).default(16)),
  seconds: option('<count>', 'duration', wholeNumber(1, MOST_SECONDS).default(10)),
  steps: option('<count>', 'stop after this many steps, if that is sooner', wholeNumber(1).optional()),
  policy: option(
    '<policy>',
    'policy, as for run, but not an agent (default: solver if the world has one, else random)',
  ),
  seed: option('<seed>', 'seed of the tasks and of the policy', nonEmpty.default('0')),
  store: option(
    '<store>',
    'where the server that it starts stores sessions, as for serve',
    z.string().default('memory'),
  ),
  json: flag('print the result as JSON'),
  ...mcpOptions.shape,
  ...targetOptions().shape,
})
type LoadCommandOptions = z.infer<typeof loadOptions>

export const command = defineCommand('load', loadOptions, {
  argument: ['[world]', 'name, path or package of the world'],
  help: `
Starts a server of the world in its own process, or uses the one of --url, and
steps sessions at its trainer endpoint. Latency is the time from sending a step
to its answer. Server CPU is read from /metrics, so it is known only for a
single server process over HTTP. The exit status is 1 if anything failed.

Examples:
  episodic load number-guessing
  episodic load ./my-world.ts --sessions 1000 --in-flight 64 --seconds 30
  episodic load ./my-world.ts --store sqlite:load.db --json
  episodic load ./my-world.ts --url http://127.0.0.1:7337/env`,
  async run(named: string | undefined, options, console) {
    const [world] = await findWorlds(named === undefined ? [] : [named], options)
    return load(world as string, withoutMcp(options), console)
  },
})

async function load(
  reference: string,
  options: Omit<LoadCommandOptions, keyof McpOptions>,
  console: Console,
): Promise<void> {
  const world = await loadWorld(reference)
  const { name, version } = world.environment
  const { sessions, inFlight, seconds, seed, json } = options
  const policyName = options.policy ?? (world.solver ? 'solver' : 'random')
  const policy = await findPlayer(policyName, world)
  if (isAgent(policy)) throw invalidOption(`--policy ${policyName} is an agent, which plays by itself. Give a policy.`)
  const tasks = await readTasks(world, options)
  const given = targetOf(options)
  using interruption = untilInterrupted(console)
  await using opened = await openServer(reference, given, options)
  const served = opened.connection.environment(name).info
  if (served.version !== version)
    throw new HarnessError(
      'server-failed',
      `The server plays ${name} ${served.version}, and the world here is ${version}. Serve that version, or load the server's.`,
    )
  const readCpu = async () =>
    opened.url === null ? null : readServerCpu(opened.url, opened.token, AbortSignal.timeout(5_000))
  const before = await readCpu()
  const result = await generateLoad({
    connection: opened.connection,
    environment: name,
    ...{ policy, tasks, sessions, inFlight, seconds, seed },
    steps: options.steps ?? Number.POSITIVE_INFINITY,
    signal: interruption.signal,
    onStep: showProgress(console),
  })
  const cpu = cpuBetween(before, await readCpu())
  const loading = {
    environment: { name, version },
    transport: given ? 'a server that was there' : 'http',
    ...{ policy: policyName, sessions, inFlight },
    interrupted: interruption.signal.aborted,
  }
  const report = reportOf(loading, result, cpu)
  console.out.write(json ? `${JSON.stringify(report)}\n` : formatReport(report, console))
  if (interruption.status !== null) process.exitCode = interruption.status
  else if (result.steps === 0)
    throw new HarnessError('server-failed', `No step was answered. ${report.failures[0]?.message ?? ''}`.trim())
  else if (report.failures.length > 0) process.exitCode = 1
}

/** Opens a server to load. `url` is its trainer endpoint; `null` if it is not HTTP. */
async function openServer(reference: string, given: Target | null, { store, sessions }: LoadCommandOptions) {
  await using cleanUp = new AsyncDisposableStack()
  const target = given ?? cleanUp.use(await startServer(reference, { sessions: sessions + 16, store })).target
  // An unanswered call is a failure here, and is not retried.
  const opened = cleanUp.use(await openTarget(target, 0))
  const { url, token } = typeof target === 'object' && 'url' in target ? target : { url: null, token: undefined }
  const owned = cleanUp.move()
  return { connection: opened.connection, url, token, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

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

interface Loading extends Pick<LoadCommandOptions, 'sessions' | 'inFlight'> {
  readonly environment: { readonly name: string; readonly version: string }
  readonly transport: string
  readonly policy: string
  readonly interrupted: boolean
}

/**
 * Returns the result as `--json` prints it. Latencies are in milliseconds.
 *
 * @param cpu - processor time of the server, opening and closing sessions included; `null` if unknown.
 */
function reportOf(loading: Loading, { latency, failures, ...counts }: LoadResult, cpu: number | null) {
  const { steps, seconds } = counts
  const at = (share: number) => latency.percentile(share)
  return {
    ...loading,
    ...counts,
    stepsPerSecond: seconds > 0 ? steps / seconds : 0,
    latency: { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: latency.longest },
    failures: [...failures].map(([code, failure]) => ({ code, ...failure })).sort((a, b) => b.count - a.count),
    serverCpuMicrosecondsPerStep: cpu === null || steps === 0 ? null : (cpu * 1_000_000) / steps,
  }
}

function formatReport(report: ReturnType<typeof reportOf>, { out }: Console): string {
  const { bold, dim, red } = colorsOf(out)
  const { environment, transport, policy, sessions, inFlight, steps, refused, opened, seconds, latency, failures } =
    report
  const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ms`
  const cpu = report.serverCpuMicrosecondsPerStep
  const failed = failures.reduce((sum, { count }) => sum + count, 0)
  return `
${bold(`${environment.name} ${environment.version}`)} ${dim(`${transport} · ${policy} · ${sessions} sessions · ${inFlight} in flight`)}

  steps/s          ${Math.round(report.stepsPerSecond)}   ${steps} steps (${refused} refused) in ${seconds.toFixed(1)} s, ${opened} sessions opened
  latency          p50 ${ms(latency.p50)}   p90 ${ms(latency.p90)}   p99 ${ms(latency.p99)}   max ${ms(latency.max)}
  server CPU       ${cpu === null ? 'unknown' : `${cpu.toFixed(0)} µs a step, including opening and closing`}
  failed episodes  ${failed === 0 ? '0' : red(String(failed))}
${failures.map(({ code, count, message }) => `    ${count} × ${code}: ${message.split('\n')[0]?.slice(0, 160)}\n`).join('')}`
}
