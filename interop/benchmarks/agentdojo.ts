import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { digestOf } from '@episodic/benchmarks/suite/golden'
import { generateTasks } from '@episodic/dataset'
import { connect, type Game } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess, rehearse } from '@episodic/mcp-server'
import { canonicalJson, createRng, type Json, type JsonObject, type Rng } from '@episodic/protocol'
import { z } from 'zod'
import { startLineProgram } from '../line-program.ts'
import { readOptions } from '../options.ts'
import { CACHE, openPythonEnvironment } from '../python-environment.ts'
import type { Report } from '../report.ts'
import { getSuiteData } from './suite-data.ts'

const USAGE = `Usage: pnpm interop agentdojo [--quick] [--record] [--only <environment>] [--show] [--json]

Plays AgentDojo with its own code in Python and with our rules, and compares tools, prompts, ground truths, every answer,
the environment at the end, utility and security: of all tasks, all pairs with an injection, each attack, and random calls.
Gets the data of the suite if it is not there.

  --quick   a sample
  --record  writes the goldens of satellites/benchmarks/golden/agentdojo.jsonl anew, by the original alone
  --only    one environment: workspace, travel, banking or slack
  --show    prints what differs
  --json    prints nothing but the line of JSON that ends every run`

const ENVIRONMENTS = ['workspace', 'travel', 'banking', 'slack'] as const
const ATTACKS = ['none', 'direct', 'ignore_previous', 'injecagent', 'system_message', 'tool_knowledge'] as const
const ORIGINAL = 'agentdojo==0.1.35'

interface Played {
  readonly failed?: string
  readonly error?: string
  readonly prompt: string
  readonly output: string
  readonly calls: readonly Call[]
  readonly answers: readonly string[]
  readonly state: string
  readonly utility: boolean | string
  readonly security: boolean | string | null
  readonly seconds: number
}

interface Call {
  readonly tool: string
  readonly arguments: JsonObject
}

type World = Awaited<ReturnType<typeof openWorld>>

/** Compares AgentDojo with its original from the command line. */
export async function runAgentDojo(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {
    quick: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    show: { type: 'boolean', default: false },
  })
  if (!options) return null
  getSuiteData('agentdojo')
  const names = ENVIRONMENTS.filter((name) => options.only === '' || name === options.only)
  const { python } = openPythonEnvironment('agentdojo.txt', options.say)
  // What its package asks for are clients of models, which are not used.
  const folder = `${CACHE}agentdojo-0.1.35`
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder, ORIGINAL]
  if (!existsSync(`${folder}/agentdojo`)) execFileSync(python, pip)
  process.env.PYTHONPATH = folder
  const program = fileURLToPath(new URL('agentdojo.py', import.meta.url))
  if (options.record) {
    process.stdout.write(execFileSync(python, [program, '--record', ...names], { maxBuffer: 1e9 }))
    return { clients: {} }
  }
  let [passed, failed] = [0, 0]
  const check = (what: string, got: unknown, wanted: unknown) => {
    const isEqual = canonicalJson(got as Json) === canonicalJson(wanted as Json)
    if (isEqual) passed += 1
    else {
      failed += 1
      if (options.show) console.error(`✗ ${what}\n  ours ${JSON.stringify(got)}\n  original ${JSON.stringify(wanted)}`)
    }
    return isEqual
  }
  const described = JSON.parse(
    execFileSync(python, [program, '--tools', ...names], { maxBuffer: 1e9, encoding: 'utf8' }),
  )
  const listed = JSON.parse(execFileSync(python, [program, '--list', ...names], { maxBuffer: 1e9, encoding: 'utf8' }))
  await using original = startLineProgram(python, [program])
  const figures: Record<string, object> = {}
  for (const name of names) {
    const world = await openWorld(name)
    const [ours, theirs] = [toolsOf(world.environment), described[name] as JsonObject[]].map((all) =>
      canonicalJson(all.map(plainSchema)),
    )
    check(`${name}: tools`, ours, theirs)
    const ids = world.tasks.map(({ id }) => id)
    check(`${name}: tasks`, [...ids].sort(), listed.filter((id: string) => id.startsWith(`${name}/`)).sort())
    const sums = {
      utility: 0,
      security: 0,
      pairs: 0,
      answers: 0,
      random: 0,
      nothing: 0,
      exposed: 0,
      crashes: 0,
      ours: 0,
      theirs: 0,
    }
    const compare = async (what: string, params: JsonObject, calls: readonly Call[] | null, output: string | null) => {
      const request = { suite: name, ...params, calls, output }
      const said = (await original.ask(request)) as Played
      if (said.error) throw new Error(`${what}: ${said.error}`)
      if (said.failed) {
        const started = (() => {
          try {
            return rehearse(world.environment, { params }) && 'started'
          } catch {
            return 'failed'
          }
        })()
        check(`${what}: start`, started, 'failed')
        return null
      }
      const mine = world.play(params, calls ?? said.calls, output ?? said.output)
      mine.answers.forEach((text, i) => {
        check(`${what}: answer ${i} to ${JSON.stringify((calls ?? said.calls)[i])}`, text, said.answers[i])
      })
      check(`${what}: state`, mine.state, said.state)
      // A check that fails itself would end a run of the original: nothing is reached here.
      for (const verdict of ['utility', 'security'] as const) {
        if (typeof said[verdict] === 'string') sums.crashes += 1
        check(`${what}: ${verdict}`, mine[verdict], typeof said[verdict] === 'string' ? false : said[verdict])
      }
      sums.answers += mine.answers.length
      sums.ours += mine.seconds
      sums.theirs += said.seconds
      return said
    }
    for (const [index, { id, params, calls, output, prompt }] of world.tasks.entries()) {
      const isPair = id.split('/').length === 3
      if (options.quick && isPair && index % 7 !== 0) continue
      const said = await compare(id, params, null, null)
      if (!said) continue
      check(`${id}: ground truth`, [calls, output], [said.calls, said.output])
      check(`${id}: prompt`, prompt.endsWith(`\n\n${said.prompt}`), true)
      if (isPair) sums.pairs += 1
      else if (id.includes('/user_')) sums.utility += Number(said.utility === true)
      else if (said.calls.length > 0 || said.output !== '') sums.security += Number(said.utility === true)
      if (id.includes('/user_')) {
        const none = await compare(`${id}: nothing`, params, [], '')
        if (!isPair) sums.nothing += Number(none?.utility === true)
        else sums.exposed += Number(none?.security === true)
      }
    }
    const pairs = world.tasks.filter(({ id }) => id.split('/').length === 3)
    for (const attack of ATTACKS)
      for (const [index, { id, params }] of pairs.entries())
        if (index % (options.quick ? 97 : 5) === 0)
          await compare(`${id}: ${attack}`, { ...params, attack, model: index % 2 ? 'GPT-4' : '' }, null, null)
    const rng = createRng(`agentdojo-${name}`)
    for (let episode = 0; episode < (options.quick ? 30 : 300); episode += 1) {
      const { id, params } = rng.stream('task').pick(world.tasks)
      const calls = randomCalls(world, params, rng)
      const output = rng
        .stream('output')
        .pick(['', 'I have done it.', ...stringsOf(world.stateOf(params)).slice(0, 40)])
      await compare(`${id}: random ${episode}`, params, calls, output)
      sums.random += calls.length
    }
    await compareReplays(world, check)
    figures[name] = figuresOf(sums)
    options.say(`${name}: ${JSON.stringify(figures[name])}`)
  }
  return { clients: { [ORIGINAL]: { passed, failed } }, details: figures }
}

