/**
 * What an episode costs besides its steps: microseconds of CPU to open, to step and to close a session, in process,
 * over HTTP and over WebSocket, of the client and of the server apart. The actions of every episode are drawn before,
 * so that no policy is measured. What is judged is the cost of opening and closing an episode in process, as a number
 * of its steps.
 */
import { fileURLToPath } from 'node:url'
import { generateTasks, type TasksDefinition } from '@episodic/dataset'
import { type Connection, connect, type Environment, randomPolicy, runEpisode } from '@episodic/env'
import { loadWorld, type World } from '@episodic/harness'
import { createHost, inProcess } from '@episodic/mcp-server'
import type { Action, Task } from '@episodic/protocol'
import { startChild } from '../child.ts'
import { cpuSeconds } from '../cpu-time.ts'
import { median, report, round2 } from '../figures.ts'

const WORLDS = ['number-guessing', 'frozen-lake', 'warehouse']
/** Episodes in flight, how often so many are played in a round, and the most steps of one. */
const PLACES = 256
const TIMES = 4
const STEPS = 20
const ROUNDS = 5
/** The most steps that opening and closing an episode may cost. */
const CEILING = 4

interface Script {
  readonly task: Task
  readonly actions: readonly Action[]
}

/** Microseconds of CPU that each part of an episode costs. */
interface Cost {
  readonly open: number
  readonly step: number
  readonly close: number
}
const PARTS = ['open', 'step', 'close'] as const

/** Draws the episodes: tasks of the world, each with the actions that a random policy plays in it. */
async function draw({ tasks }: World, connection: Connection): Promise<Script[]> {
  const drawn = [...generateTasks(tasks as TasksDefinition, { seed: 'opening', count: PLACES })]
  return Promise.all(
    drawn.map(async (task, place) => {
      const limited = { ...task, limits: { steps: STEPS } }
      const createEnvironment = () => connection.environment()
      const episode = { createEnvironment, policy: randomPolicy(), task: limited, policySeed: `${place}` }
      const { steps } = await runEpisode(episode)
      return { task: limited, actions: steps.map(({ action }) => action) }
    }),
  )
}

/** Plays all scripts at once, one part of their episodes after the other. Resolves with the cost of each part. */
async function play(
  connection: Connection,
  scripts: readonly Script[],
  cpu: () => Promise<number> | number,
): Promise<Cost> {
  const used = { open: 0, step: 0, close: 0 }
  for (let time = 0; time < TIMES; time++) {
    const places: readonly (Script & { readonly environment: Environment })[] = scripts.map((script) => ({
      ...script,
      environment: connection.environment(),
    }))
    const before = await cpu()
    await Promise.all(places.map(({ environment, task }) => environment.reset(task)))
    const opened = await cpu()
    await Promise.all(
      places.map(async ({ environment, actions }) => {
        for (const action of actions) await environment.step(action)
      }),
    )
    const played = await cpu()
    await Promise.all(places.map(({ environment }) => environment.close()))
    used.open += opened - before
    used.step += played - opened
    used.close += (await cpu()) - played
  }
  const episodes = scripts.length * TIMES
  return {
    open: (used.open * 1e6) / episodes,
    step: (used.step * 1e6) / (stepsOf(scripts) * TIMES),
    close: (used.close * 1e6) / episodes,
  }
}

function stepsOf(scripts: readonly Script[]): number {
  return scripts.reduce((sum, { actions }) => sum + actions.length, 0)
}

/** Measures a world over each transport in turn, and resolves with the medians of the rounds. */
async function measure(name: string): Promise<Record<string, Cost>> {
  await using cleanUp = new AsyncDisposableStack()
  const world = await loadWorld(fileURLToPath(new URL(`../../examples/${name}`, import.meta.url)))
  const host = cleanUp.use(createHost({ environments: [world.environment] }))
  const server = cleanUp.use(
    await startChild<{ trainerUrl: string; token: string }>('servers/world-server.ts', world.url),
  )
  const { trainerUrl, token } = server.ready
  const serverCpu = async () => (await server.ask<{ seconds: number }>('cpu')).seconds
  const local = cleanUp.use(await connect(inProcess(host)))
  const http = cleanUp.use(await connect({ url: trainerUrl, token }))
  const webSocket = cleanUp.use(await connect({ url: trainerUrl.replace(/^http/, 'ws'), token }))
  const scripts = await draw(world, local)
  const measures = {
    'in process': () => play(local, scripts, cpuSeconds),
    'HTTP, client': () => play(http, scripts, cpuSeconds),
    'HTTP, server': () => play(http, scripts, serverCpu),
    'WebSocket, client': () => play(webSocket, scripts, cpuSeconds),
    'WebSocket, server': () => play(webSocket, scripts, serverCpu),
  }
  const rounds: Record<string, Cost[]> = Object.fromEntries(Object.keys(measures).map((what) => [what, []]))
  // The first round is for code to be compiled.
  for (let round = 0; round <= ROUNDS; round++)
    for (const [what, run] of Object.entries(measures)) {
      const cost = await run()
      if (round > 0) rounds[what]?.push(cost)
    }
  console.error(`  ${name}, ${round2(stepsOf(scripts) / scripts.length)} steps an episode`)
  return Object.fromEntries(
    Object.entries(rounds).map(([what, costs]) => {
      const middle = (part: (typeof PARTS)[number]) => round2(median(costs.map((cost) => cost[part])))
      const cost = { open: middle('open'), step: middle('step'), close: middle('close') }
      console.error(`    ${what.padEnd(18)} open ${cost.open}  step ${cost.step}  close ${cost.close}`)
      return [what, cost]
    }),
  )
}

const microseconds: Record<string, Record<string, Cost>> = {}
for (const name of WORLDS) microseconds[name] = await measure(name)
const openingInSteps = Object.values(microseconds).map((costs) => {
  const { open, step, close } = costs['in process'] as Cost
  return round2((open + close) / step)
})
report('opening', { ok: Math.max(...openingInSteps) <= CEILING, openingInSteps, microseconds })
