import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { runEpisode } from '@episodic/env'
import { nextGuess } from '@episodic/models/bisect.fixture'
import { DEFAULT_OPTIONS, type ModelSettings } from '@episodic/models/model-options'
import { createLlmPolicy } from '@episodic/models/policy/llm-policy'
import { placeAnswers, recordAnswers } from '@episodic/play/play/record/record-answers'
import { requestsOf } from '@episodic/protocol'
import { createRecording } from '@episodic/run/folder/record/recording'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { useGuessing } from './guessing.fixture.ts'

const connection = useGuessing({
  ANTHROPIC_API_KEY: 'a-key-of-anthropic',
  GEMINI_API_KEY: 'a-key-of-google',
  OPENAI_BASE_URL: undefined,
})

let server: Server | null = null
afterEach(() => void server?.close())

// biome-ignore lint/suspicious/noExplicitAny: what providers are sent is only looked at here.
type Json = any

/** Answers a request, or says why it is refused. */
type Provider = (body: Json, incoming: IncomingMessage, number: number) => Json | string

async function play(api: 'anthropic' | 'google', provider: Provider, settings: Partial<ModelSettings> = {}) {
  const requests: Json[] = []
  server = createServer(async (incoming, response) => {
    const body = await json(incoming)
    requests.push(body)
    const answer = provider(body, incoming, requests.length - 1)
    response.setHeader('content-type', 'application/json')
    if (typeof answer !== 'string') return void response.end(JSON.stringify(answer))
    const error = { type: 'invalid_request_error', code: 400, status: 'INVALID_ARGUMENT', message: answer }
    response.writeHead(400).end(JSON.stringify({ type: 'error', error }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const policy = createLlmPolicy('llm:m', 'm', { ...DEFAULT_OPTIONS, api, baseUrl, ...settings })
  const task = { prompt: 'Find it.' }
  const episode = await runEpisode({
    createEnvironment: () => connection().environment(),
    policy,
    task,
    seed: 'world',
  })
  return { episode, requests }
}

describe('a model of Anthropic', () => {
  /** Thinks, says and calls twice; refuses what Anthropic refuses. */
  const anthropic: Provider = ({ system, messages, tools }, { headers, url }, number) => {
    if (url !== '/v1/messages' || headers['x-api-key'] !== 'a-key-of-anthropic' || !headers['anthropic-version'])
      return 'not the API of Anthropic'
    if (!system || tools[0].input_schema.type !== 'object') return 'system and tools are apart'
    for (const [i, { role, content }] of messages.entries()) {
      if (role === 'assistant' && JSON.stringify(content[0]) !== JSON.stringify(thought(i)))
        return `messages.${i}.content.0: the thinking block must be passed back as it came`
      if (role === 'user' && i > 0 && content.some(({ type }: Json) => type !== 'tool_result'))
        return 'tool_use ids were found without tool_result blocks immediately after'
    }
    const value = Number(nextGuess(JSON.stringify(messages)))
    return {
      id: `msg_${number}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-stub',
      content: [
        thought(messages.length),
        { type: 'text', text: 'I try two.' },
        { type: 'tool_use', id: `toolu_${number}a`, name: 'guess', input: { value } },
        { type: 'tool_use', id: `toolu_${number}b`, name: 'guess', input: { value: value + 1 } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 50, cache_read_input_tokens: 900, cache_creation_input_tokens: 50, output_tokens: 10 },
    }
  }
  const thought = (at: number) => ({ type: 'thinking', thinking: `Halve it, at ${at}.`, signature: `c2ln${at}` })

  it('gets its thoughts and signatures back, plays its calls, and is counted with its cache', async () => {
    const prices = { prompt: 2, completion: 10, cached: 0.5, cacheWrite: 3 }
    const options = { modelOption: { thinking: { type: 'enabled', budgetTokens: 1_024 } }, maxTokens: 2_000, prices }
    const { episode, requests } = await play('anthropic', anthropic, options)
    expect(episode.kind).toBe('finished')
    expect(requests[0]).toMatchObject({ model: 'm', thinking: { type: 'enabled', budget_tokens: 1_024 } })
    expect(requests[1].messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: [{ type: 'thinking' }, { type: 'text' }, { type: 'tool_use' }, { type: 'tool_use' }],
      },
      { role: 'user', content: [{ tool_use_id: 'toolu_0a' }, { tool_use_id: 'toolu_0b' }] },
    ])
    expect(episode.steps[0]!.completions[0]).toMatchObject({
      model: 'claude-stub',
      text: 'I try two.',
      reasoning: 'Halve it, at 1.',
      promptTokens: 1_000,
      cachedTokens: 900,
      completionTokens: 10,
      cost: expect.closeTo(0.0008, 12),
      finish: 'tool_calls',
      responseId: 'msg_0',
      calls: [
        { id: 'toolu_0a', played: true },
        { id: 'toolu_0b', played: true },
      ],
    })
  })

  it('is recorded as a chat, with its parts as they came', async () => {
    const { episode } = await play('anthropic', anthropic)
    const steps = episode.steps.map(({ action, observation, completions, reward, milliseconds, info }) => ({
      ...{ action, observation, completions, reward, milliseconds },
      ...{ potential: info.potential, refused: info.refused, stateHash: info.stateHash },
    }))
    const answers = steps.flatMap(({ completions }) => completions)
    const { completions, transcript } = recordAnswers(answers, steps, createRecording('full', null))
    const [, second] = requestsOf({ ...placeAnswers(steps, completions), transcript })
    expect(second!.messages[2]).toMatchObject({
      role: 'assistant',
      content: 'I try two.',
      tool_calls: [{ id: 'toolu_0a' }, { id: 'toolu_0b' }],
      parts: [{ type: 'reasoning', providerMetadata: { anthropic: { signature: 'c2ln1' } } }, {}, {}, {}],
    })
  })

  it('is refused with the words of its server', async () => {
    const { episode } = await play('anthropic', () => 'max_tokens: 999999 > 8192')
    expect(episode).toMatchObject({ kind: 'failed', cause: { code: 'model-refused' } })
    expect(String((episode as { cause?: unknown }).cause)).toContain('max_tokens: 999999 > 8192')
  })
})

describe('a model of Google', () => {
  const google: Provider = ({ systemInstruction, contents, tools }, { headers, url }, number) => {
    if (url !== '/v1/models/m:generateContent' || headers['x-goog-api-key'] !== 'a-key-of-google')
      return 'not the API of Google'
    if (!systemInstruction || !tools) return 'system and tools are apart'
    const calls = contents.flatMap(({ parts }: Json) => parts.filter((part: Json) => part.functionCall))
    if (calls.some((part: Json) => !part.thoughtSignature))
      return 'Function call is missing a thought_signature in functionCall parts.'
    const results = contents.flatMap(({ parts }: Json) => parts.filter((part: Json) => part.functionResponse))
    if (results.length !== calls.length)
      return 'the number of function response parts must equal that of function calls'
    const value = nextGuess(JSON.stringify(contents))
    const call = { functionCall: { name: 'guess', args: { value } }, thoughtSignature: `c2ln${number}` }
    return {
      responseId: `r${number}`,
      modelVersion: 'gemini-stub',
      candidates: [
        { content: { role: 'model', parts: [{ text: 'Halve it.', thought: true }, call] }, finishReason: 'STOP' },
      ],
      usageMetadata: {
        promptTokenCount: 100,
        cachedContentTokenCount: 40,
        candidatesTokenCount: 7,
        thoughtsTokenCount: 3,
        totalTokenCount: 110,
      },
    }
  }

  it('gets its signatures back, and is counted with its thoughts', async () => {
    const { episode } = await play('google', google)
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'solved' } })
    expect(episode.steps[0]!.completions[0]).toMatchObject({
      reasoning: 'Halve it.',
      promptTokens: 100,
      cachedTokens: 40,
      completionTokens: 10,
      reasoningTokens: 3,
      calls: [{ name: 'guess', played: true }],
    })
  })
})

it('is asked by the API of its provider where no server is given, and else by that of the server', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', undefined)
  const create =
    (name: string, settings: Partial<ModelSettings> = {}) =>
    () =>
      createLlmPolicy(`llm:${name}`, name, { ...DEFAULT_OPTIONS, ...settings })
  expect(create('anthropic/claude-x')).toThrow(
    /Set ANTHROPIC_API_KEY, or give --base-url <url> of a server with the API of anthropic/,
  )
  expect(create('anthropic/claude-x', { baseUrl: 'http://127.0.0.1:1/v1' })).not.toThrow()
  vi.stubEnv('ANTHROPIC_API_KEY', 'a-key-of-anthropic')
  expect(create('anthropic/claude-x')).not.toThrow()
})
