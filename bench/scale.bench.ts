/** What a step costs as a host's sessions grow from 10 to 10,000, and a run's tasks from 1 to 100,000. */
import { connect } from '@episodic/env'
import { createFold, runEpisodes } from '@episodic/harness'
import { createHost, inProcess } from '@episodic/mcp-server'
import { environment, solver } from '@episodic-world/number-guessing'
import { inTurn, median, ratio, report, round2 } from './figures.ts'
import { taskNumbered } from './guessing-task.ts'
import { counter } from './servers/counter-world.ts'

const STEPS = 50_000
const EPISODES = 20_000
const CEILING = 1.2

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

const sessions = await inTurn(5, { few: () => stepsOver(10), many: () => stepsOver(10_000) })
const tasks = await inTurn(3, { one: () => stepsOfRun(1), many: () => stepsOfRun(100_000) })
const [bySessions, byTasks] = [ratio(sessions.few, sessions.many), ratio(tasks.one, tasks.many)]
report('scale', {
  ok: bySessions <= CEILING && byTasks <= CEILING,
  costWith10000Sessions: bySessions,
  costWith100000Tasks: byTasks,
  stepsPerSecond: Math.round(median(sessions.many)),
  runStepsPerSecond: Math.round(median(tasks.many)),
  ratio: round2(Math.max(bySessions, byTasks)),
})
