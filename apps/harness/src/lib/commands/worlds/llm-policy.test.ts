import { type Episode, runEpisode } from '@episodic/env'
import { createChatModel } from '@episodic/models/chat-model'
import {
  type Answering,
  bisecting,
  type ChatServer,
  calling,
  saying,
  startChatServer,
} from '@episodic/models/chat-server.fixture'
import { createModelLimit } from '@episodic/models/limits/model-limit'
import { ModelAccess } from '@episodic/models/model-access'
import { DEFAULT_OPTIONS, type ModelSettings } from '@episodic/models/model-options'
import { createLlmPolicy } from '@episodic/models/policy/llm-policy'
import { completionsOf } from '@episodic/report/fold/completions'
import { linkCalls } from '@episodic/report/fold/token-tree'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { useGuessing } from './guessing.fixture.ts'

const connection = useGuessing({ OPENAI_API_KEY: 'sk-nobody-may-read-this' })

let server: ChatServer | null = null
afterEach(() => server?.[Symbol.asyncDispose]())

/** A policy over a server of its own. */
async function policyOver(answer: Answering, settings: Partial<ModelSettings> = {}) {
  server = await startChatServer(answer)
  return createLlmPolicy('llm:test', 'test', { ...DEFAULT_OPTIONS, baseUrl: server.url, ...settings })
}

/** Plays one episode with the prompt and hints of a task. */
async function play(answer: Answering, settings: Partial<ModelSettings> = {}, signal?: AbortSignal) {
  const policy = await policyOver(answer, settings)
  const task = { prompt: 'Find it.', hints: ['Halve what is left.'] }
  return runEpisode({ createEnvironment: () => connection().environment(), policy, task, seed: 'world', signal })
}

/** Answers with a body, and wants to be asked again soon. */
function soon(body: object): (...asked: Parameters<Answering>) => object {
  return (_, __, response) => {
    response.setHeader('retry-after-ms', '1')
    return body
  }
}

interface WithTokens {
  readonly prompt_token_ids?: readonly number[]
  readonly generation_token_ids?: readonly number[]
}

interface Answered {
  readonly choices: readonly [{ readonly message: { readonly tool_calls: readonly [{ readonly id: string }] } }]
}

/** What a player said when it stopped. */
function stopOf(episode: Episode): string | undefined {
  return episode.kind === 'finished' ? episode.stopped?.message : undefined
}

