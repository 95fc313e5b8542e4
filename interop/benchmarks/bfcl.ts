import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { connect, type Environment } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess, type Rehearsal, rehearse } from '@episodic/mcp-server'
import { canonicalJson, contentId, createRng, type Json, type JsonObject, type Rng } from '@episodic/protocol'
import { type LineProgram, startLineProgram } from '../line-program.ts'
import { readOptions } from '../options.ts'
import { CACHE, openPythonEnvironment } from '../python-environment.ts'
import type { Report } from '../report.ts'
import { getSuiteData } from './suite-data.ts'

const USAGE = `Usage: pnpm interop bfcl [--quick] [--record] [--only <category>] [--show] [--json]

Plays the tasks of BFCL in several turns with their own code in Python and with our rules, and compares after each call the
answer and the state: of the ground truth, and of random calls after it. Then changes the ground truth, by calls that are
left out, doubled, drawn or made in another turn, and compares the verdicts. Then forks 25 episodes of each category at a
random step, and plays them on.
Gets the data of the suite if it is not there.

  --quick   every 20th task
  --record  prints the goldens of satellites/benchmarks/golden/bfcl.jsonl anew, by the original alone
  --only    one category: base, miss-func, miss-param or long-context
  --show    prints what differs
  --json    prints nothing but the line of JSON that ends every run`

const CATEGORIES = ['base', 'miss-func', 'miss-param', 'long-context'] as const
const ORIGINAL = 'bfcl-eval==2026.3.23'

/** Random calls after the ground truth, and changed ground truths, of each task. */
const CALLS = 12
const CHANGES = 3

/** Forked episodes of each category. */
const FORKS = 25

interface World {
  readonly environment: EnvironmentDefinition
  readonly golden: () => Iterable<GoldenCase>
  readonly goldenState: (state: { public: JsonObject; private: JsonObject }) => Json
}

interface GoldenCase {
  readonly task: string
  readonly params: JsonObject
  readonly calls: readonly (Call & { readonly answers?: false })[]
}

interface Call {
  readonly tool: string
  readonly arguments: JsonObject
}

interface Played {
  readonly answers: readonly string[]
  readonly states: readonly string[]
  readonly seconds: number
  readonly valid?: boolean | 'endless'
}

