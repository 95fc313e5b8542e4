import { connect, type Policy, runEpisode, runMatch, scriptedPolicy } from '@episodic/env'
import { createHost, defineEnvironment, defineGame, inProcess } from '@episodic/mcp-server'
import { declaredAction } from '@episodic/mcp-server/internal'
import { type ChatRequest, saying, startChatServer } from '@episodic/models/chat-server.fixture'
import { DEFAULT_OPTIONS, type ModelSettings } from '@episodic/models/model-options'
import { describedPolicy } from '@episodic/models/policy/described-policy'
import { createLlmPolicy } from '@episodic/models/policy/llm-policy'
import { type ToolFault, withToolFaults } from '@episodic/play/play/faults/with-tool-faults'
import { sealEpisode } from '@episodic/play/play/record/seal-episode'
import {
  type Action,
  type EpisodeRecord,
  isMatchRecord,
  parseSealedRecord,
  requestsOf,
  type SealedRecord,
  type Task,
} from '@episodic/protocol'
import type { Origin } from '@episodic/protocol/internal'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { createRecording } from '@episodic/run/folder/record/recording'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { Parent } from '../run/parent.ts'
import { openOrigins } from './open-origins.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const state = { public: z.object({ steps: z.int() }), private: z.object({}) }
const start = () => ({ public: { steps: 0 }, private: {} })

/** A house of rooms: halls appear and vanish, and a window shows a picture. */
const house = defineEnvironment({
  name: 'house',
  version: '1.0.0',
  description: 'Walk.',
  state,
  start,
  observe: ({ steps }) => `Step ${steps}.`,
  offers: ({ public: { steps } }) => ['look', steps % 4 < 2 ? 'left.hall' : 'right.hall', 'wait'],
  tools({ tool }) {
    const hall = (description: string) =>
      tool({
        description,
        input: z.object({ steps: z.int().optional() }),
        play({ state, end, say }) {
          state.public.steps += 1
          if (state.public.steps === 9) end('out')
          return say(`You go to room ${state.public.steps}.`)
        },
      })
    return {
      look: tool({
        description: 'Looks.',
        input: z.object({}),
        play({ state, attach, say }) {
          state.public.steps += 1
          attach(PIXEL, 'image/png', 'a view')
          return say('You see this.')
        },
      }),
      'left.hall': hall('The left hall.'),
      'right.hall': hall('The right hall.'),
      wait: tool({ description: 'Waits.', input: z.object({}), play: ({ say }) => say('Nothing happens.') }),
    }
  },
  rewards: { out: ({ end }) => (end?.reason === 'out' ? 1 : 0) },
})

/** A desk whose customer is answered by words. */
const desk = defineEnvironment({
  name: 'desk',
  version: '1.0.0',
  description: 'Help.',
  state,
  start,
  observe: ({ steps }) => (steps === 0 ? 'My phone is dead.' : ''),
  speech: 'say',
  tools: ({ tool }) => ({
    say: tool({
      description: 'Says something.',
      input: z.object({ text: z.string().min(1).max(1_000) }),
      play({ state, end, say }) {
        state.public.steps += 1
        if (state.public.steps === 5) end('stopped')
        return say(`Answer ${state.public.steps}.`)
      },
    }),
    look_up: tool({
      description: 'Looks a number up.',
      input: z.object({ number: z.int() }),
      play({ state, input, say }) {
        state.public.steps += 1
        return say(`${input.number} is known.`)
      },
    }),
  }),
  rewards: {},
})

/** Two who speak to each other; one of them looks numbers up. */
const call = defineGame({
  name: 'call',
  version: '1.0.0',
  description: 'An agent and a user speak.',
  seats: ['agent', 'user'],
  parallelToolCalls: true,
  greetings: { agent: 'Hi! How can I help you today?' },
  state: {
    public: z.object({ speaker: z.enum(['agent', 'user']) }),
    own: z.object({ shown: z.string() }),
    private: z.object({}),
  },
  start: () => ({
    public: { speaker: 'user' as const },
    own: { agent: { shown: '' }, user: { shown: 'Hi! How can I help you today?' } },
    private: {},
  }),
  turn: ({ speaker }) => speaker,
  observe: ({ own }) => own.shown,
  speech: 'say',
  tools: ({ tool }) => ({
    say: tool({
      description: 'Says something to the other one.',
      input: z.object({ text: z.string().max(1_000) }),
      play({ seat, state, input: { text }, reveal, end, say }) {
        const other = seat === 'agent' ? 'user' : 'agent'
        state.public.speaker = other
        state.own[seat].shown = ''
        state.own[other].shown = reveal(text)
        if (text.includes('STOP')) end('stopped')
        return say('')
      },
    }),
    look_up: tool({
      seats: ['agent'],
      description: 'Looks a number up.',
      input: z.object({ number: z.int() }),
      play({ state, input, say }) {
        state.own.agent.shown = ''
        return say(`${input.number} is known.`)
      },
    }),
  }),
  rewards: {},
})

