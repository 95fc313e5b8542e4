/**
 * What a step costs as a host's sessions grow from 10 to 10,000, and a run's tasks from 1 to 100,000; and what an
 * episode of `episodic run` costs as its plan grows from 1,000 episodes to 1,000,000, of which the first 1,000 are
 * played.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@episodic/env'
import { createFold, runEpisodes } from '@episodic/harness'
import { createHost, inProcess } from '@episodic/mcp-server'
import { environment, solver } from '@episodic-world/number-guessing'
import { heldBytes, inTurn, mebibytes, median, ratio, report, round2 } from '../figures.ts'
import { counter } from '../servers/counter-world.ts'
import { taskNumbered } from './guessing-task.ts'
import { onStart, playRunCommand } from './run-command.ts'

const STEPS = 50_000
const EPISODES = 20_000
const CEILING = 1.2
/** Episodes of a short plan and of a long one. */
const [SHORT, LONG] = [1_000, 1_000_000]
/**
 * The starts of episodes between which both are measured. Before the first, as many have started as are in flight at
 * once.
 */
const [FROM, TO] = [300, 1_000]
/** Runs of each plan that are measured. */
const ROUNDS = 7
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

/**
 * The CPU time of an episode of `episodic run`, in microseconds, and the bytes that are held at the end of the
 * measurement.
 */
interface Cost {
  readonly microseconds: number
  readonly held: number
}

/**
 * Plays a run, and measures it from one start of an episode to another: meanwhile as many episodes end as start.
 * Neither the start of the run nor its report counts. A long run is interrupted then, as by Ctrl-C.
 */
async function playPlan(planned: number, out: string): Promise<Cost> {
  let began = process.cpuUsage()
  let cost: Cost | null = null
  onStart((started) => {
    if (started === FROM) began = process.cpuUsage()
    if (started !== TO) return
    const { user, system } = process.cpuUsage(began)
    cost = { microseconds: (user + system) / (TO - FROM), held: heldBytes().heap }
    if (TO < planned) process.kill(process.pid, 'SIGINT')
  })
  await playRunCommand(['number-guessing', '--tasks', String(planned), '--out', out])
  process.exitCode = 0
  return cost as unknown as Cost
}

/** Measures both plans in turn, at the same episodes: only what is still to be played differs. */
async function measurePlans() {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-scale-'))
  const costs = { short: [] as Cost[], long: [] as Cost[] }
  try {
    for (let round = -1; round < ROUNDS; round++) {
      const short = await playPlan(SHORT, join(folder, `short-${round}`))
      const long = await playPlan(LONG, join(folder, `long-${round}`))
      // In the first round, code is compiled.
      if (round < 0) continue
      costs.short.push(short)
      costs.long.push(long)
    }
  } finally {
    rmSync(folder, { recursive: true, maxRetries: 3 })
  }
  const [short, long] = [costs.short, costs.long].map((ofPlan) => ({
    microseconds: median(ofPlan.map(({ microseconds }) => microseconds)),
    held: median(ofPlan.map(({ held }) => held)),
  })) as [Cost, Cost]
  return {
    ratio: round2(long.microseconds / short.microseconds),
    microsecondsOfEpisode: [Math.round(short.microseconds), Math.round(long.microseconds)],
    mebibytes: [mebibytes(short.held), mebibytes(long.held)],
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
