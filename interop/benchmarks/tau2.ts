import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { dataFolder } from '@episodic/benchmarks/suite/data-folder'
import type { GoldenCase } from '@episodic/benchmarks/suite/golden'
import { generateTasks, type TasksDefinition } from '@episodic/dataset'
import { connect, type Game } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess, rehearse } from '@episodic/mcp-server'
import { type Action, createRng, type Json, type JsonObject, type Rng } from '@episodic/protocol'
import { type LineProgram, startLineProgram } from '../line-program.ts'
import { readOptions } from '../options.ts'
import { CACHE, openPythonEnvironment } from '../python-environment.ts'
import type { Report, Tally } from '../report.ts'
import { getSuiteData } from './suite-data.ts'
import { airlineCalls, type DrawCalls, retailCalls } from './tau2-shop-calls.ts'

const ORIGINAL = fileURLToPath(new URL('./tau2.py', import.meta.url))
const REPOSITORY = 'https://github.com/sierra-research/tau2-bench'
const COMMIT = 'a2c0247'
/** Random calls after the golden ones of each task. */
const RANDOM_CALLS = 12

const USAGE = `Usage: pnpm interop tau2 [--domain <name>…] [--quick] [--checkout <folder>] [--json]

Plays the golden actions of each task of τ²-bench, and ${RANDOM_CALLS} random calls after them, by the rules here and with the original's own
code in Python, and compares each answer, the databases of both seats, each assertion and the verdict; and what models read.
Then forks a hundred episodes at a random step and plays them on, and measures how fast both play the golden actions. Gets the data of the suite
if it is not there.

  --domain    only this domain: ${Object.keys(domains()).join(', ')}
  --quick     one task of twenty
  --checkout  a folder with \`src/tau2\` of ${REPOSITORY} at ${COMMIT}; default: got with git
  --record    print what the original made of the golden actions, as the lines of \`golden/tau2-<domain>.jsonl\`, and compare nothing
  --json      print nothing but the line of JSON that ends every run`

/** A world of the suite, as its module exports it. */
interface World {
  readonly environment: EnvironmentDefinition
  readonly golden: () => Iterable<GoldenCase>
  readonly tasks: TasksDefinition
  readonly compared: (
    state: { readonly private: JsonObject },
    task: string,
  ) => { readonly databases: Json; readonly assertions: readonly boolean[] }
}

interface Domain {
  readonly load: () => Promise<World>
  /** What random calls are drawn from: values of arguments by their names, or a function that draws whole calls. */
  readonly draw: { readonly [argument: string]: readonly Json[] } | ((folder: string) => DrawCalls)
  /** Episodes of random calls alone that are played for each task besides. Default: none. */
  readonly rounds?: number
}

function domains(): { readonly [name: string]: Domain } {
  return {
    telecom: {
      load: () => import('@episodic/benchmarks/tau2/telecom') as unknown as Promise<World>,
      draw: {
        customer_id: ['C1001', 'C1001', 'C1001', 'C1002', 'C1003', 'C1004', 'C1009'],
        line_id: ['L1001', 'L1002', 'L1002', 'L1002', 'L1003', 'L1004', 'L1009', 'L1010'],
        bill_id: ['B1001', 'B1002', 'B1003', 'B1004', 'B1234321', 'B9999'],
        id: ['C1001', 'L1002', 'L1003', 'D1002', 'D1009', 'B1003', 'B1234321', 'P1002', 'X1'],
        phone_number: ['555-123-2002', '555-123-2004', '555-123-1003', '555-000-0000'],
        full_name: ['John Smith', 'EMMA WILSON', 'Nobody'],
        dob: ['1985-06-15', '1995-08-17'],
        reason: ['Lost.'],
        summary: ['It is broken.'],
        // Whole numbers are integers on this wire, which Python prints without a point.
        gb_amount: [0.5, 1.25, 2.7, 0.1, -0.5],
        limit: [0, 1, 2, -1, 12],
        mode: ['4g_5g_preferred', '4g_only', '3g_only', '2g_only', '5g_only'],
        app_name: ['messaging', 'browser', 'camera'],
        permission: ['sms', 'STORAGE', 'phone', 'network', 'camera'],
        apn_settings: [{ apn_name: 'internet', mmsc_url: null }, { apn_name: 'broken' }, { apn_name: 'internet' }],
      },
    },
    airline: {
      load: () => import('@episodic/benchmarks/tau2/airline') as unknown as Promise<World>,
      draw: airlineCalls,
      rounds: 3,
    },
    retail: {
      load: () => import('@episodic/benchmarks/tau2/retail') as unknown as Promise<World>,
      draw: retailCalls,
      rounds: 3,
    },
  }
}