/** Steps a second are of the calls alone: ours with all that a rehearsal does, and the original's functions. */
function figuresOf({ ours, theirs, ...counts }: { ours: number; theirs: number; answers: number }): object {
  const rate = (seconds: number) => Math.round(counts.answers / seconds)
  return { ...counts, stepsPerSecond: { ours: rate(ours), original: rate(theirs) } }
}

/** Plays every task twice, and forks of a hundred at a random step: all has to be the same, byte for byte. */
async function compareReplays(
  { environment, tasks }: World,
  check: (what: string, got: unknown, wanted: unknown) => void,
) {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  await using game = connection.game(environment.name)
  const forked = new Set(
    createRng('forks')
      .shuffle([...tasks.keys()])
      .slice(0, 100),
  )
  for (const [index, { id, params, calls, output }] of tasks.entries()) {
    const actions = [...calls, { tool: 'answer', arguments: { text: output } }]
    const play = async (from: number, of: Game) => {
      const steps = []
      for (const action of actions.slice(from)) {
        const { observation, report } = await of.step('agent', action)
        // A fork counts its own commits.
        steps.push({ observation, report: { ...report, revision: 0 } })
      }
      return JSON.stringify(steps)
    }
    await game.reset({ params, seed: id })
    const steps = await play(0, game)
    if (forked.has(index)) {
      const at = createRng(id).int(0, actions.length - 1)
      for (const fork of await game.fork({ at })) {
        const whole = JSON.parse(steps) as object[]
        check(`${id}: fork at step ${at}`, await play(at, fork), JSON.stringify(whole.slice(at)))
        await fork.close()
      }
    }
    await game.reset({ params, seed: id })
    check(`${id}: replay`, await play(0, game), steps)
  }
}

async function openWorld(name: string) {
  const module = await import(`@episodic/benchmarks/agentdojo/${name}`)
  const environment = module.environment as EnvironmentDefinition
  const prompts = [...generateTasks(module.tasks, { seed: 'interop', count: module.tasks.count })]
  const golden = [...module.golden()].map(({ task, params, calls }, index) => {
    const answer = calls.at(-1)
    return {
      id: task as string,
      params: params as JsonObject,
      calls: calls.slice(0, -1) as Call[],
      output: answer.arguments.text as string,
      prompt: prompts[index]?.prompt as string,
    }
  })
  return {
    environment,
    tasks: golden,
    stateOf: (params: JsonObject) => module.goldenState(rehearse(environment, { params }).state) as Json,
    play(params: JsonObject, calls: readonly Call[], output: string) {
      const world = rehearse(environment, { params })
      const started = performance.now()
      const answers = calls.map((call) => world.play(call.tool, call.arguments).observation.text)
      const seconds = (performance.now() - started) / 1_000
      const end = world.play('answer', { text: output })
      const isPair = String(params.task).split('/').length === 3
      return {
        answers,
        seconds,
        state: digestOf(module.goldenState(world.state)),
        utility: end.verdicts?.utility,
        security: isPair ? end.verdicts?.security : null,
      }
    },
  }
}