/** What a model says: words, thoughts, and calls with what it writes as their arguments. */
interface Said {
  readonly text?: string
  readonly thought?: string
  readonly calls?: readonly (readonly [tool: string, args?: string])[]
  readonly finish?: string
}

type Api = 'chat' | 'anthropic' | 'google'

/** The body of the `number`-th answer, in the API of a provider, with fields that only its server knows. */
function bodyOf(api: Api, { text, thought, calls = [], finish }: Said, number: number): object {
  const inputOf = (args: string) => (args.endsWith('}') ? JSON.parse(args) : {})
  if (api === 'anthropic')
    return {
      id: `msg_${number}`,
      type: 'message',
      role: 'assistant',
      model: 'served',
      content: [
        ...(thought ? [{ type: 'thinking', thinking: thought, signature: `signed ${number}` }] : []),
        ...(text ? [{ type: 'text', text }] : []),
        ...calls.map(([name, args = '{}'], i) => ({ type: 'tool_use', id: `toolu_${i}`, name, input: inputOf(args) })),
      ],
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    }
  if (api === 'google')
    return {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              ...(thought ? [{ text: thought, thought: true, thoughtSignature: `signed ${number}` }] : []),
              ...(text ? [{ text }] : []),
              ...calls.map(([name, args = '{}'], i) => ({
                functionCall: { id: `call_${i}`, name, args: inputOf(args) },
              })),
            ],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
    }
  const message = {
    role: 'assistant',
    content: text ?? null,
    ...(thought && { reasoning_content: thought, signature: `signed ${number}` }),
    ...(calls.length > 0 && {
      // One conversation after the other has the same ids.
      tool_calls: calls.map(([name, args = '{}'], i) => ({
        id: `call_${i}`,
        type: 'function',
        function: { name, arguments: args },
        extra: { signature: `${number}/${i}` },
      })),
    }),
  }
  const tokens = { token_ids: [number], logprobs: { content: [{ token: 'x', logprob: -1 }] } }
  return saying(message, finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'), {
    choice: { ...tokens, ...(finish && { malformed: 'a bracket is missing' }) },
    ...{ prompt_token_ids: [100 + number] },
  })
}

const KEYS = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY']
beforeEach(() => {
  for (const name of KEYS) vi.stubEnv(name, 'a-key')
})
afterEach(() => void vi.unstubAllEnvs())

type Scripts = Readonly<Record<string, readonly Said[]>>