/** Compares the suite τ² with its original from the command line. */
export async function runTau2(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {
    domain: { type: 'string', multiple: true, default: Object.keys(domains()) },
    quick: { type: 'boolean', default: false },
    checkout: { type: 'string' },
    record: { type: 'boolean', default: false },
  })
  if (!options) return null
  getSuiteData('tau2', options.checkout)
  const { say, quick } = options
  const { python } = openPythonEnvironment('tau2.txt', console.error)
  const original = [ORIGINAL, options.checkout ?? getCheckout(), dataFolder('tau2')]
  const clients: Record<string, Tally> = {}
  const speeds: Record<string, object> = {}
  for (const name of options.domain) {
    const domain = domains()[name]
    if (!domain) throw new Error(`There is no domain ${name}. The domains are: ${Object.keys(domains()).join(', ')}.`)
    if (options.record) {
      process.stdout.write(ask(python, [...original, '--record', name]))
      continue
    }
    const world = await domain.load()
    const { draw } = domain
    const drawCalls: DrawCalls =
      typeof draw === 'function' ? draw(dataFolder('tau2')) : (rng) => () => drawn(world.environment, draw, rng)
    const found = new Differences(say)
    compareTexts(world, JSON.parse(ask(python, [...original, '--texts', name])), found)
    {
      await using program = startLineProgram(python, [...original, '--play', name])
      let index = 0
      for (const one of world.golden()) {
        if (index++ % (quick ? 20 : 1) !== 0) continue
        await compareTask(world, drawCalls, one, program, found)
        for (let round = 1; round <= (domain.rounds ?? 0); round++)
          await compareTask(world, drawCalls, { ...one, calls: [] }, program, found, `round ${round}`)
      }
    }
    await compareForks(world, found)
    speeds[name] = { here: measure(world), original: JSON.parse(ask(python, [...original, '--time', name])) }
    say(`${name}: ${found.equal} equal, ${found.different} different\n${JSON.stringify(speeds[name], null, 1)}`)
    clients[`tau2 ${name}`] = { passed: found.equal, failed: found.different }
  }
  return { clients, details: { speeds } }
}

class Differences {
  equal = 0
  different = 0
  readonly #say: (text: string) => void

  constructor(say: (text: string) => void) {
    this.#say = say
  }

  compare(what: string, here: unknown, original: unknown): void {
    // Ids of new bills are drawn.
    const [a, b] = [here, original].map((value) => canonical(value).replaceAll(/B[\da-f]{8}\b/g, 'B…'))
    if (a === b) this.equal += 1
    else if (++this.different <= 20)
      this.#say(`${what}\n  here:     ${a?.slice(0, 2_000)}\n  original: ${b?.slice(0, 2_000)}`)
  }
}

/** A JSON text in which the order of fields makes no difference. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

interface Answer {
  readonly answers: readonly string[]
  readonly state: Json
  readonly assertions: readonly boolean[]
  readonly solved: boolean
}

/** Plays golden and random calls of a task here, and then in the original. Without golden ones, three times as many. */
async function compareTask(
  { environment, compared }: World,
  drawCalls: DrawCalls,
  { task, params, calls }: GoldenCase,
  program: LineProgram,
  found: Differences,
  round = '',
): Promise<void> {
  const world = rehearse<EnvironmentDefinition>(environment, { params, seed: task, strict: true })
  const rng = createRng(`random calls after ${task}${round}`)
  const played: { readonly tool: string; readonly arguments: JsonObject; readonly requestor: string }[] = []
  const answers: string[] = []
  let success = false
  const play = (seat: string, tool: string, given: JsonObject) => {
    if (world.end) return
    if (!world.turn.includes(seat)) play(seat === 'user' ? 'agent' : 'user', 'say', { text: 'Go on.' })
    const step = world.play(tool, given, { seat })
    if (step.refused === 'arguments') throw new Error(`${task}: ${step.observation.text}`)
    if (tool !== 'say') answers.push(step.observation.text)
    played.push({ tool, arguments: given, requestor: seat === 'user' ? 'user' : 'assistant' })
    success = step.success === true
  }
  const golden = calls.filter(({ tool }) => tool !== 'say')
  for (const { seat = 'agent', tool, arguments: given } of golden) play(seat, tool, given)
  const next = drawCalls(rng)
  for (let i = 0; i < RANDOM_CALLS * (round ? 3 : 1); i++) {
    const { tool, arguments: given } = next()
    play(environment.tools[tool]?.seats?.[0] ?? 'agent', tool, given)
  }
  const { databases, assertions } = compared(world.state as never, task)
  play('user', 'say', { text: '###STOP###' })
  const judged = round === ''
  const original = (await program.ask({ task, golden: golden.length, calls: played, judged })) as Answer
  answers.forEach((answer, i) => {
    found.compare(`${task} ${i}`, answer, original.answers[i])
  })
  found.compare(`${task} databases`, databases, original.state)
  if (judged) found.compare(`${task} assertions`, assertions, original.assertions)
  if (judged && world.end?.reason === 'user-stop') found.compare(`${task} solved`, success, original.solved)
}

