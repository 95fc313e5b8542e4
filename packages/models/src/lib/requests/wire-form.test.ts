import { connect, runEpisode } from '@episodic/env'
import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import type { JsonObject, ToolInfo } from '@episodic/protocol'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type ChatRequest, type ChatServer, calling, startChatServer } from '../chat-server.fixture.ts'
import { DEFAULT_OPTIONS } from '../model-options.ts'
import { createLlmPolicy } from '../policy/llm-policy.ts'
import { wireFormOf } from './wire-form.ts'

const tool = (name: string, inputSchema: JsonObject = {}) =>
  ({ name, description: '', inputSchema }) as unknown as ToolInfo
const parametersOf = (schema: JsonObject) => wireFormOf([tool('a', schema)], 'chat').functions[0]!.function.parameters

describe('wireFormOf', () => {
  const anyName = fc.stringMatching(/^[\w.-]{1,128}$/)
  const FORMS = {
    chat: /^[a-zA-Z0-9_-]{1,64}$/,
    anthropic: /^[a-zA-Z0-9_-]{1,128}$/,
    google: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  }
  it.each(Object.entries(FORMS))(
    'gives each tool a name of its own that the API takes, and finds it: %s',
    (api, form) => {
      fc.assert(
        fc.property(fc.uniqueArray(anyName, { maxLength: 12 }), (names) => {
          const { functions, wireOf, nameOf } = wireFormOf(
            names.map((name) => tool(name)),
            api as keyof typeof FORMS,
          )
          const wire = functions.map(({ function: { name } }) => String(name))
          expect(wire).toEqual(names.map(wireOf))
          expect(new Set(wire).size).toBe(names.length)
          for (const name of wire) expect(name).toMatch(form)
          expect(wire.map(nameOf)).toEqual(names)
          // What is right already, and what is on the wire already, stays.
          for (const name of names) if (form.test(name)) expect(wireOf(name)).toBe(name)
          expect(wire.map(wireOf)).toEqual(wire)
        }),
      )
    },
  )

  it('leaves the name of a tool that a model invented', () => {
    const { nameOf } = wireFormOf([tool('api.v1.echo')], 'chat')
    expect(['api_v1_echo', 'functions.api_v1_echo', 'api.v1.echo', 'echo'].map(nameOf)).toEqual([
      'api.v1.echo',
      'functions.api_v1_echo',
      'api.v1.echo',
      'echo',
    ])
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['no schema', {}, { type: 'object', properties: {} }],
    ['no properties', { type: 'object', required: [] }, { type: 'object', required: [], properties: {} }],
    ['a version', { $schema: 'http://json-schema.org/draft-07/schema#' }, { type: 'object', properties: {} }],
    [
      'members of any kind',
      { properties: { any: true, list: { type: 'array' }, same: { type: 'array', items: true }, none: false } },
      {
        type: 'object',
        properties: { any: {}, list: { type: 'array', items: {} }, same: { type: 'array', items: {} }, none: false },
      },
    ],
    [
      'such within others',
      { $defs: { A: { type: 'object' } }, anyOf: [{ type: ['array', 'null'] }], additionalProperties: true },
      {
        type: 'object',
        $defs: { A: { type: 'object', properties: {} } },
        anyOf: [{ type: ['array', 'null'], items: {} }],
        additionalProperties: true,
        properties: {},
      },
    ],
    [
      'values that look like schemas',
      { properties: { type: { const: { type: 'object' } }, items: { enum: [true], default: { type: 'array' } } } },
      {
        type: 'object',
        properties: { type: { const: { type: 'object' } }, items: { enum: [true], default: { type: 'array' } } },
      },
    ],
  ])('writes the same schema in the form of providers: %s', (_, schema, wire) => {
    expect(parametersOf(schema)).toEqual(wire)
  })
})

describe('a world whose tools MCP allows, and providers refuse', () => {
  const world = defineEnvironment({
    name: 'dots',
    version: '1.0.0',
    description: 'Dots.',
    state: { public: z.object({}), private: z.object({}) },
    start: () => ({ public: {}, private: {} }),
    observe: () => 'Go.',
    tools: ({ tool }) => ({
      'api.v1.echo': tool({
        description: 'Echo.',
        input: z.object({ text: z.union([z.string(), z.int()]).optional() }),
        play: ({ say }) => say('Once more.'),
      }),
      ['long'.repeat(20)]: tool({
        description: 'End.',
        input: z.object({}),
        play({ end, say }) {
          end('over')
          return say('')
        },
      }),
    }),
    rewards: { none: () => 0 },
  })

  let server: ChatServer | null = null
  afterEach(() => server?.[Symbol.asyncDispose]())
  vi.stubEnv('OPENAI_API_KEY', 'k')

  async function play(refuse: (request: ChatRequest) => string | null, environment = world) {
    server = await startChatServer((request, _, response) => {
      const problem = refuse(request)
      const asked = request.messages.some(({ role }) => role === 'tool') ? 1 : 0
      if (!problem) return calling(request.tools[asked]!.function.name, {})
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: problem } }))
      return null
    })
    const policy = createLlmPolicy('llm:m', 'm', { ...DEFAULT_OPTIONS, baseUrl: server.url })
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    return await runEpisode({ createEnvironment: () => connection.environment(), policy, seed: 'world' })
  }
  it('is played by names on the wire, which are those of the world in actions and records', async () => {
    const episode = await play(({ tools, messages }) => {
      const names = [...tools, ...messages.flatMap((each) => (each as { tool_calls?: typeof tools }).tool_calls ?? [])]
      const bad = names.find(({ function: { name } }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      return bad ? `Invalid 'tools[0].function.name': '${bad.function.name}' does not match the pattern.` : null
    })
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'over' } })
    expect(episode.steps.map(({ action }) => action.tool)).toEqual(['api.v1.echo', 'long'.repeat(20)])
    expect(episode.steps.flatMap(({ completions }) => completions.flatMap(({ calls = [] }) => calls))).toMatchObject([
      { name: 'api.v1.echo', played: true },
      { name: 'long'.repeat(20), played: true },
    ])
    expect(JSON.stringify(server!.requests[1]!.messages)).toContain('"name":"api_v1_echo"')
  })

  it.each([
    [
      1_024,
      "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but",
    ],
    [512, "Value at 'toolConfig.tools.10.member.toolSpec.description' must have length less than or equal to 512"],
    [1_024, 'tools: description too long'],
  ])('is offered with descriptions of at most %i characters to a server that says so: %s', async (most, words) => {
    const toolInfos = world.toolInfos.map((info) => ({ ...info, description: 'd👍'.repeat(9_999) }))
    const isLong = (tool: object) => (tool as { function: { description: string } }).function.description.length > most
    const episode = await play(({ tools }) => (tools.some(isLong) ? words : null), { ...world, toolInfos })
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'over' } })
    expect(server!.requests).toHaveLength(episode.steps.length + 1)
    expect(episode.steps[1]?.completions[0]).toMatchObject({
      leftOut: [`descriptions of tools beyond ${most} characters`],
    })
  })

  it('is refused with what to do about its tools, if nothing helps', async () => {
    const episode = await play(() => "Invalid 'tools': array too long. Expected an array with maximum length 1.")
    expect(String((episode as { cause?: unknown }).cause)).toMatch(/tools: \{ only, hide, rename, describe \}/)
  })
})