/** Models that say these things, one after the other, on a server that keeps what they are sent. */
async function startModels(scripts: Scripts, settings: Partial<ModelSettings> = {}) {
  const api = settings.api ?? 'chat'
  const asked = new Map<string, number>()
  const server = await startChatServer(({ model }) => {
    // The address of Google has the name.
    const name = model in scripts ? model : (Object.keys(scripts)[0] as string)
    const number = asked.get(name) ?? 0
    asked.set(name, number + 1)
    return bodyOf(api, scripts[name]?.[number] ?? { text: 'STOP' }, number)
  })
  return {
    /** A policy of a process that knows nothing. */
    policyOf: (name: string, changed: Partial<ModelSettings> = {}): Policy =>
      createLlmPolicy(`llm:${name}`, name, { ...DEFAULT_OPTIONS, baseUrl: server.url, ...settings, ...changed }),
    /** Lets each model go on behind its first answers. */
    goOnAfter(answers: Readonly<Record<string, number>>): void {
      for (const name of Object.keys(scripts)) asked.set(name, answers[name] ?? 0)
    },
    get sent(): readonly ChatRequest[] {
      return [...server.requests]
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

type World = typeof house | typeof desk | typeof call

interface GoesOn {
  readonly lines: readonly SealedRecord[]
  readonly origin: Origin
  readonly task?: Partial<Task>
}

/** Plays an episode, or goes on with one, and returns its line as it is read from its file. */
async function play(
  environment: World,
  policies: Readonly<Record<string, Policy>>,
  { lines, origin, task: changed }: Partial<GoesOn> = {},
  keep: 'full' | 'none' = 'full',
): Promise<SealedRecord> {
  const { name, version } = environment
  const task = {
    ...{ id: 'a', prompt: 'Find the way out.', hints: ['Halls change.'], environment: { name, version }, params: {} },
    ...{ seed: 'world', limits: {}, difficulty: 0, split: 'train', tags: [], metadata: {}, tools: [], ...changed },
  } as const as Task
  const parent = {
    world: { environment } as unknown as Parent['world'],
    origins: new Map(lines?.map((record) => [record.seal as string, { record, task }])),
  }
  const planned = { task, attempt: 0, ...(origin && { origin }) }
  const from = openOrigins(parent, [])(planned)
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const options = { task, seed: 'world', policySeed: 'player' }
  const sealing = {
    ...{ run: 'r', discount: 1, time: { started: 0, ended: 1 }, recording: createRecording(keep) },
    speech: environment === house ? undefined : 'say',
    accept: (action: Action) => declaredAction(environment, action),
  }
  let record: SealedRecord
  if (environment === call) {
    const match = await runMatch({
      ...options,
      createGame: () => connection.game(),
      policies,
      origin: from as Parameters<typeof runMatch>[0]['origin'],
    })
    expect(match).toMatchObject({ kind: 'finished' })
    const by = Object.fromEntries(Object.entries(policies).map(([seat, { name }]) => [seat, { name, seed: '' }]))
    record = sealEpisode(match, planned, { ...sealing, policies: by, weights: {} })
  } else {
    const policy = policies.m as Policy
    const episode = await runEpisode({
      ...options,
      createEnvironment: () => connection.environment(),
      policy,
      origin: from as Parameters<typeof runEpisode>[0]['origin'],
    })
    expect(episode).toMatchObject({ kind: 'finished' })
    record = sealEpisode(episode, planned, { ...sealing, policy: { name: policy.name, seed: '' } })
  }
  return parseSealedRecord(JSON.parse(JSON.stringify(record))).data as SealedRecord
}

/** How many answers each model gave for the first steps. */
function answersBefore({ steps }: SealedRecord, step: number): Record<string, number> {
  const answers: Record<string, number> = {}
  for (const { completions = [], ...rest } of steps.slice(0, step)) {
    const name = 'seat' in rest ? rest.seat : 'm'
    answers[name] = (answers[name] ?? 0) + completions.length
  }
  return answers
}

const originAt = ({ seal }: SealedRecord, step: number, changed: Partial<Origin> = {}): Origin => ({
  ...{ seal: seal as string, step, seed: null },
  ...changed,
})

/** Returns where two lists of requests first differ, by their bytes. */
function difference(requests: readonly unknown[], others: readonly unknown[]) {
  const textOf = (list: readonly unknown[]) => list.map((each) => JSON.stringify(each)).join('\n')
  const [one, other] = [textOf(requests), textOf(others)]
  if (one === other) return null
  let at = 0
  while (one[at] === other[at]) at += 1
  return [one, other].map((text) => text.slice(Math.max(0, at - 200), at + 200))
}

const left = (args = '{}') => ['left_hall', args] as const
const right = (args = '{}') => ['right_hall', args] as const

const WALK: readonly Said[] = [
  { calls: [left()] },
  { text: 'I look around.', thought: 'A view would help.', calls: [['look']] },
  { calls: [right(), right()] },
  { thought: 'Both at once.', calls: [['look'], left(), left('{"more":1}')] },
  { text: ' ', calls: [right()] },
  { calls: [right()] },
  { calls: [left()] },
]

const MISTAKES: readonly Said[] = [
  { text: 'Where am I?', thought: 'Hm.' },
  { calls: [left('{"steps":')] },
  { calls: [left(), left('[1]'), left('')] },
  {},
  { text: '<call', finish: 'malformed_function_call' },
  { calls: [['fly', '{"high":true}'], right()] },
  { text: 'Right again.', calls: [right('{"steps":2}')] },
  { thought: 'Silent.', finish: 'malformed_function_call' },
  { calls: [left(), left(), right(), right(), left()] },
]

const TALK: readonly Said[] = [
  { text: 'Which number?', thought: 'I have to ask.' },
  {
    text: 'I look it up.',
    calls: [
      ['look_up', '{"number":1}'],
      ['look_up', '{"number":2}'],
    ],
  },
  {},
  { text: 'It is known.' },
  { text: 'Goodbye.' },
]

const cases: readonly (readonly [string, World, readonly Said[], Partial<ModelSettings>])[] = [
  ['one call and several, a picture, and tools that come and go', house, WALK, {}],
  ['tokens that are handed back', house, WALK, { tokenIds: true }],
  ['mistakes of all kinds', house, MISTAKES, {}],
  ['one call of an answer alone', house, [...WALK, ...WALK], { parallelToolCalls: false, systemPrompt: 'Be quick.' }],
  ['no pictures', house, WALK, { images: false }],
  ['words that are a move', desk, TALK, {}],
  ['the API of Anthropic', house, WALK, { api: 'anthropic' }],
  ['the API of Anthropic, with mistakes', house, MISTAKES.filter(({ finish }) => !finish), { api: 'anthropic' }],
  ['the API of Google', house, WALK.map(dotted), { api: 'google' }],
  ['words by the API of Google', desk, TALK.filter(({ text }) => text), { api: 'google' }],
]

/** Google takes dots in names. */
function dotted({ calls = [], ...said }: Said): Said {
  return { ...said, calls: calls.map(([name, args = '{}']) => [name.replace('_', '.'), args] as const) }
}

const CALL = {
  user: [{ text: 'My data is off.', thought: 'Politely.' }, { text: 'Both, please.' }, {}, { text: 'Yes! STOP' }],
  agent: [
    { text: 'Which one?' },
    {
      text: 'I look them up.',
      calls: [
        ['look_up', '{"number":1}'],
        ['look_up', '{"number":2}'],
      ],
    },
    { calls: [['look_up', '{"number":']] },
    { text: 'They are known.' },
    { text: 'Does it work?' },
  ],
} as const

describe('a language model that goes on from a step of a line', () => {
  const ofOne = cases.map(([name, world, said, settings]) => [name, world, { m: said }, settings] as const)

  /** Plays an episode, goes on from some of its steps, and compares all that the models are sent. */
  async function compare(
    world: World,
    scripts: Scripts,
    settings: Partial<ModelSettings>,
    choose: (steps: number) => Iterable<number>,
  ): Promise<void> {
    await using models = await startModels(scripts, settings)
    const names = Object.keys(scripts)
    const policies = () => Object.fromEntries(names.map((name) => [name, models.policyOf(name)]))
    const parent = await play(world, policies())
    const whole = models.sent
    const of = (name: string, requests: readonly ChatRequest[]) =>
      names.length > 1 ? requests.filter(({ model }) => model === name) : requests
    for (const step of choose(parent.steps.length)) {
      const answers = answersBefore(parent, step)
      models.goOnAfter(answers)
      const first = models.sent.length
      const line = await play(world, policies(), { lines: [parent], origin: originAt(parent, step) })
      expect(line.steps.map(({ action }) => action)).toEqual(parent.steps.slice(step).map(({ action }) => action))
      for (const name of names) {
        const rest = of(name, whole).slice(answers[name])
        expect(difference(of(name, models.sent.slice(first)), rest), `step ${step}`).toBeNull()
        // Its own line has all that was sent, also what came before.
        const [own, others] = [line, parent].map((record) =>
          requestsOf(isMatchRecord(record) ? seatRecordOf(record, name) : (record as EpisodeRecord)),
        )
        expect(own).toEqual(others?.slice(answers[name]))
      }
    }
  }

  it.each([...ofOne, ['a seat of several', call, CALL, {}] as const])(
    'is sent what its player would be sent, with %s',
    async (_, world, scripts, settings) => {
      await compare(world, scripts, settings, (steps) => {
        expect(steps).toBeGreaterThan(3)
        return Array(steps).keys()
      })
    },
  )

  it('is sent what its player would be sent, whatever was said', async () => {
    const anyText = fc.constantFrom(undefined, '', ' ', 'Hm.')
    const anyCall = fc.tuple(
      fc.constantFrom('left_hall', 'right_hall', 'look', 'wait', 'look_up', 'fly.away'),
      fc.constantFrom('{}', '{"steps":1}', '{"number":1}', '{"more":{"x":1}}', '', '[1]', '{"steps":'),
    )
    const anySaid = fc.record({
      text: anyText,
      thought: anyText,
      calls: fc.array(anyCall, { maxLength: 4 }),
      finish: fc.constantFrom(undefined, undefined, 'length', 'malformed_function_call'),
    })
    const anySettings = fc.record({
      api: fc.constantFrom('chat', 'anthropic', 'google'),
      ...{ tokenIds: fc.boolean(), parallelToolCalls: fc.boolean(), images: fc.boolean() },
    })
    const anyScript = fc.array(anySaid as fc.Arbitrary<Said>, { minLength: 8, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(house, desk),
        anyScript,
        anySettings,
        fc.nat(),
        async (world, m, settings, at) => {
          await compare(world, { m }, settings, (steps) => (steps === 0 ? [] : [at % steps]))
        },
      ),
      { numRuns: 20 },
    )
  })

  it('is sent the same from a step of a continuation', async () => {
    await using models = await startModels({ m: WALK }, { tokenIds: true })
    const parent = await play(house, { m: models.policyOf('m') })
    const whole = models.sent
    models.goOnAfter(answersBefore(parent, 3))
    const child = await play(house, { m: models.policyOf('m') }, { lines: [parent], origin: originAt(parent, 3) })
    for (const step of child.steps.keys()) {
      const answers = answersBefore(parent, 3 + step)
      models.goOnAfter(answers)
      const first = models.sent.length
      const goesOn = { lines: [parent, child], origin: originAt(child, 3 + step) }
      await play(house, { m: models.policyOf('m') }, goesOn)
      expect(difference(models.sent.slice(first), whole.slice(answers.m)), `step ${step}`).toBeNull()
    }
  })

  it('is sent what its player would be sent, where calls of tools have failed', async () => {
    for (const [world, said] of [[house, WALK] as const, [house, MISTAKES] as const, [desk, TALK] as const])
      for (const seed of ['a', 'b', 'c']) {
        await using models = await startModels({ m: said }, { tokenIds: true })
        const faults: ToolFault[] = []
        const rates = { error: 0.25, stale: 0.4 }
        const onFault = (fault: ToolFault) => void faults.push(fault)
        const faulty = withToolFaults(models.policyOf('m'), { rates, seed, onFault, wait: async () => {} })
        const parent = { ...(await play(world, { m: faulty })), faults }
        const whole = models.sent
        for (const step of parent.steps.keys()) {
          const answers = answersBefore(parent, step)
          // A further call of an answer asks nothing.
          const isFurther = faults.some((fault) => fault.call && fault.step === step && !fault.answers)
          if (isFurther || !parent.steps[step]?.completions) continue
          models.goOnAfter(answers)
          const first = models.sent.length
          await play(world, { m: models.policyOf('m') }, { lines: [parent], origin: originAt(parent, step) })
          expect(models.sent[first], `${seed}, step ${step}`).toEqual(whole[answers.m ?? 0])
        }
      }
  })

  it('is sent what was changed, and all else as before', async () => {
    await using models = await startModels({ m: WALK }, { tokenIds: true })
    const parent = await play(house, { m: models.policyOf('m') })
    const answers = answersBefore(parent, 8)
    const before = models.sent[answers.m as number] as ChatRequest
    const text = JSON.stringify(before)
    expect(text).toContain('"prompt_token_ids"')
    const askedWith = async (
      changed: Partial<ModelSettings>,
      describe: Record<string, string>,
      task: Partial<Task>,
    ) => {
      models.goOnAfter(answers)
      const first = models.sent.length
      const policy = describedPolicy(models.policyOf('m', changed), describe)
      await play(house, { m: policy }, { lines: [parent], origin: originAt(parent, 8), task })
      return JSON.stringify(models.sent[first])
    }
    expect(await askedWith({}, {}, {})).toBe(text)
    // Tokens are of the words that were read, and no part of a prompt with others.
    const plain = text.replace(/"prompt_token_ids".*?"generation_log_probs":\[[^\]]*\],/, '')
    const instructions = JSON.stringify(before.messages[0]?.content)
    expect(await askedWith({ systemPrompt: 'Be quick.' }, {}, {})).toBe(plain.replace(instructions, '"Be quick."'))
    const described = plain.replace('"The right hall."', '"A hall."')
    expect(await askedWith({}, { 'right.hall': 'A hall.', none: 'None.' }, {})).toBe(described)
    expect(await askedWith({}, {}, { prompt: 'Wait.' })).toBe(plain.replace('Find the way out.', 'Wait.'))
    expect(await askedWith({ temperature: 1 }, {}, {})).toBe(text.replace(/("seed":\d+)/, '$1,"temperature":1'))
  })

  it('is shown a call in the place of its own, under its id, and plays the calls that are left', async () => {
    await using models = await startModels({ m: WALK }, { tokenIds: true })
    const parent = await play(house, { m: models.policyOf('m') })
    const answers = answersBefore(parent, 5)
    models.goOnAfter(answers)
    const first = models.sent.length
    const origin = originAt(parent, 5, { call: { tool: 'wait', arguments: {} }, answer: 'Fog.' })
    const line = await play(house, { m: models.policyOf('m') }, { lines: [parent], origin })
    expect(line.steps.slice(0, 2).map(({ action }) => action)).toEqual([
      { tool: 'wait', arguments: {} },
      { tool: 'left.hall', arguments: {} },
    ])
    const messages = models.sent[first]?.messages.slice(-5) ?? []
    expect(messages).toMatchObject([
      {
        reasoning_content: 'Both at once.',
        tool_calls: [{ function: { name: 'look' } }, { id: 'call_1', function: { name: 'wait' } }, { id: 'call_2' }],
      },
      { tool_call_id: 'call_0', content: 'Fog.' },
      { tool_call_id: 'call_1', content: expect.stringContaining('Nothing happens.') },
      { tool_call_id: 'call_2' },
      { role: 'user' },
    ])
    expect(messages[0]).not.toHaveProperty('prompt_token_ids')
  })

  it('goes on with calls of its own making where a line has no texts, or another player has chosen', async () => {
    await using models = await startModels({ m: WALK })
    const actions = ['left.hall', 'look', 'right.hall'].map((tool) => ({ tool, arguments: {} }))
    const rest = Array.from({ length: 9 }, () => ({ tool: 'wait', arguments: {} }))
    const scripted = scriptedPolicy([
      ...actions,
      ...rest.slice(0, 2),
      { tool: 'right.hall', arguments: {} },
      ...actions,
    ])
    const texts = await play(house, { m: models.policyOf('m') }, {}, 'none')
    const others = await play(house, { m: { ...scripted, name: 'script' } }, {}).catch(() => null)
    for (const parent of [texts, others]) {
      if (!parent) continue
      models.goOnAfter({ m: 2 })
      const first = models.sent.length
      await play(house, { m: models.policyOf('m') }, { lines: [parent], origin: originAt(parent, 2) })
      expect(models.sent[first]?.messages.slice(2, 6)).toMatchObject([
        { role: 'assistant', tool_calls: [{ id: 'call00000', function: { name: 'left_hall' } }] },
        { role: 'tool', content: expect.stringContaining('room 1') },
        { role: 'assistant', tool_calls: [{ id: 'call00001', function: { name: 'look' } }] },
        { role: 'tool', content: expect.stringContaining('You see this.') },
      ])
    }
  })

  it('has spent what its player had spent', async () => {
    await using models = await startModels({ m: WALK })
    const parent = await play(house, { m: models.policyOf('m') })
    const first = models.sent.length
    // Two answers of 1,010 tokens each.
    const policy = models.policyOf('m', { tokenBudget: 2_020 })
    const line = await play(house, { m: policy }, { lines: [parent], origin: originAt(parent, 2) })
    expect(line.outcome).toMatchObject({ end: { reason: 'budget-spent' } })
    expect(models.sent).toHaveLength(first)
  })
})