/** Compares BFCL with its original from the command line. */
export async function runBfcl(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {
    quick: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    show: { type: 'boolean', default: false },
  })
  if (!options) return null
  getSuiteData('bfcl')
  const { python } = openPythonEnvironment('bfcl.txt', options.say)
  // Its package asks for clients of models, which are not used.
  const folder = `${CACHE}${ORIGINAL}`
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder, ORIGINAL]
  if (!existsSync(`${folder}/bfcl_eval`)) execFileSync(python, pip)
  process.env.PYTHONPATH = folder
  const program = fileURLToPath(new URL('bfcl.py', import.meta.url))
  if (options.record) {
    process.stdout.write(execFileSync(python, [program, '--record'], { maxBuffer: 1e9 }))
    return { clients: {} }
  }

  await using original = startLineProgram(python, [program])
  const details: Record<string, object> = {}
  let [passed, failed] = [0, 0]
  for (const name of CATEGORIES.filter((one) => options.only === '' || one === options.only)) {
    const sums = { tasks: 0, golden: 0, random: 0, states: 0, verdicts: 0, solved: 0, differ: 0, ours: 0, theirs: 0 }
    const check = (what: string, ours: unknown, theirs: unknown) => {
      if (ours === theirs) passed += 1
      else {
        failed += 1
        sums.differ += 1
        if (options.show) console.error(`✗ ${what}\n  ours     ${ours}\n  original ${theirs}`)
      }
    }
    const { default: _, ...module } = await import(`@episodic/benchmarks/bfcl/${name}`)
    const world = module as World
    const cases = [...world.golden()]
    const values = valuesOf(cases)
    for (const [index, one] of cases.entries()) {
      if (options.quick && index % 20 !== 0) continue
      const category = name.replace('-', '_')
      const rng = createRng(`bfcl ${one.task}`)
      sums.tasks += 1

      const ours = playOn(world, one, values, rng)
      const extra = ours.random.map(sourceOf)
      const theirs = await ask(original, { category, index, extra })
      check(`${one.task}: calls`, ours.answers.length, theirs.answers.length)
      check(`${one.task}: start`, ours.states[0], theirs.states[0])
      for (const [at, call] of ours.calls.entries()) {
        const what = `${one.task}: call ${at}, ${sourceOf(call)}`
        // A folder that was copied into itself has no end, which Python finds in one of several ways.
        if (theirs.states[at + 1] === 'endless') break
        check(`${what}: answer`, digestOf(ours.answers[at] as string), theirs.answers[at])
        check(`${what}: state`, ours.states[at + 1], theirs.states[at + 1])
        sums.states += 1
      }
      if (options.show && ours.states.join() !== theirs.states.join())
        await show(original, { category, index, extra }, ours)
      sums.golden += ours.calls.length - extra.length
      sums.random += extra.length
      sums.ours += ours.seconds
      sums.theirs += theirs.seconds

      for (let change = 0; change < CHANGES; change += 1) {
        const turns = changed(world, one, values, rng)
        const { valid } = await ask(original, {
          category,
          index,
          extra: [],
          turns: turns.map((turn) => turn.map(sourceOf)),
        })
        const solved = playTurns(world, one, turns)
        check(`${one.task}: verdict on ${JSON.stringify(turns.map((turn) => turn.map(sourceOf)))}`, solved, valid)
        sums.verdicts += 1
        sums.solved += Number(solved)
      }
    }
    await compareForks(world, (what, forked, trunk) => check(what, forked, trunk))
    details[name] = {
      ...sums,
      ours: Math.round(sums.states / sums.ours),
      theirs: Math.round(sums.states / sums.theirs),
    }
    options.say(`${name}: ${JSON.stringify(details[name])}`)
  }
  return { clients: { [ORIGINAL]: { passed, failed } }, details }
}

/** Forks episodes at a random step, and plays the rest of the ground truth in both. */
async function compareForks(
  { environment, golden }: World,
  check: (what: string, forked: string, trunk: string) => void,
): Promise<void> {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const trunk = connection.environment(environment.name)
  for (const { task, params, calls } of createRng('forks')
    .shuffle([...golden()])
    .slice(0, FORKS)) {
    await trunk.reset({ params, seed: task })
    const play = async (at: number, of: Environment) => {
      const steps = []
      for (const { tool, arguments: given } of calls.slice(at)) {
        steps.push(JSON.stringify(await of.step({ tool, arguments: given })))
      }
      return steps
    }
    const steps = await play(0, trunk)
    const at = createRng(task).int(0, steps.length - 1)
    for (const fork of await trunk.fork({ at })) {
      check(`${task}: fork at step ${at}`, (await play(at, fork)).join(), steps.slice(at).join())
      await fork.close()
    }
  }
}

function digestOf(value: Json): string {
  return contentId(canonicalJson(value)).slice(0, 16)
}

async function ask(original: LineProgram, question: object): Promise<Played> {
  return (await original.ask(question)) as Played
}

/** Prints the texts of states that differ first. */
async function show(
  original: LineProgram,
  question: object,
  { texts, calls, answers }: ReturnType<typeof playOn>,
): Promise<void> {
  const said = (await ask(original, { ...question, full: true })) as unknown as {
    states: Record<string, string>[]
    answers: string[]
  }
  for (const [at, state] of said.states.entries()) {
    const ours = texts[at] as Record<string, string>
    if (at > 0 && answers[at - 1] !== said.answers[at - 1])
      console.error(`  ${sourceOf(calls[at - 1] as Call)}\n    ${answers[at - 1]}\n    ${said.answers[at - 1]}`)
    for (const [name, text] of Object.entries(state))
      if (ours[name] !== text)
        return console.error(`  state after ${at} calls, ${name}\n    ${ours[name]}\n    ${text}`)
  }
}