function drawn(
  environment: EnvironmentDefinition,
  values: Readonly<Record<string, readonly Json[]>>,
  rng: Rng,
): Action {
  const { name } = rng.pick(environment.toolInfos.filter((tool) => tool.name !== 'say'))
  const { input } = environment.tools[name] as unknown as { readonly input: { readonly shape: object } }
  const names = Object.keys(input.shape)
  return { tool: name, arguments: Object.fromEntries(names.map((one) => [one, rng.pick(values[one] ?? [''])])) }
}

interface Texts {
  readonly tools: { readonly [name: string]: { readonly description: string; readonly parameters: JsonObject } }
  readonly agent: string
  readonly users: { readonly [task: string]: string }
}

/** Compares the descriptions of tools and of their arguments, and the instructions of both seats. */
function compareTexts({ environment, tasks }: World, texts: Texts, found: Differences): void {
  for (const { name, description, inputSchema } of environment.toolInfos) {
    if (name === 'say') continue
    const { parameters, ...original } = texts.tools[name] ?? { description: '', parameters: {} }
    found.compare(`description of ${name}`, description, original.description)
    found.compare(`arguments of ${name}`, describedIn(inputSchema), describedIn(parameters))
  }
  for (const { prompt, seats, metadata } of generateTasks(tasks, { count: tasks.count ?? 1, seed: '0' })) {
    const { task } = metadata as { readonly task: string }
    found.compare(`instruction of the agent in ${task}`, prompt, texts.agent)
    found.compare(`instruction of the user in ${task}`, seats?.user?.prompt, texts.users[task])
  }
}

interface Described {
  readonly description?: string
  readonly properties?: { readonly [name: string]: Described }
  readonly required?: readonly string[]
  /** Of a list. */
  readonly items?: Described
  readonly anyOf?: readonly Described[]
  readonly $ref?: string
  readonly $defs?: { readonly [name: string]: Described }
}

/** The description of each argument, whether it is needed, and the same of the fields of objects in a list. */
function describedIn(schema: unknown, { $defs = {} } = schema as Described): Json {
  const { properties = {}, required = [] } = schema as Described
  return Object.entries(properties).map(([name, { description = null, items }]) => {
    const model = (items?.anyOf?.[0]?.$ref ?? items?.$ref)?.replace('#/$defs/', '')
    const fields = describedIn((model === undefined ? items : $defs[model]) ?? {}, { $defs })
    return [name, description, required.includes(name), fields]
  })
}

/** Forks an episode of a hundred tasks at a random step, and plays the rest of the golden actions in both. */
async function compareForks({ environment, golden }: World, found: Differences): Promise<void> {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  await using game = connection.game(environment.name)
  const cases = createRng('forks')
    .shuffle([...golden()])
    .slice(0, 100)
  for (const { task, params, calls } of cases) {
    await game.reset({ params, seed: task })
    const play = async (at: number, of: Game) => {
      const steps = []
      for (const { seat = 'agent', tool, arguments: given } of calls.slice(at)) {
        const { observation, report } = await of.step(seat, { tool, arguments: given })
        // A fork counts its own commits.
        steps.push({ observation, report: { ...report, revision: 0 } })
      }
      return steps
    }
    const steps = await play(0, game)
    const at = createRng(task).int(0, steps.length - 1)
    for (const fork of await game.fork({ at })) {
      found.compare(`${task} from step ${at}`, await play(at, fork), steps.slice(at))
      await fork.close()
    }
  }
}

/** Plays the golden actions of every task by the rules, as `--time` does in the original. */
function measure({ environment, golden }: World): object {
  const begun = performance.now()
  let starts = 0
  let count = 0
  let tasks = 0
  for (const { params, calls } of golden()) {
    const before = performance.now()
    const world = rehearse<EnvironmentDefinition>(environment, { params, seed: '1' })
    starts += performance.now() - before
    tasks += 1
    for (const { seat, tool, arguments: given } of calls) {
      world.play(tool, given, seat === undefined ? {} : { seat })
      count += 1
    }
  }
  return { tasks, calls: count, seconds: (performance.now() - begun) / 1_000, starts: starts / 1_000 }
}

function ask(python: string, args: readonly string[]): string {
  return execFileSync(python, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
}

/** Returns a folder with the sources of the original, which are got once. */
function getCheckout(): string {
  const folder = `${CACHE}tau2-bench-${COMMIT}`
  if (existsSync(folder)) return folder
  mkdirSync(CACHE, { recursive: true })
  rmSync(`${folder}.new`, { recursive: true, force: true })
  const git = (...args: readonly string[]) => execFileSync('git', args, { stdio: 'inherit' })
  git('clone', '--quiet', '--filter=blob:none', '--no-checkout', REPOSITORY, `${folder}.new`)
  git('-C', `${folder}.new`, 'checkout', '--quiet', COMMIT, '--', 'src')
  renameSync(`${folder}.new`, folder)
  return folder
}
