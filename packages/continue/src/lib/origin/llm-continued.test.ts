import { connect, type Policy, runEpisode } from '@episodic/env'
import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import { type ChatRequest, saying, startChatServer } from '@episodic/models/chat-server.fixture'
import { DEFAULT_OPTIONS, type ModelSettings } from '@episodic/models/model-options'
import { createLlmPolicy } from '@episodic/models/policy/llm-policy'
import { sealEpisode } from '@episodic/play/play/record/seal-episode'
import { type EpisodeRecord, parseSealedRecord, requestsOf, type Task } from '@episodic/protocol'
import type { Origin } from '@episodic/protocol/internal'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { episodeOrigin, putAtStep } from './episode-origin.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const state = { public: z.object({ steps: z.int() }), private: z.object({}) }
const start = () => ({ public: { steps: 0 }, private: {} })

/** A house of rooms: doors appear and vanish, and a window shows a picture. */
const house = defineEnvironment({
  name: 'house',
  version: '1.0.0',
  description: 'Walk.',
  state,
  start,
  observe: ({ steps }) => `Step ${steps}.`,
  offers: ({ public: { steps } }) => ['look', steps % 4 < 2 ? 'left.door' : 'right.door', 'wait'],
  tools({ tool }) {
    const door = (description: string) =>
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
      'left.door': door('The left door.'),
      'right.door': door('The right door.'),
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

beforeEach(() => {
  for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY']) vi.stubEnv(name, 'a-key')
})
afterEach(() => void vi.unstubAllEnvs())

const TASK = { prompt: 'Find the way out.', hints: ['Doors change.'] }

/** A model that says these things, one after the other, on a server that keeps what it is sent. */
async function startModel(said: readonly Said[], settings: Partial<ModelSettings> = {}) {
  let before = 0
  const api = settings.api ?? 'chat'
  const server = await startChatServer((_, number) =>
    bodyOf(api, said[before + number] ?? { text: 'The end.' }, before + number),
  )
  return {
    /** A policy of a process that knows nothing. The model goes on behind its first answers. */
    policyAfter(answers: number, changed: Partial<ModelSettings> = {}): Policy {
      before = answers - server.requests.length
      const all = { ...DEFAULT_OPTIONS, baseUrl: server.url, ...settings, ...changed }
      return createLlmPolicy('llm:m', 'm', all)
    },
    get sent(): readonly ChatRequest[] {
      return server.requests
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

type World = typeof house | typeof desk

/** Plays an episode, or goes on with one, and returns its line as it is read from its file. */
async function play(
  environment: World,
  policy: Policy,
  goesOn: { parent: EpisodeRecord; origin: Origin } | null = null,
) {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const { parent, origin } = goesOn ?? {}
  const origins = new Map(parent && origin && [[origin.seal, parent]])
  const episode = await runEpisode({
    createEnvironment: () => connection.environment(),
    policy,
    task: TASK,
    seed: 'world',
    policySeed: 'player',
    origin:
      parent && origin
        ? episodeOrigin(
            origin,
            { parent, snapshot: putAtStep(environment, origin, { origins, limits: {} }).snapshot },
            origins,
          )
        : null,
  })
  expect(episode).toMatchObject({ kind: 'finished' })
  const { name, version } = environment
  const task = { ...TASK, id: 'a', environment: { name, version }, params: {}, seed: 'world', limits: {} }
  const more = { difficulty: 0, split: 'train', tags: [], metadata: {}, tools: [] }
  const record = sealEpisode(
    episode,
    { task: { ...task, ...more } as unknown as Task, attempt: 0, ...(origin && { origin }) },
    {
      run: 'r',
      policy: { name: policy.name, seed: 'player' },
      discount: 1,
      time: { started: 0, ended: 1 },
      speech: environment === desk ? 'say' : undefined,
    },
  )
  return parseSealedRecord(JSON.parse(JSON.stringify(record))).data as EpisodeRecord
}

function answersBefore({ steps }: EpisodeRecord, step: number): number {
  return steps.slice(0, step).reduce((sum, { completions = [] }) => sum + completions.length, 0)
}

const originAt = ({ seal }: EpisodeRecord, step: number, changed: Partial<Origin> = {}): Origin => ({
  ...{ seal: seal as string, step, seed: null },
  ...changed,
})

/** Returns where two lists of requests first differ, by their bytes. */
function difference(requests: readonly unknown[], others: readonly unknown[]) {
  const [one, other] = [requests, others].map((list) => list.map((each) => JSON.stringify(each)).join('\n')) as [
    string,
    string,
  ]
  if (one === other) return null
  let at = 0
  while (one[at] === other[at]) at += 1
  return [one, other].map((text) => text.slice(Math.max(0, at - 200), at + 200))
}

const left = (args = '{}') => ['left_door', args] as const
const right = (args = '{}') => ['right_door', args] as const

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

describe('a language model that goes on from a step of a line', () => {
  it.each(cases)('is sent what the parent sent, with %s', async (_, world, said, settings) => {
    await using model = await startModel(said, settings)
    const parent = await play(world, model.policyAfter(0))
    const whole = [...model.sent]
    expect(whole.length).toBeGreaterThan(3)
    for (const step of parent.steps.keys()) {
      const answers = answersBefore(parent, step)
      const first = model.sent.length
      const line = await play(world, model.policyAfter(answers), { parent, origin: originAt(parent, step) })
      expect(difference(model.sent.slice(first), whole.slice(answers)), `step ${step}`).toBeNull()
      expect(line.steps.map(({ action }) => action)).toEqual(parent.steps.slice(step).map(({ action }) => action))
      // Its own line has all that was sent, also what came before.
      expect(requestsOf(line)).toEqual(requestsOf(parent).slice(answers))
    }
  })
})