/** Plays the ground truth, and random calls after its last one. */
function playOn(world: World, one: GoldenCase, values: Values, rng: Rng) {
  const played = rehearse(world.environment, { params: one.params, seed: 'interop' })
  const state = () => world.goldenState(played.state as never)
  const [calls, answers, texts]: [Call[], string[], Json[]] = [[], [], [state()]]
  const random: Call[] = []
  let seconds = 0
  const play = (call: Call) => {
    const begun = performance.now()
    answers.push(played.play(call.tool, call.arguments).observation.text)
    seconds += (performance.now() - begun) / 1_000
    calls.push(call)
    texts.push(state())
  }
  for (const { tool, arguments: given, answers: isCompared } of one.calls.slice(0, -1))
    if (isCompared === false) played.play(tool, given)
    else play({ tool, arguments: given })
  for (let at = 0; at < CALLS && !played.end; at += 1) {
    const call = drawCall(world, one, played, values, rng)
    random.push(call)
    play(call)
  }
  return { calls, answers, texts, random, seconds, states: texts.map(digestOf) }
}

/** Plays calls turn by turn, and returns whether that solves the task. */
function playTurns(world: World, one: GoldenCase, turns: readonly (readonly Call[])[]): boolean {
  const played = rehearse(world.environment, { params: one.params, seed: 'interop' })
  let solved = false
  for (const turn of turns) {
    for (const { tool, arguments: given } of turn) played.play(tool, given)
    solved = played.play('end_turn', { text: '' }).success === true
  }
  return solved
}

function turnsOf({ calls }: GoldenCase): Call[][] {
  const turns: Call[][] = [[]]
  for (const { tool, arguments: given, answers } of calls)
    if (answers === false) turns.push([])
    else turns.at(-1)?.push({ tool, arguments: given })
  return turns.slice(0, -1)
}

/** Changes one thing of the ground truth. */
function changed(world: World, one: GoldenCase, values: Values, rng: Rng): Call[][] {
  const turns = turnsOf(one)
  const draw = rng.stream('changes')
  const turn = draw.int(0, turns.length - 1)
  const calls = turns[turn] as Call[]
  const at = draw.int(0, Math.max(0, calls.length - 1))
  const played = rehearse(world.environment, { params: one.params, seed: 'interop' })
  for (let before = 0; before < turn; before += 1) played.play('end_turn', { text: '' })
  const drawn = () => drawCall(world, one, played, values, rng)
  switch (draw.int(0, 6)) {
    case 0:
      calls.splice(at, 1)
      break
    case 1:
      calls.splice(at, 0, ...calls.slice(at, at + 1))
      break
    case 2:
      calls.splice(at, 0, drawn())
      break
    case 3:
      calls.push(drawn(), drawn())
      break
    case 4:
      turns[(turn + 1) % turns.length]?.unshift(...calls.splice(at, 1))
      break
    case 5:
      calls.reverse()
      break
    default:
      calls.splice(0)
  }
  // What is moved to an earlier turn may not be offered there yet.
  const walked = rehearse(world.environment, { params: one.params, seed: 'interop' })
  const right = turnsOf(one)
  return turns.map((list, number) => {
    const offered = offeredIn(world, one, walked)
    walked.play('end_turn', { text: '' })
    // The original's checker has no limit of calls, and its player has one.
    const most = Math.max(20, right[number]?.length ?? 0)
    return list.filter(({ tool }) => offered.includes(tool)).slice(0, most)
  })
}

function offeredIn({ environment }: World, { params }: GoldenCase, { state }: Rehearsal): readonly string[] {
  return environment.offers?.(state as never, params, 'player') ?? []
}

/** Values that ground truths have for an argument, and texts and numbers of a task. */
type Values = ReadonlyMap<string, readonly Json[]>

function valuesOf(cases: readonly GoldenCase[]): Values {
  const values = new Map<string, Json[]>()
  for (const { calls } of cases)
    for (const [key, value] of calls.flatMap(({ arguments: given }) => Object.entries(given)))
      values.set(key, [...(values.get(key) ?? []), value])
  return values
}

const TEXTS = [
  '',
  '.',
  '..',
  '/',
  'a/b',
  'x|y',
  "it's",
  'né ✓ 😀',
  'two\nlines',
  '2024-02-30',
  '2026-03-01',
  'first',
  '12/2027',
]

