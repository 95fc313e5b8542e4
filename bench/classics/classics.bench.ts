/**
 * The classics beside the Python packages that they are compared with: steps of whole episodes of random actions beside
 * Gymnasium's, and iterations of counterfactual regret minimization beside OpenSpiel's in Python, a second of CPU time.
 *
 * Ours are steps of a host with sessions in memory: each is committed, hashed and logged, and its answer kept, before
 * it is answered. Both sides play the same actions one after the other, and start a new episode when one ends.
 * Gymnasium's are also measured with the state of each step kept as text and hashed, and the step logged (`kept`).
 *
 * Makes a Python environment of 250 MB. Without Python, ours are measured alone.
 */
import { games } from '@episodic/classics'
import { environment as cartPole } from '@episodic/classics/cart-pole'
import { environment as frozenLake } from '@episodic/classics/frozen-lake'
import { gameTree } from '@episodic/classics/solve'
import { environment as taxi } from '@episodic/classics/taxi'
import { createHost, type Host } from '@episodic/mcp-server'
import { type Action, createRng } from '@episodic/protocol'
import { type LineProgram, startLineProgram } from '../../interop/line-program.ts'
import { openPythonEnvironment } from '../../interop/python-environment.ts'
import { inTurn, median, ratio, report } from '../figures.ts'

const ROUNDS = 5
const STEPS = 40_000
const OPENINGS = 2_000
/** Of our steps a second to Gymnasium's, of environments as it makes them, and of our iterations to OpenSpiel's. */
const FLOORS = { gymnasium: 0.25, kept: 0.8, openSpiel: 10 }

/** A world here and at Gymnasium, whose actions are numbers. */
interface World {
  readonly environment: typeof cartPole | typeof frozenLake | typeof taxi
  readonly name: string
  readonly options: object
  readonly actions: readonly Action[]
}

const actionsOf = (tool: string, key: string, values: readonly string[]): Action[] =>
  values.map((value) => ({ tool, arguments: { [key]: value } }))
const WORLDS: readonly World[] = [
  {
    environment: cartPole,
    name: 'CartPole-v1',
    options: {},
    actions: actionsOf('push', 'side', ['left', 'right']),
  },
  {
    environment: taxi,
    name: 'Taxi-v4',
    options: {},
    actions: actionsOf('act', 'action', ['south', 'north', 'east', 'west', 'pick-up', 'drop-off']),
  },
  {
    environment: frozenLake,
    name: 'FrozenLake-v1',
    options: {},
    actions: actionsOf('move', 'direction', ['left', 'down', 'right', 'up']),
  },
]

/** A game here and at OpenSpiel, and how many iterations of it a round takes at each. */
const GAMES = [
  { here: 'kuhn-poker', there: 'kuhn_poker', iterations: [4_000, 60] },
  { here: 'leduc-poker', there: 'leduc_poker', iterations: [200, 1] },
] as const

const rng = createRng('classics benchmark')
const say = (text: string) => console.error(`  ${text}`)

let episodes = 0

async function openSession(host: Host, { environment: { name } }: World) {
  const key = `classics-benchmark-${episodes++}`
  const { session } = await host.open(null, { environment: name, requestKey: key, seed: key })
  return host.resolve(null, { by: 'control', token: session })
}

/** Plays whole episodes, opened and closed, for so many steps, and returns steps a second. */
async function playHere(world: World, drawn: readonly number[]): Promise<number> {
  const { environment, actions } = world
  await using host = createHost({ environments: [environment] })
  const open = () => openSession(host, world)
  const began = process.cpuUsage()
  let session = await open()
  for (let at = 0, seq = 0; at < STEPS; at++) {
    const action = actions[drawn[at % drawn.length] as number] as Action
    const { step } = await session.step({ action, seq: seq++ })
    if (!step.report.end) continue
    await session.close()
    session = await open()
    seq = 0
  }
  await session.close()
  return STEPS / secondsSince(began)
}

/** Opens and closes episodes without a step, and returns how many a second. */
async function openHere(world: World): Promise<number> {
  await using host = createHost({ environments: [world.environment] })
  const began = process.cpuUsage()
  for (let opened = 0; opened < OPENINGS; opened++) await (await openSession(host, world)).close()
  return OPENINGS / secondsSince(began)
}

/** Seconds of CPU time of this process, with its collector's and compiler's threads. */
function secondsSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1e6
}

async function openPython(): Promise<LineProgram | null> {
  try {
    const { python } = openPythonEnvironment('classics.txt', say)
    return startLineProgram(python, [`${import.meta.dirname}/measured.py`])
  } catch (error) {
    say(`Gymnasium and OpenSpiel are left out: ${(error as Error).message}`)
    return null
  }
}

const python = await openPython()
const rateThere = async (operations: number, question: object) => operations / Number(await python?.ask(question))

const steps: Record<string, object> = {}
const solved: Record<string, object> = {}
let isFast = true
for (const world of WORLDS) {
  const { name, options, actions, environment } = world
  const drawn = Array.from({ length: 1_024 }, () => rng.int(0, actions.length - 1))
  const there = (how: { bare?: boolean; keep?: boolean }) => () =>
    rateThere(STEPS, { kind: 'play', name, options, bare: false, keep: false, ...how, actions: drawn, steps: STEPS })
  const rates = await inTurn<string>(ROUNDS, {
    here: () => playHere(world, drawn),
    openings: () => openHere(world),
    ...(python ? { gymnasium: there({}), unwrapped: there({ bare: true }), kept: there({ keep: true }) } : {}),
  })
  steps[environment.name] = figuresOf(rates)
}
for (const { here, there, iterations } of GAMES) {
  const game = games.find(({ environment }) => environment.name === here)
  if (!game) throw new Error(`There is no game ${here}.`)
  const tree = gameTree(game.environment)
  const [ours, theirs] = iterations
  const rates = await inTurn<string>(ROUNDS, {
    here: () => {
      const began = process.cpuUsage()
      tree.cfr(ours)
      return ours / secondsSince(began)
    },
    ...(python ? { openSpiel: () => rateThere(theirs, { kind: 'solve', game: there, iterations: theirs }) } : {}),
  })
  solved[here] = figuresOf(rates)
}
await python?.[Symbol.asyncDispose]()

/** The rates, and how many times the others' ours are. */
function figuresOf({ here = [], openings, ...others }: Readonly<Record<string, number[]>>): object {
  const times: Record<string, number> = {}
  const rates: Record<string, number> = { here: Math.round(median(here)) }
  if (openings) rates.openings = Math.round(median(openings))
  for (const [name, measured] of Object.entries(others)) {
    rates[name] = Math.round(median(measured) * 10) / 10
    times[name] = ratio(here, measured)
    if ((times[name] as number) < ((FLOORS as Record<string, number>)[name] ?? 0)) isFast = false
  }
  return { rates, times }
}

report('classics', { ok: isFast, steps, iterations: solved, hasPython: python !== null })