function toolsOf({ tools }: EnvironmentDefinition): JsonObject[] {
  return Object.entries(tools).flatMap(([name, { description, input }]) =>
    name === 'answer' ? [] : [{ name, description, schema: schemaOf(input) as JsonObject }],
  )
}

function schemaOf(input: z.ZodType) {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' })
  return schema
}

/** Writes a schema of either in one way: without titles that pydantic makes of names, and without references. */
function plainSchema(described: JsonObject): JsonObject {
  const { $defs = {}, ...schema } = described.schema as JsonObject
  const plain = (value: Json, isNames = false): Json => {
    if (Array.isArray(value)) return value.map((part) => plain(part))
    if (typeof value !== 'object' || value === null) return value
    const { $ref: reference, anyOf, ...rest } = value as JsonObject
    if (isNames) return mapped(value as JsonObject, (part) => plain(part))
    const known = typeof reference === 'string' ? ($defs as JsonObject)[reference.replace('#/$defs/', '')] : {}
    // zod writes `T | null` as two types, and pydantic as two schemas.
    const [first, second] = (anyOf ?? []) as JsonObject[]
    const either = first ? { ...first, type: [first.type as Json, second?.type as Json] } : {}
    const { title: _, ...kept }: JsonObject = { ...(known as JsonObject), ...either, ...rest }
    return Object.fromEntries(
      Object.entries(kept).map(([key, part]) => [key, plain(part as Json, key === 'properties')]),
    )
  }
  return { ...described, schema: plain(schema) }
}

function mapped(value: JsonObject, change: (part: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, change(part as Json)]))
}

/** Draws calls: mostly of things that are there, sometimes of others, and sometimes with arguments that do not fit. */
function randomCalls(world: World, params: JsonObject, rng: Rng): Call[] {
  const known = stringsOf(world.stateOf(params))
  const tools = toolsOf(world.environment) as { name: string; schema: z.core.JSONSchema.BaseSchema }[]
  const draw = rng.stream('calls')
  const any = (): Json =>
    draw.pick([null, true, 7, 1.5, 'x', '', [], ['a'], {}, '[1]', "['a', 'b']", '3', '2024-05-16'])
  const text = (name: string): Json => {
    if (/time/.test(name)) return draw.pick(['2024-05-15 10:00', '2024-05-17 09:30', '2024-05-15', 'noon'])
    if (/date|day/.test(name)) return draw.pick(['2024-05-15', '2024-05-26', '2024-5-1', 'today'])
    if (/_id$/.test(name)) return String(draw.int(0, 40))
    if (/query|filename/.test(name)) return draw.pick(known).slice(0, draw.int(0, 9))
    return draw.pick(
      draw.int(0, 2) === 0 ? ['new', 'a: b', ' lead', 'two\nlines', "it's", 'né ✓', '#x', 'yes', '12'] : known,
    )
  }
  const value = (name: string, schema: z.core.JSONSchema.BaseSchema): Json => {
    if (draw.int(0, 24) === 0) return any()
    const { type, anyOf, items } = schema as { type?: string; anyOf?: object[]; items?: object }
    if (anyOf) return draw.int(0, 2) === 0 ? null : value(name, anyOf[0] as z.core.JSONSchema.BaseSchema)
    if (schema.enum) return draw.pick(schema.enum as Json[])
    if (type === 'integer') return draw.int(-2, 12)
    if (type === 'number') return draw.pick([5, 12.5, 0, -3, 1e16, 0.00001, '7.5'])
    if (type === 'boolean') return draw.pick([true, false, 'yes'])
    if (type === 'object')
      return draw.pick<Json>([{ type: 'file', file_id: '3' }, { type: 'event' }, { file_id: '1' }, {}])
    if (type === 'array')
      return Array.from({ length: draw.int(0, 3) }, () => value(name, items as z.core.JSONSchema.BaseSchema))
    return text(name)
  }
  return Array.from({ length: draw.int(1, 25) }, () => {
    const { name, schema } = draw.pick(tools)
    const given = Object.entries(schema.properties ?? {}).filter(
      ([key]) => draw.int(0, (schema.required ?? []).includes(key) ? 30 : 2) !== 0,
    )
    return {
      tool: name,
      arguments: Object.fromEntries(
        given.map(([key, part]) => [key, value(key, part as z.core.JSONSchema.BaseSchema)]),
      ),
    }
  })
}

function stringsOf(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return [
    ...new Set(
      Object.entries(value).flatMap(([key, part]) => [
        ...(Array.isArray(value) ? [] : [key]),
        ...stringsOf(part as Json),
      ]),
    ),
  ]
}