/** Draws a call, mostly of what there is. */
function drawCall(world: World, one: GoldenCase, played: Rehearsal, values: Values, rng: Rng): Call {
  const draw = rng.stream('calls')
  const known = wordsOf((played.state as { private: JsonObject }).private.states as Json)
  const name = draw.pick(offeredIn(world, one, played).filter((tool) => tool !== 'end_turn'))
  const { properties = {}, required = [] } = (world.environment.toolInfos.find((tool) => tool.name === name)
    ?.inputSchema ?? {}) as {
    properties?: Record<string, JsonObject>
    required?: string[]
  }
  const number = () =>
    draw.pick<Json>([
      0,
      1,
      -1,
      2,
      3,
      7,
      10,
      32,
      100,
      1024,
      0.5,
      1.5,
      2.675,
      99.995,
      1e-6,
      { $float: '3.0' },
      { $float: '20.0' },
    ])
  const value = (key: string, { type, items }: JsonObject): Json => {
    const used = (values.get(key) ?? []).filter((given) => key.endsWith('_id') || isOfType(given, type as string))
    const shown = draw.int(0, 9)
    if (type === 'boolean') return draw.pick([true, false])
    if (type === 'array')
      return Array.from({ length: draw.int(0, 3) }, () =>
        (items as JsonObject).type === 'number'
          ? number()
          : (draw.pick([...known.texts, 'driver', 'rear_left']) as Json),
      )
    if (type === 'object')
      return Object.fromEntries(
        ['title', 'description', 'status', 'priority']
          .filter(() => draw.int(0, 1) === 0)
          .map((field) => [field, draw.pick(['low', 3, null, 'Open'])]),
      )
    if (used.length > 0 && shown < 5) return draw.pick(used)
    if (type === 'integer')
      return key === 'precision' ? draw.int(1, 40) : draw.pick([...known.numbers, 0, 1, 2, 3, 5, 10, -1])
    if (type === 'number') return number()
    return draw.pick(shown < 9 && known.texts.length > 0 ? known.texts : TEXTS)
  }
  const kept = Object.entries(properties).filter(([key]) => draw.int(0, required.includes(key) ? 40 : 1) !== 0)
  const given = Object.fromEntries(kept.map(([key, property]) => [key, value(key, property)]))
  if (draw.int(0, 60) === 0) given.unknown = 1
  // Results that are complex numbers are not reproduced.
  const positive = (key: string) => (typeof given[key] === 'number' ? Math.abs(given[key]) || 2 : given[key])
  for (const key of ['base', 'value']) if (name === 'logarithm' && key in given) given[key] = positive(key) as Json
  if (name === 'power' && 'base' in given) given.base = positive('base') as Json
  return { tool: name, arguments: given }
}

/** A function of another class may have an argument of that name. */
function isOfType(value: Json, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'number') return typeof value === 'number' || typeof value === 'object'
  return type === typeof value
}

function wordsOf(value: Json): { texts: string[]; numbers: number[] } {
  const [texts, numbers] = [new Set<string>(), new Set<number>()]
  const visit = (part: Json) => {
    if (typeof part === 'string' && part.length < 60) texts.add(part)
    else if (Number.isInteger(part)) numbers.add(part as number)
    else if (typeof part === 'object' && part !== null)
      for (const [key, inner] of Object.entries(part)) {
        if (!Array.isArray(part) && !key.startsWith('$')) texts.add(key)
        visit(inner as Json)
      }
  }
  visit(value)
  return { texts: [...texts], numbers: [...numbers] }
}

/** Writes a call in Python. */
function sourceOf({ tool, arguments: given }: Call): string {
  return `${tool}(${Object.entries(given)
    .map(([key, value]) => `${key}=${literalOf(value as Json)}`)
    .join(', ')})`
}

function literalOf(value: Json): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`
  const { $float } = value as JsonObject
  if (typeof $float === 'string') return $float
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${literalOf(item as Json)}`)
    .join(', ')}}`
}
