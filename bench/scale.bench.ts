/**
 * What a step costs as a host's sessions grow from 10 to 10,000, and a run's tasks from 1 to 100,000; and what an episode of
 * `episodic run` costs as its plan grows from 1,000 episodes to 1,000,000, of which 12,000 are played.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@episodic/env'
import { createFold, runEpisodes } from '@episodic/harness'
import { createHost, inProcess } from '@episodic/mcp-server'
import { environment, solver } from '@episodic-world/number-guessing'
import { heldBytes, inTurn, mebibytes, median, ratio, report, round2 } from './figures.ts'
import { taskNumbered } from './guessing-task.ts'
import { onStart, playRunCommand } from './run-command.ts'
import { counter } from './servers/counter-world.ts'

const STEPS = 50_000
const EPISODES = 20_000
const CEILING = 1.2
/** Episodes of a short plan and of a long one, how many of the long one are played before it is measured, and while it is. */
const [SHORT, LONG, WARM_UP, MEASURED] = [1_000, 1_000_000, 2_000, 10_000]
/** The most that an episode of the long plan may cost, relative to one of the short plan. */
const PLAN_CEILING = 1.1

/** Steps a second on sessions that are played in turn: none of them is the one that was played last. */
async function stepsOver(sessions: number): Promise<number> {
  await using host = createHost({ environments: [counter], bounds: { sessions } })
  const handles: string[] = []
  for (let i = 0; i < sessions; i++)
    handles.push((await host.open(null, { environment: 'counter', requestKey: `scale-benchmark-${i}` })).session)
  globalThis.gc?.()
  const action = { tool: 'add', arguments: { note: 'a short note', n: 1 } }
  const began = performance.now()
  for (let n = 0; n < STEPS; n++)
    await (await host.resolve(null, { by: 'control', token: handles[n % sessions] as string })).step({ action })
  return STEPS / ((performance.now() - began) / 1_000)
}

/** Steps a second of a run in process over as many tasks, folded as it goes. */
async function stepsOfRun(tasks: number): Promise<number> {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const fold = createFold()
  let steps = 0
  globalThis.gc?.()
  const began = performance.now()
  await runEpisodes(planOver(tasks), {
    run: 'scale',
    createEnvironment: () => connection.environment(),
    policy: solver,
    seed: '0',
    discount: 1,
    concurrency: 64,
    seal: async (record) => {
      steps += record.steps.length
      fold.add(record)
    },
  })
  return steps / ((performance.now() - began) / 1_000)
}

async function* planOver(tasks: number) {
  const episodes = Math.max(tasks, EPISODES)
  for (let i = 0; i < episodes; i++) yield { task: taskNumbered(i % tasks), attempt: Math.floor(i / tasks) }
}

/** The CPU time of an episode of `episodic run`, in microseconds, and the bytes that are held at the end of the measurement. */
interface Cost {
  readonly microseconds: number
  readonly held: number
}

/** Plays a whole short run; its first episodes, while code is compiled, count as much as those of any other. */
async function playShort(out: string): Promise<Cost> {
  let began = process.cpuUsage()
  onStart((started) => {
    if (started === 1) began = process.cpuUsage()
  })
  let cost: Cost | null = null
  await playRunCommand(['number-guessing', '--tasks', String(SHORT), '--out', out], () => {
    const { user, system } = process.cpuUsage(began)
    cost = { microseconds: (user + system) / SHORT, held: heldBytes().heap }
  })
  return cost as unknown as Cost
}

/** Starts a long run, and interrupts it as Ctrl-C does once it was measured. */
async function playLong(out: string): Promise<Cost> {
  let began = process.cpuUsage()
  let cost: Cost | null = null
  onStart((started) => {
    if (started === WARM_UP) began = process.cpuUsage()
    if (started !== WARM_UP + MEASURED) return
    const { user, system } = process.cpuUsage(began)
    cost = { microseconds: (user + system) / MEASURED, held: heldBytes().heap }
    process.kill(process.pid, 'SIGINT')
  })
  await playRunCommand(['number-guessing', '--tasks', String(LONG), '--out', out])
  process.exitCode = 0
  return cost as unknown as Cost
}

/** Measures both plans in turn: as many episodes of short runs as of the long one. */
async function measurePlans() {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-scale-'))
  const short: Cost[] = []
  try {
    for (let run = 0; run < (WARM_UP + MEASURED) / SHORT; run++)
      short.push(await playShort(join(folder, `short-${run}`)))
    const long = await playLong(join(folder, 'long'))
    const counted = short.slice(WARM_UP / SHORT)
    const microseconds = median(counted.map((cost) => cost.microseconds))
    return {
      ratio: round2(long.microseconds / microseconds),
      microsecondsOfEpisode: [Math.round(microseconds), Math.round(long.microseconds)],
      mebibytes: [mebibytes(median(counted.map(({ held }) => held))), mebibytes(long.held)],
    }
  } finally {
    rmSync(folder, { recursive: true, maxRetries: 3 })
  }
}

const plans = await measurePlans()
const sessions = await inTurn(5, { few: () => stepsOver(10), many: () => stepsOver(10_000) })
const tasks = await inTurn(3, { one: () => stepsOfRun(1), many: () => stepsOfRun(100_000) })
const [bySessions, byTasks] = [ratio(sessions.few, sessions.many), ratio(tasks.one, tasks.many)]
report('scale', {
  ok: bySessions <= CEILING && byTasks <= CEILING && plans.ratio <= PLAN_CEILING,
  costWith10000Sessions: bySessions,
  costWith100000Tasks: byTasks,
  stepsPerSecond: Math.round(median(sessions.many)),
  runStepsPerSecond: Math.round(median(tasks.many)),
  ratio: round2(Math.max(bySessions, byTasks)),
  plans: { planned: [SHORT, LONG], ...plans },
})
