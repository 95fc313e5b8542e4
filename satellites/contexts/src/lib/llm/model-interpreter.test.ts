import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineContext, defineConversation } from '../../index.ts'
import { createRulesInterpreter } from '../../interpret.ts'
import { type Asked, json, openModel, says } from '../fixtures/model.fixture.ts'
import { earlier, MONDAY, requestOf } from '../fixtures/request.fixture.ts'
import type { IntentInfo, InterpretRequest } from '../model/interpreter.ts'
import { createModelInterpreter, type ModelInterpreterOptions } from './model-interpreter.ts'

const fallback = createRulesInterpreter({ greet: { phrases: ['hello'] } })
const BY_RULES = { candidates: [{ intent: 'greet', score: 1, slots: {} }] }

const intents: readonly IntentInfo[] = [
  { name: 'greet', description: 'Says hello.', slots: { type: 'object', properties: {} }, contexts: ['talk'] },
  {
    name: 'ask-weather',
    description: 'Asks for the weather.',
    slots: { type: 'object', properties: { city: { type: 'string', enum: ['DXB', 'DOH'] } }, required: ['city'] },
    contexts: ['weather'],
  },
]

async function interpret(
  baseUrl: string,
  { request = {}, ...options }: Partial<ModelInterpreterOptions> & { request?: Partial<InterpretRequest> } = {},
) {
  const failures: unknown[] = []
  const interpreter = createModelInterpreter({
    model: 'small',
    fallback,
    baseUrl,
    apiKey: 'any',
    onFailure: (error) => failures.push(error),
    ...options,
  })
  const interpretation = await interpreter.interpret(requestOf('hello', { intents, ...request }))
  return { interpretation, failures }
}

describe('createModelInterpreter', () => {
  it('sends the model the text, the intents and the history', async () => {
    await using model = await openModel(says({ candidates: [] }))
    const open = [{ id: 1, context: 'weather', state: 'asking', data: { city: null } }]
    const history = [earlier('ask-weather', { city: 'DOH' })]
    await interpret(model.baseUrl, { request: { open, active: open[0] ?? null, history, accepted: ['greet'] } })
    const [{ path, headers, body } = {} as Asked] = model.asked
    expect([path, headers.authorization]).toEqual(['/v1/chat/completions', 'Bearer any'])
    expect(body).toMatchObject({ model: 'small', response_format: { type: 'json_schema' } })
    const [system, user] = body.messages as { role: string; content: string }[]
    expect([system?.role, user?.role]).toEqual(['system', 'user'])
    expect(JSON.parse(user?.content as string)).toMatchObject({
      said: 'hello',
      now: '2026-01-05T21:00:00.000Z',
      accepted: ['greet'],
      intents: [{ name: 'greet' }, { name: 'ask-weather', description: 'Asks for the weather.' }],
      open: [{ context: 'weather', state: 'asking' }],
      history: [{ intent: 'ask-weather', slots: { city: 'DOH' } }],
    })
    expect(JSON.stringify(body.response_format)).toContain('"const":"ask-weather"')
  })

  it.each<[string, (response: ServerResponse) => void, string]>([
    ['text that is no JSON', says('The user says hello.'), 'JSON'],
    ['an intent that there is not', says({ candidates: [{ intent: 'fly', score: 1, slots: {} }] }), 'candidates'],
    ['a score out of range', says({ candidates: [{ intent: 'greet', score: 7, slots: {} }] }), 'candidates'],
    [
      'slots that the schema refuses',
      says({ candidates: [{ intent: 'ask-weather', score: 1, slots: { city: 'Atlantis' } }] }),
      'candidates',
    ],
    ['no choices', json(200, { choices: [] }), 'no text'],
    ['a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'), ''],
    [
      'half an answer',
      (response) => response.writeHead(200, { 'content-length': '900' }).write('{"choices"') && response.destroy(),
      '',
    ],
    ['a failure', json(500, { error: { message: 'out of memory' } }), '500'],
    ['that the key is wrong', json(401, { error: { message: 'no such key' } }), '401'],
    ['that it is asked too often', json(429, { error: { message: 'slow down' } }, { 'retry-after': '3600' }), '429'],
    ['far too much', says('x'.repeat(300_000)), 'longer than'],
  ])('falls back at once if the model answers with %s', async (_, answer, problem) => {
    await using model = await openModel(answer)
    const { interpretation, failures } = await interpret(model.baseUrl)
    expect(interpretation).toEqual(BY_RULES)
    expect(failures).toHaveLength(1)
    expect(causes(failures[0])).toContain(problem)
    expect(model.asked).toHaveLength(1)
  })

  it('keeps a conversation alive if it fails, and is not needed for a replay', async () => {
    const greeting = defineContext({
      name: 'greeting',
      description: 'our chat',
      data: z.object({}),
      intents: { greet: z.object({}) },
      initial: 'done',
      opens: { greet: { effect: ({ say }) => say('Hello to you.') } },
      states: { done: { final: true } },
    })
    await using model = await openModel(json(503, { error: { message: 'no capacity' } }))
    const interpreter = createModelInterpreter({ model: 'small', fallback, baseUrl: model.baseUrl, apiKey: 'any' })
    const conversation = defineConversation({ name: 'talk', contexts: [greeting], interpreter })
    const { record } = conversation.start()
    const interpreted = await conversation.interpret(record, 'hello', { now: MONDAY })
    expect(interpreted).toEqual({ ...BY_RULES, problem: null })
    const input = { kind: 'utterance', text: 'hello', interpreted, now: MONDAY } as const
    const result = conversation.handleInput(record, JSON.parse(JSON.stringify(input)))
    expect(result.replies.map(({ text }) => text)).toEqual(['Hello to you.'])
    expect(conversation.handleInput(record, input)).toEqual(result)
    expect(model.asked).toHaveLength(1)
  })
})

function causes(error: unknown): string {
  return error instanceof Error ? `${error.message} ${causes(error.cause)}` : ''
}
