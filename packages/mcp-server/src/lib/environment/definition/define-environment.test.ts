import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { numberGuessing } from '../../fixtures/number-guessing.fixture.ts'
import { workshop } from '../../fixtures/workshop.fixture.ts'
import { toEnvironmentInfo } from '../../host/open/open-session.ts'
import { ServerError } from '../../server-error.ts'
import { rehearse } from '../rehearse/rehearse.ts'
import { defineEnvironment } from './define-environment.ts'
import type { Tool } from './environment.ts'

interface Parts {
  readonly name?: string
  readonly version?: string
  readonly toolName?: string | null
  readonly params?: z.ZodType
  readonly input?: z.ZodType
  readonly output?: z.ZodType
  readonly publicState?: z.ZodType
  readonly speech?: 'press'
}

/** Defines a small world with some of its parts exchanged. */
function define({ name = 'lamp', version = '1.0.0', toolName = 'press', speech, ...schemas }: Parts) {
  const { params = z.object({}), input = z.object({}), output, publicState = z.object({ on: z.boolean() }) } = schemas
  return defineEnvironment({
    ...LAMP,
    name,
    version,
    params,
    ...(speech && { speech }),
    state: { public: publicState, private: z.object({}) },
    tools: ({ tool }): { readonly [name: string]: Tool } => {
      const press = tool({ description: 'Press it.', input, output, play: ({ refuse }) => refuse('It is stuck.') })
      return toolName === null ? {} : { [toolName]: press }
    },
  })
}

const LAMP = {
  name: 'lamp',
  version: '1.0.0',
  description: 'A lamp.',
  params: z.object({}),
  state: { public: z.object({ on: z.boolean() }), private: z.object({}) },
  start: () => ({ public: { on: false }, private: {} }),
  observe: () => 'A lamp.',
  rewards: { light: () => 1 },
}
const PREPARING = { prepared: z.number(), prepare: (): number => 1 }

function errorOf(define: () => unknown): ServerError {
  try {
    define()
  } catch (error) {
    if (ServerError.is(error)) return error
    throw error
  }
  throw new Error('It was defined.')
}