describe('createLlmPolicy', () => {
  it.each([
    [400, { message: 'It has 600 input tokens.', code: 'context_length_exceeded' }],
    [400, { message: "The input (600 tokens) is longer than the model's context length (512 tokens)." }],
    [400, { message: 'prompt is too long: 600 tokens > 512 maximum' }],
    [400, { message: 'The input token count (600) exceeds the maximum number of tokens allowed (512).' }],
    [400, { message: 'the request exceeds the available context size, try increasing it' }],
    [400, { message: 'Prompt contains 600 tokens, too large for model with 512 maximum context length' }],
    [422, { message: 'Input validation error: `inputs` must have less than 512 tokens. Given: 600' }],
    [422, { message: '`inputs` tokens + `max_new_tokens` must be <= 512. Given: 600' }],
    [413, { message: 'Request too large' }],
  ])('stops with its budget spent if the context is full after an answer: %i %o', async (status, error) => {
    const refusing: Answering = (_, number, response) => {
      if (number < 2) return calling('guess', { value: number + 1 })
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
      return null
    }
    const episode = await play(refusing)
    expect(episode).toMatchObject({ kind: 'finished', end: { kind: 'truncated', reason: 'budget-spent' } })
    expect([episode.steps.length, stopOf(episode)]).toEqual([2, expect.stringContaining(error.message)])
  })

  it.each([true, false])(
    'hands tokens back to a server that begins its next prompt with them (%s)',
    async (splices) => {
      const episode = await play(
        (request, number) => {
          const handed = splices ? request.messages.findLast((message) => 'generation_token_ids' in message) : undefined
          const { prompt_token_ids: prompt = [], generation_token_ids: sampled = [] } = (handed ?? {}) as WithTokens
          // What a server tokenises again comes out otherwise than it was sampled.
          const given = handed
            ? [...prompt, ...sampled, 7]
            : [1, ...Array.from({ length: number }, () => [2, 7]).flat()]
          const tokens = { prompt_token_ids: given, generation_token_ids: [3, 4], generation_log_probs: [-0.5, -0.25] }
          const call = { name: 'guess', arguments: JSON.stringify({ value: number + 1 }) }
          const calls = [{ id: `call_${number}`, type: 'function', function: call }]
          return saying({ role: 'assistant', content: null, tool_calls: calls, ...tokens }, 'tool_calls')
        },
        { tokenIds: true, temperature: 0.5 },
      )
      const answers = completionsOf(episode)
      expect(answers.length).toBeGreaterThan(3)
      expect(answers.every(({ temperature }) => temperature === 0.5)).toBe(true)
      expect(linkCalls(answers)).toEqual(
        answers.map((_, i) => {
          if (splices) return { parent: i === 0 ? null : i - 1, driftsFrom: null }
          return { parent: null, driftsFrom: i === 0 ? null : i - 1 }
        }),
      )
      for (const { messages } of server!.requests.slice(1)) {
        const handed = messages.filter((message) => 'prompt_token_ids' in message)
        expect(handed).toEqual([messages.findLast(({ role }) => role === 'assistant')])
      }
      expect(JSON.stringify(episode.steps.map(({ completions }) => completions))).not.toContain('token_ids')
    },
  )

  it('says which option a model needs that takes longer than its requests may', async () => {
    server = await startChatServer(() => new Promise(() => {}))
    // All tries and the pauses between them, in virtual time.
    const waits: number[] = []
    const clock = { now: () => 0, wait: async (milliseconds: number) => void waits.push(milliseconds) }
    const { ask } = createChatModel('slow', { ...DEFAULT_OPTIONS, baseUrl: server.url }, createModelLimit(), clock)
    await expect(ask({ messages: [], tools: [], seed: 0 })).rejects.toMatchObject({
      code: 'model-unavailable',
      message: expect.stringContaining('raise modelTimeout'),
    })
    const growing = [500, 1_000, 2_000, 4_000, 8_000]
    expect(waits).toEqual([120_000, ...growing.flatMap((pause) => [pause, 120_000])])
  })

  it('fails if the first request is too long for the context, or if a later one is refused for another cause', async () => {
    const refusing =
      (from: number, message: string): Answering =>
      (_, number, response) => {
        if (number < from) return calling('guess', { value: 1 })
        response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }))
        return null
      }
    for (const answer of [refusing(0, 'prompt is too long'), refusing(1, 'Missing `reasoning_content`')])
      expect(await play(answer)).toMatchObject({ kind: 'failed', cause: { code: 'model-refused' } })
  })

  it('requests the same sampling seeds again if the policy has the same seed', async () => {
    await play(bisecting)
    const seeds = server!.requests.map(({ seed }) => seed)
    await server![Symbol.asyncDispose]()
    await play(bisecting)
    expect(server!.requests.map(({ seed }) => seed)).toEqual(seeds)
  })

  it('records tokens, cost, ids and log-probabilities of each step as the server returned them', async () => {
    const vllm = {
      prompt_token_ids: [1, 2, 3],
      choice: { token_ids: [4, 5], logprobs: { content: [{ logprob: -0.5 }, { logprob: -0.25 }] } },
    }
    const sglang = {
      metadata: { weight_version: '12' },
      choice: {
        prompt_token_ids: [6],
        meta_info: {
          output_token_logprobs: [
            [-0.125, 7, null],
            [-1, 8, 'text'],
          ],
        },
      },
    }
    const newer = {
      choice: {
        prompt_token_ids: [1],
        response_token_ids: [9, 10],
        logprobs: { content: [{ logprob: -2 }, { logprob: -3 }] },
      },
    }
    const bodies = [vllm, sglang, newer, {}]
    const { steps } = await play((_, number) => calling('guess', { value: 1 }, bodies[number % 4]), {
      prices: { prompt: 2, completion: 10 },
      tokenIds: true,
    })
    const counted = {
      model: 'served-model',
      promptTokens: 1_000,
      completionTokens: 10,
      cost: 0.0021,
      text: null,
      asked: 'test',
      responseId: 'chat_1',
      finish: 'tool_calls',
      calls: [{ id: 'call_1', name: 'guess', arguments: '{"value":1}', played: true }],
      time: { milliseconds: expect.any(Number), waited: expect.any(Number) },
      request: { messages: expect.any(Array), tools: expect.any(Array) },
    }
    expect(steps.slice(0, 4).map(({ completions }) => completions)).toEqual([
      [{ ...counted, promptTokenIds: [1, 2, 3], tokenIds: [4, 5], logProbabilities: [-0.5, -0.25] }],
      [{ ...counted, promptTokenIds: [6], tokenIds: [7, 8], logProbabilities: [-0.125, -1], policyVersion: '12' }],
      [{ ...counted, promptTokenIds: [1], tokenIds: [9, 10], logProbabilities: [-2, -3] }],
      [counted],
    ])
    expect(server!.requests[0]).toMatchObject({
      return_token_ids: true,
      return_prompt_token_ids: true,
      return_meta_info: true,
      logprobs: true,
    })
  })

  it.each([
    ['of all tokens', { prompt: 2, completion: 10 }, 0.0021],
    ['of tokens from a cache', { prompt: 2, completion: 10, cached: 0.5 }, 0.00075],
    ['of tokens into a cache too', { prompt: 2, completion: 10, cached: 0.5, cacheWrite: 3 }, 0.0008],
    ['as the server says it', undefined, 0.125],
  ])('knows the cost of an answer by the prices %s', async (_, prices, cost) => {
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 50 },
      cost: 0.125,
    }
    const { steps } = await play(() => calling('guess', { value: 1 }, { usage } as object), prices && { prices })
    expect(steps[0]?.completions?.[0]?.cost).toBeCloseTo(cost, 12)
  })

  it.each([
    ['within the completion', { total_tokens: 1_020, completion_tokens_details: { reasoning_tokens: 15 } }, 20],
    ['beside it, as xAI does', { total_tokens: 1_520, completion_tokens_details: { reasoning_tokens: 500 } }, 520],
    ['in the total alone, as Gemini does', { total_tokens: 1_520 }, 520],
    ['without a total, and more than was written', { completion_tokens_details: { reasoning_tokens: 500 } }, 520],
    ['in another total', { total_tokens: 1_900, completion_tokens_details: { reasoning_tokens: 15 } }, 20],
  ])('counts reasoning once that a server reports %s', async (_, counted, written) => {
    const usage = { prompt_tokens: 1_000, completion_tokens: 20, ...counted }
    const { steps } = await play(() => calling('guess', { value: 1 }, { usage } as object), {
      prices: { prompt: 2, completion: 10 },
    })
    expect(steps[0]?.completions?.[0]).toMatchObject({ promptTokens: 1_000, completionTokens: written })
    expect(steps[0]?.completions?.[0]?.cost).toBeCloseTo(0.002 + written / 100_000, 12)
  })

  it.each([
    ['no tokens', null],
    ['only those that it read', { prompt_tokens: 1_000 }],
    ['only those that it wrote', { completion_tokens: 10, total_tokens: 1_010 }],
  ])('knows no cost of an answer whose server counts %s', async (_, usage) => {
    const uncounted = { usage } as object
    const { steps } = await play(() => calling('guess', { value: 1 }, uncounted), {
      prices: { prompt: 2, completion: 10 },
    })
    expect(steps[0]?.completions?.[0]).toMatchObject({ promptTokens: 0, completionTokens: 0, cost: null })
  })

  it('records the oldest version of the weights that wrote an answer, and none if the server names none', async () => {
    const named = [
      { metadata: { weight_version: 'step-3' } },
      {
        sglext: {
          weight_version: '5',
          weight_versions: [
            { version: '4', start: 0, end: 6 },
            { version: '5', start: 6, end: 10 },
          ],
        },
      },
      { metadata: { weight_version: 'default' } },
      { metadata: { weight_version: null } },
      { metadata: 'another field' },
    ]
    const { steps } = await play((_, number) => calling('guess', { value: 1 }, named[number]))
    const versions = steps.slice(0, named.length).map(({ completions: [answer] }) => answer?.policyVersion)
    expect(versions).toEqual(['step-3', '4', undefined, undefined, undefined])
  })

  it('passes unknown tools and wrong arguments to the world, which refuses them', async () => {
    const { steps } = await play((_, number) =>
      calling(number === 0 ? 'peek' : 'guess', { value: number < 2 ? 'x' : number }),
    )
    expect(steps.slice(0, 2).map(({ info }) => info.refused)).toEqual(['tool', 'arguments'])
  })

  it('truncates an episode whose model gives arguments that are no JSON object', async () => {
    const episode = await play(() => calling('guess', '[5]'))
    expect(episode).toMatchObject({ kind: 'finished', end: { kind: 'truncated', reason: 'invalid-action' } })
  })

  it('distinguishes arguments with invalid JSON from an answer without a call', async () => {
    const answers = [
      calling('guess', '{"value": 5'),
      saying({ role: 'assistant', content: 'Hm.' }),
      calling('guess', '[5]'),
    ]
    const episode = await play((_, number) => answers[number] as object)
    expect(episode).toMatchObject({ stopped: { reason: 'no-action' } })
    expect(stopOf(episode)).toContain(
      'no action: arguments for guess that are no JSON object, then no call of a tool, then arguments for guess that are no JSON object. The last one stopped by "tool_calls": "guess [5]".',
    )
  })

  it('replaces half of a surrogate pair in what a model says, and sends none back', async () => {
    const half = '\ud83d'
    const episode = await play((request, number) => {
      const body = bisecting(request) as Answered
      const [choice] = body.choices
      const [call] = choice.message.tool_calls
      const message = {
        content: `text ${half}`,
        reasoning: `reasoning ${half}`,
        tool_calls: [
          number === 0 ? { ...call, function: { name: `guess${half}`, arguments: '{}' } } : { ...call, id: half },
          { ...call, function: { name: 'guess', arguments: `"${half}"` } },
        ],
      }
      return { ...body, id: half, model: half, choices: [{ ...choice, message, finish_reason: half }] }
    })
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'solved' } })
    const sent = server!.requests.flatMap(({ messages }) => messages)
    for (const text of [JSON.stringify(sent), JSON.stringify(episode.steps)]) {
      expect(text).not.toContain(half)
      expect(text).not.toContain(JSON.stringify(half).slice(1, -1))
    }
    expect(episode.steps[0]).toMatchObject({
      action: { tool: 'guess\ufffd' },
      completions: [{ text: 'text \ufffd', reasoning: 'reasoning \ufffd', model: '\ufffd', finish: '\ufffd' }],
    })
  })

  it.each([
    ['half of a surrogate pair', '{"value":1,"why":"half \\ud83d"}', '$.why holds a lone surrogate'],
    ['a number that is too large', '{"value":1e400}', '$.value is Infinity'],
  ])('says to the model that its arguments hold %s', async (_, args, problem) => {
    const episode = await play((request, number) => (number === 0 ? calling('guess', args) : bisecting(request)))
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'solved' } })
    expect(server!.requests[1]!.messages.at(-1)).toEqual({
      role: 'user',
      content: expect.stringMatching(/Your arguments for guess cannot be sent .*[.] Call the tool again[.]$/),
    })
    expect(server!.requests[1]!.messages.at(-1)!.content).toContain(`(${problem})`)
  })

  it('truncates an episode that exceeds its token budget', async () => {
    const episode = await play(() => calling('guess', { value: 1 }), { tokenBudget: 2_500 })
    expect(episode).toMatchObject({ kind: 'finished', end: { kind: 'truncated', reason: 'budget-spent' } })
    expect(episode.steps).toHaveLength(3)
  })

  it.each<[string, Answering, RegExp]>([
    [
      'answers with invalid JSON',
      (_, __, response) => {
        response.setHeader('content-type', 'application/json').end('{"id":"x" "choices":[]}')
        return null
      },
      /sent an answer that is no JSON: Expected .* position 10 .*--base-url/,
    ],
    [
      'repeats the key',
      (_, __, response, { headers }) => {
        response.writeHead(401).end(JSON.stringify({ error: { message: `No such key: ${headers.authorization}` } }))
        return null
      },
      /No such key: Bearer \[key\]/,
    ],
    [
      'has another API',
      (_, __, response) => {
        response.writeHead(200, { 'content-type': 'text/html', 'retry-after-ms': '1' }).end('<html>')
        return null
      },
      /speaks another API: <html>.*--base-url/,
    ],
    ['answers without a choice', soon({ id: 'x', choices: [] }), /\(HTTP 200\): The answer has no choice: {"id":"x"/],
    ['answers with an empty object', soon({}), /did not answer \(HTTP 200\): The answer has no choice: {}/],
  ])('fails an episode whose server %s, with the reason', async (_, answer, message) => {
    const episode = await play(answer)
    expect(episode).toMatchObject({
      kind: 'failed',
      cause: { code: expect.stringMatching(/^(policy-failed|model-refused|model-unavailable)$/) },
    })
    expect(String((episode as { cause?: unknown }).cause)).toMatch(message)
  })

  it('stops waiting for a slow answer when it is aborted', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const episode = await play(
      () => {
        controller.abort(reason)
        return null
      },
      {},
      controller.signal,
    )
    expect(episode).toMatchObject({ kind: 'failed', cause: reason })
  })

  it('counts the tokens of each answer, and pauses all who share its limit when its server asks for it', async () => {
    const policy = await policyOver((request, number, response) => {
      if (number > 0) return bisecting(request)
      response.writeHead(429, { 'retry-after-ms': '30' }).end('{"error":{"message":"slow down"}}')
      return null
    })
    const access = new ModelAccess()
    const pause = vi.spyOn(access.limit, 'pause')
    const correct = vi.spyOn(access.limit, 'correct')
    const settings = { ...DEFAULT_OPTIONS, baseUrl: server!.url, tokensPerMinute: 1e9, maxTokens: 100 }
    const limited = createLlmPolicy(policy.name, 'test', settings, access)
    const createEnvironment = () => connection().environment()
    const episode = await runEpisode({ createEnvironment, policy: limited, task: { prompt: '' }, seed: 'world' })
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'solved' } })
    const named = `${server!.url} test`
    expect(pause.mock.calls).toEqual([[named, 30]])
    expect(correct.mock.calls).toHaveLength(episode.steps.length)
    // An answer of the server has 1,010 tokens; the estimate is of the characters that were sent, and of --max-tokens.
    for (const [i, [model, , tokens]] of correct.mock.calls.entries()) {
      const { messages, tools } = server!.requests[i + 1]!
      expect([model, tokens]).toEqual([named, 910 - Math.ceil(JSON.stringify({ messages, tools }).length / 4)])
    }
  })

  it('names the missing settings if no server is configured', () => {
    const { OPENAI_BASE_URL: base, OPENAI_API_KEY: key } = process.env
    delete process.env.OPENAI_BASE_URL
    delete process.env.OPENAI_API_KEY
    try {
      expect(() => createLlmPolicy('llm:x', 'x', DEFAULT_OPTIONS)).toThrow(/Set OPENAI_API_KEY, or give --base-url/)
    } finally {
      if (base !== undefined) process.env.OPENAI_BASE_URL = base
      if (key !== undefined) process.env.OPENAI_API_KEY = key
    }
  })
})
