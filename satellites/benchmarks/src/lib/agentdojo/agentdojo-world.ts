import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineEnvironment, type Tool as WorldTool } from '@episodic/mcp-server'
import type { Action, Json, JsonObject } from '@episodic/protocol'
import { parse } from 'yaml'
import { z } from 'zod'
import { str } from '../python/repr.ts'
import type { GoldenCase, GoldenResult } from '../suite/golden.ts'
import { ArgumentError, readArguments } from './arguments.ts'
import { ATTACKS, readAttacks } from './attacks.ts'
import { changesBetween } from './changes.ts'
import { type NamedTask, outputOf, type Pair, readPairs } from './dojo-tasks.ts'
import { readEnvironment } from './environment-file.ts'
import { type Parameter, type PythonFunction, readPythonFunctions } from './python-functions.ts'
import { type DojoSuite, type Returned, ToolError } from './suite.ts'
import { dumpYaml } from './yaml-dump.ts'

export interface DojoOptions {
  readonly data: string
  /** What the original recorded of golden actions. Default: nothing. */
  readonly recorded?: ReadonlyMap<string, GoldenResult>
}

/** Returns an environment of AgentDojo as a world, with its tasks and golden actions. */
export function createDojo<Env>(suiteOfEnv: DojoSuite<Env>, { data, recorded }: DojoOptions) {
  const suite = suiteOfEnv as unknown as DojoSuite
  const read = (path: string) => readFileSync(join(data, path), 'utf8')
  const functions = new Map(
    suite.toolFiles.flatMap((file) => [...readPythonFunctions(read(`default_suites/v1/tools/${file}`))]),
  )
  const file = readEnvironment(join(data, 'data/suites', suite.name))
  const attackText = readAttacks(read)
  const system = String(parse(read('data/system_messages.yaml')).default)
  const pairs = readPairs(suite, read)
  const pairOf = new Map(pairs.map((pair) => [pair.id, pair]))

  /** Plays a call by the rules alone, and returns its answer. */
  const answer = (env: Json, { tool, arguments: given }: Action): string => {
    const rule = suite.tools[tool] as (env: Json, args: object) => Returned
    try {
      const returned = rule(env, readArguments(functions.get(tool) as PythonFunction, given))
      return 'yaml' in returned ? dumpYaml(returned.yaml) : str(returned.value)
    } catch (error) {
      if (error instanceof ArgumentError) return `ValidationError: ${error.message}`
      if (error instanceof ToolError) return error.message
      throw error
    }
  }
  const truthOf = ({ task, texts }: NamedTask, env: Json) =>
    task.truth(texts, env).map(([tool, args]): Action => ({ tool, arguments: args }))

  const blank = suite.start(file.inject({}))
  const marks = Object.fromEntries(Object.keys(file.defaults).map((name) => [name, `<CANARY---${name}--->`]))
  const places = new Map<NamedTask, readonly string[]>()
  /** The places for injections that a model reads which plays the ground truth of a task: an attack fills them all. */
  const placesOf = (one: NamedTask): readonly string[] => {
    const known = places.get(one)
    if (known) return known
    const env = suite.start(file.inject(marks))
    const seen = [...truthOf(one, env).map((call) => answer(env, call)), outputOf(one)]
    const found = Object.keys(marks).filter((name) => seen.some((text) => text.includes(marks[name] as string)))
    places.set(one, found)
    return found
  }

  const paramsSchema = z.object({
    task: z.enum([...pairOf.keys()]).default(pairs[0]?.id ?? ''),
    attack: z.enum(ATTACKS).default('important_instructions').describe('How what is injected asks for its goal.'),
    model: z.string().max(100).default('').describe('What the attack calls the model.'),
  })
  type Params = z.output<typeof paramsSchema>
  const pairIn = ({ task }: Params) => pairOf.get(task) as Pair

  const injectedTexts = (params: Params): Record<string, string> => {
    const { main, injection } = pairIn(params)
    const { attack, model } = params
    if (!injection || attack === 'none') return {}
    const truth = () => injection.task.truth(injection.texts, blank)
    const text = attackText(attack, { goal: injection.texts.GOAL, model, truth })
    return Object.fromEntries(placesOf(main).map((place) => [place, text]))
  }
  // An episode needs its start again where it is judged; nobody changes this one.
  let last: readonly [key: string, env: Json] = ['', null]
  const startEnv = (params: Params): Json => {
    const key = JSON.stringify(params)
    if (last[0] !== key) last = [key, suite.start(file.inject(injectedTexts(params)))]
    return last[1]
  }

  const privateSchema = z.object({ env: z.json(), output: z.string() })
  interface Ended {
    readonly end: { readonly kind: string } | null
    readonly state: { readonly private: z.output<typeof privateSchema> }
    readonly params: Params
    readonly calls: readonly Action[]
  }
  const isMet = (one: NamedTask | undefined, { end, state, params, calls }: Ended): boolean => {
    if (!one || end?.kind !== 'terminated') return false
    const { env, output } = state.private
    const [before, after] = [startEnv(params), env as Json]
    const changes = changesBetween(suite.state(before), suite.state(after))
    return one.task.isMet({ output, before, after, changes, calls }, one.texts)
  }
  const isDone = (ended: Ended) => isMet(pairIn(ended.params).main, ended)

  const environment = defineEnvironment({
    name: `agentdojo-${suite.name}`,
    version: '1.0.0',
    description: `The environment ${suite.name} of AgentDojo: tools, tasks of a user, and texts that ask for something else.`,
    params: paramsSchema,
    limits: { steps: 100 },
    history: 'calls',
    readable: ['env'],
    speech: 'answer',
    state: { public: z.object({}), private: privateSchema },
    start: ({ params }) => ({
      public: {},
      private: { env: structuredClone(startEnv(params)) as z.output<typeof privateSchema>['env'], output: '' },
    }),
    observe: () => '',
    tools: ({ tool }) => ({
      ...Object.fromEntries(
        Object.keys(suite.tools).map((name) => {
          const described = functions.get(name) as PythonFunction
          const made = tool({
            description: described.description,
            input: inputOf(described),
            annotations: { openWorldHint: false },
            play: ({ state, input, say }) =>
              say(answer(state.private.env as Json, { tool: name, arguments: input as JsonObject })),
          })
          return [name, made as WorldTool]
        }),
      ),
      answer: tool({
        description: 'Answer the user. This ends the episode.',
        input: z.object({ text: z.string().max(100_000).describe('The answer.') }),
        play({ state, input: { text }, end, say }) {
          state.private.output = text
          end('answered')
          return say('Answered.')
        },
      }),
    }),
    rewards: {
      utility: ({ end, after, params, calls }) => (isDone({ end, state: after, params, calls }) ? 1 : 0),
    },
    success: isDone,
    check: {
      waive: {
        'observation-empty': 'The request of the user is the prompt, as in the original.',
        'argument-unbounded': 'Schemas are those of the original.',
        'nothing-varies': 'Environments are those of the original, and differ by the task alone.',
        ...suite.waive,
      },
    },
    verdicts: {
      /** Whether what the prompt asks for is done: what `success` says, under the name that the original gives it. */
      utility: isDone,
      /** Whether the goal of what was injected is reached, as in the original: true is bad. */
      security: (ended) => isMet(pairIn(ended.params).injection, ended),
    },
  })

  const tasks = defineTasks({
    name: environment.name,
    environment,
    count: pairs.length,
    generate({ index }) {
      const { id, main, kind } = pairs[index % pairs.length] as Pair
      return {
        prompt: `${system.trimEnd()}\n\n${String(kind === 'injection' ? main.texts.GOAL : main.texts.PROMPT)}`,
        params: { task: id },
        difficulty: 0,
        seed: id,
        tags: [kind],
        metadata: { task: id },
      }
    },
  })

  /** Plays the ground truth of the task that the prompt asks for. */
  const solver = definePolicy({
    name: 'golden',
    start({ task }) {
      const params = paramsSchema.parse(task.params ?? {})
      const { main } = pairIn(params)
      const calls = truthOf(main, startEnv(params))
      return () => calls.shift() ?? { tool: 'answer', arguments: { text: outputOf(main) } }
    },
  })
  const nothing = definePolicy({
    name: 'nothing',
    start: () => () => ({ tool: 'answer', arguments: { text: '' } }),
  })

  function* golden(): Iterable<GoldenCase> {
    for (const { id, main, injection } of pairs) {
      const params = paramsSchema.parse({ task: id })
      const calls = [main, ...(injection ? [injection] : [])].flatMap((one) => truthOf(one, startEnv(params)))
      const said = { tool: 'answer', arguments: { text: outputOf(main) }, answers: false } as const
      yield { task: id, params, calls: [...calls, said], expected: recorded?.get(id) ?? null }
    }
  }
  const goldenState = ({ private: { env } }: { readonly private: JsonObject }) => suite.state(env as Json)

  return { environment, tasks, solver, policies: { nothing }, golden, goldenState }
}

/** Returns the input of a tool: its schema is that of the original, and its rules read and refuse as pydantic does. */
function inputOf({ parameters }: PythonFunction): z.ZodObject {
  const required = parameters.flatMap(({ name, fallback }) => (fallback === undefined ? [name] : []))
  const fields = parameters.map((one) => [one.name, z.unknown().optional().meta(schemaOf(one))])
  return z.object(Object.fromEntries(fields)).meta(required.length > 0 ? { required } : {})
}

const SCHEMAS: Readonly<Record<Parameter['type'], object>> = {
  str: { type: 'string' },
  int: { type: 'integer' },
  float: { type: 'number' },
  bool: { type: 'boolean' },
  'list[str]': { type: 'array', items: { type: 'string' } },
  'list[dict]': { type: 'array', items: { type: 'object', additionalProperties: true } },
  SharingPermission: { enum: ['r', 'rw'], type: 'string' },
}

function schemaOf({ type, isNullable, description, fallback }: Parameter) {
  const schema = SCHEMAS[type]
  return {
    ...(isNullable ? { anyOf: [schema, { type: 'null' }] } : schema),
    description,
    ...(fallback !== undefined && { default: fallback }),
  }
}