describe('defineEnvironment', () => {
  it('describes tools, parameters and rewards as a player and a trainer see them', () => {
    const [guess] = numberGuessing.toolInfos
    expect(guess).toMatchObject({
      name: 'guess',
      description: 'Guess the number.',
      inputSchema: { type: 'object', properties: { value: { type: 'integer' } }, required: ['value'] },
      outputSchema: { type: 'object', required: ['value', 'hint'] },
    })
    expect(numberGuessing.paramsSchema).toMatchObject({ properties: { low: { default: 1 } } })
    expect(numberGuessing.paramsSchema).not.toHaveProperty('required')
    expect(numberGuessing.terms).toEqual(['jackpot', 'toll'])
    expect(numberGuessing.hasPotential).toBe(true)
  })

  it('lists no argument that a client has to repeat in a header', () => {
    const { toolInfos } = defineEnvironment({
      ...LAMP,
      tools: ({ tool }) => ({
        press: tool({
          description: 'Press it.',
          input: z.object({ 'x-mcp-header': z.object({ room: z.string().max(9).meta({ 'x-mcp-header': 'Room' }) }) }),
          play: ({ say }) => say('Pressed.'),
        }),
      }),
    })
    expect(toolInfos[0]?.inputSchema.properties).toEqual({
      'x-mcp-header': expect.objectContaining({ properties: { room: { type: 'string', maxLength: 9 } } }),
    })
  })

  it('has no parameters unless the spec has a schema of them', () => {
    const { params: _, ...withoutParams } = LAMP
    const lamp = defineEnvironment({
      ...withoutParams,
      tools: ({ tool }) => ({
        press: tool({
          description: 'Press it.',
          input: z.object({}),
          play: ({ params, say }) => say(JSON.stringify(params)),
        }),
      }),
    })
    expect(lamp.paramsSchema).toMatchObject({ type: 'object', properties: {} })
    expect(lamp.params.parse({})).toEqual({})
  })

  it('gives a tool without an output the public state as its output', () => {
    const take = workshop.toolInfos.find(({ name }) => name === 'take')
    expect(take?.outputSchema).toMatchObject({ properties: { stock: { type: 'integer' } } })
    expect(workshop.hasPotential).toBe(false)
  })

  it('says that a language model plays one call of an answer, where that is wanted', () => {
    const one = defineEnvironment({
      ...LAMP,
      parallelToolCalls: false,
      tools: ({ tool }) => ({
        press: tool({ description: 'Press it.', input: z.object({}), play: ({ refuse }) => refuse('No.') }),
      }),
    })
    expect(toEnvironmentInfo(one)).toMatchObject({ parallelToolCalls: false })
    expect(toEnvironmentInfo(define({}))).not.toHaveProperty('parallelToolCalls')
  })

  it('says which tool an answer without a call is, and with which argument', async () => {
    const saying = (speech: 'press', input: z.ZodType) => () => define({ input, speech })
    const { toolInfos } = define({ input: z.object({ text: z.string().max(9) }), speech: 'press' })
    expect(toolInfos).toMatchObject([{ name: 'press', speech: 'text' }])
    expect(define({}).toolInfos[0]).not.toHaveProperty('speech')
    for (const input of [
      z.object({}),
      z.object({ text: z.string().optional() }),
      z.object({ text: z.int() }),
      z.object({ text: z.string(), to: z.string() }),
    ])
      expect(errorOf(saying('press', input)).message).toMatch(/`speech` is press, and has to be one of its tools/)
    expect(errorOf(saying('say' as 'press', z.object({}))).message).toMatch(/`speech` is say, and has to be/)
  })

  it('names sessions after the world unless `handle` says otherwise', () => {
    expect(define({ name: 'two-lamps' }).handle).toBe('two_lamps')
    expect(numberGuessing.handle).toBeNull()
    const { code, message } = errorOf(() => define({ toolName: 'create_lamp' }))
    expect([code, message]).toEqual(['definition-invalid', expect.stringContaining('choose another `handle`')])
  })

  it.each(['observation', 'episode_over'])('refuses an output with the field %s, which the server adds', (field) => {
    const { code, message } = errorOf(() => define({ output: z.object({ [field]: z.string() }) }))
    expect([code, message]).toEqual(['definition-invalid', expect.stringContaining(`declares ${field}`)])
  })

  it('returns something that cannot be changed', () => {
    expect(() => Object.assign(numberGuessing, { version: '9.9.9' })).toThrow(TypeError)
  })

  it.each(['', 'Lamp', 'two words', '1lamp', 'lamp-', 'lamp--post', 'lampe_torche', '../lamp', 'lämp'])(
    'refuses the name %j',
    (name) => {
      const { code, message } = errorOf(() => define({ name }))
      expect(code).toBe('definition-invalid')
      expect(message).toContain(`its name is "${name}"`)
    },
  )

  it.each(['', '1', '1.0', 'v1.0.0', '1.0.0 ', 'latest'])('refuses the version %j', (version) => {
    const { code, message } = errorOf(() => define({ version }))
    expect(code).toBe('definition-invalid')
    expect(message).toContain(`its version is "${version}"`)
  })

  it('refuses a world without tools', () => {
    const { code, message } = errorOf(() => define({ toolName: null }))
    expect(code).toBe('definition-invalid')
    expect(message).toContain('it has no tools')
  })

  it.each(['press it', '', 'a'.repeat(129), 'drücken', 'press/it'])('refuses the tool name %j', (toolName) => {
    expect(errorOf(() => define({ toolName })).message).toContain(`its tool "${toolName}"`)
  })

  it.each([
    ['a string', z.string()],
    ['a list', z.array(z.string())],
    ['one of two objects', z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
  ])('refuses %s as the input of a tool, which takes named arguments', (_, input) => {
    expect(errorOf(() => define({ input })).message).toContain('the input of press must be an object schema')
  })

  it('refuses an output that is no object, a public state in its place too', () => {
    expect(errorOf(() => define({ output: z.string() })).message).toContain('the output of press')
    expect(errorOf(() => define({ publicState: z.array(z.string()) })).message).toContain('the output of press')
  })

  it.each([
    ['at the top', z.looseObject({ on: z.boolean() }), 'lets through keys that it does not declare;'],
    ['that was made loose later', z.object({ on: z.boolean() }).loose(), 'does not declare;'],
    ['in a key', z.object({ on: z.boolean(), lamp: z.looseObject({}) }), '(properties.lamp)'],
    ['in a list', z.object({ on: z.boolean(), lamps: z.array(z.looseObject({})) }), '(properties.lamps.items)'],
    ['among choices', z.object({ on: z.union([z.boolean(), z.looseObject({})]) }), '(properties.on.anyOf.1)'],
    ['behind an optional', z.object({ on: z.boolean(), lamp: z.looseObject({}).optional() }), '(properties.lamp'],
    [
      'as a record of anything',
      z.object({ on: z.boolean(), all: z.record(z.string(), z.unknown()) }),
      '(properties.all',
    ],
    ['as a catch-all', z.object({ on: z.boolean() }).catchall(z.any()), 'does not declare;'],
  ])('refuses an object that lets any key through %s, as an output and as the public state', (_, schema, message) => {
    expect(errorOf(() => define({ output: schema })).message).toContain('its output of press lets through')
    expect(errorOf(() => define({ output: schema })).message).toContain(message)
    const { code, message: problem } = errorOf(() => define({ publicState: schema, output: z.object({}) }))
    expect([code, problem]).toEqual(['definition-invalid', expect.stringContaining('its public state lets through')])
  })

  it('takes closed objects, records and what only the private state and the input may have', () => {
    const closed = z.strictObject({ on: z.boolean(), units: z.record(z.string(), z.int()).default({}) })
    expect(define({ output: closed, publicState: closed }).name).toBe('lamp')
    const catchall = z.object({ on: z.boolean() }).catchall(z.int())
    expect(define({ output: catchall, input: z.looseObject({}), params: z.looseObject({}) }).name).toBe('lamp')
  })

  it.each([
    ['the input of press', 'when: date', { input: z.object({ when: z.date() }) }],
    ['the output of press', 'sizes.items: bigint', { output: z.object({ sizes: z.array(z.bigint()) }) }],
    ['the parameters of lamp', 'made: map', { params: z.object({ made: z.map(z.string(), z.string()) }) }],
    ['the public state, which press answers with', 'at: date', { publicState: z.object({ at: z.date() }) }],
  ])('refuses a type that JSON does not have in %s, and names its place and what to use', (part, found, parts) => {
    const error = errorOf(() => define(parts))
    expect(error.code).toBe('definition-invalid')
    expect(error.message).toContain(`The schema of ${part} has a type that JSON does not have, at ${found}. Keep a`)
    expect(error.cause).toBeInstanceOf(Error)
  })

  it.each([
    ['no description', { description: undefined }, 'it has no `description`'],
    ['no start', { start: undefined }, 'its `start` is missing, and has to be a function'],
    ['no observe', { observe: undefined }, 'its `observe` is missing, and has to be a function'],
    ['tools that are no function', { tools: {} }, 'its `tools` is of type object, and has to be a function'],
    ['no private state', { state: { public: z.object({}) } }, 'its `state.private` is missing'],
    ['no state', { state: undefined }, 'its `state.public` is missing'],
    ['no rewards', { rewards: undefined }, 'it has no `rewards`'],
    ['a reward that is no function', { rewards: { won: 1 } }, 'its reward term "won" is of type number'],
    ['a success that is no function', { success: true }, 'its `success` is of type boolean'],
    [
      'a schema of zod 3',
      { params: { _def: { typeName: 'ZodObject' } } },
      'its `params` is a schema of zod 3; install zod 4',
    ],
    [
      'a tool without a description',
      { tools: ({ tool }: never) => ({ press: toolWith(tool, { description: undefined }) }) },
      'its tool press has no `description`',
    ],
    [
      'a tool without an input',
      { tools: ({ tool }: never) => ({ press: toolWith(tool, { input: undefined }) }) },
      'its `input` of press is missing',
    ],
    [
      'a tool without play',
      { tools: ({ tool }: never) => ({ press: toolWith(tool, { play: undefined }) }) },
      'the `play` of its tool press is missing',
    ],
  ])('refuses %s, which the compiler would find', (_, parts, message) => {
    const error = errorOf(() => defineEnvironment({ ...WHOLE, ...parts } as never))
    expect([error.code, error.message]).toEqual(['definition-invalid', expect.stringContaining(message)])
  })

  it.each([
    ['an event without a name', { events: { 'a b': {} } }, /its event "a b" needs a name of letters/],
    ['an event of no object', { events: { rain: { data: z.string() } } }, /the data of rain must be an object schema/],
    ['what is prepared without a schema', { tool: { prepare: (): number => 1 } }, /has prepare alone/],
    ['a schema that nothing is prepared for', { tool: { prepared: z.object({}) } }, /has prepared alone/],
    ['data that follows and is none', { tool: { dataFollows: true } }, /has dataFollows and no output/],
    ['an effect without what has it', { tool: { effect: 'external' } }, /has effect alone/],
    ['no time to prepare', { tool: { ...PREPARING, prepareSeconds: 0 } }, /prepareSeconds is 0, and has to be above 0/],
    [
      'no end of it',
      { tool: { ...PREPARING, prepareSeconds: Infinity } },
      /prepareSeconds is Infinity, and .* at most 86400/,
    ],
    [
      'what is prepared changed by its schema',
      { tool: { ...PREPARING, prepared: z.string().transform(Number) } },
      /The schema of what press prepares has a type that JSON does not have/,
    ],
  ] as const)('refuses %s', (_, { events = {}, tool: given = {} }: Outside, message) => {
    const error = errorOf(() =>
      defineEnvironment({
        ...LAMP,
        events: ({ event }) =>
          Object.fromEntries(
            Object.entries(events).map(([type, { data = z.object({}) }]) => [
              type,
              event({ description: 'It rains.', data, apply() {} }),
            ]),
          ),
        tools: ({ tool }) => ({
          press: tool({ description: 'Press it.', input: z.object({}), play: ({ say }) => say('Click.'), ...given }),
        }),
      }),
    )
    expect(error).toMatchObject({ code: 'definition-invalid', message: expect.stringMatching(message) })
  })
})

interface Outside {
  readonly events?: { readonly [type: string]: { readonly data?: z.ZodType } }
  readonly tool?: object
}

describe('a function of the rules that is async', () => {
  it.each([
    ['start', '`start` of lamp', { start: async () => ({ public: {}, private: {} }) }],
    ['observe', '`observe` of lamp', { observe: async () => 'A lamp.' }],
    ['a reward term', 'Reward term "lit" of lamp', { rewards: { lit: async () => 1 } }],
    ['potential', '`potential` of lamp', { potential: async () => 1 }],
    [
      'a tool',
      'Tool press of lamp',
      { tools: ({ tool }: never) => ({ press: toolWith(tool, { play: async () => {} }) }) },
    ],
  ])('is named: %s', (_, what, parts) => {
    const lamp = defineEnvironment({ ...WHOLE, ...parts } as never)
    const error = errorOf(() => rehearse(lamp).play('press', {}))
    expect(error.code).toBe('rules-failed')
    expect(error.message).toContain(`${what} returned a promise, and rules are synchronous.`)
  })

  it('returns a text from `observe`, and nothing else', () => {
    const lamp = defineEnvironment({ ...WHOLE, observe: () => undefined } as never)
    expect(errorOf(() => rehearse(lamp)).message).toBe(
      '`observe` of lamp returned undefined, and has to return a text.',
    )
  })
})

const WHOLE = { ...LAMP, tools: ({ tool }: never) => ({ press: toolWith(tool, {}) }) }

function toolWith(tool: (written: object) => unknown, parts: object): unknown {
  const play = ({ say }: { say: (text: string) => unknown }) => say('Click.')
  return tool({ description: 'Press.', input: z.object({}), play, ...parts })
}
