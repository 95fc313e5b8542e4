import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { startTokenEngine, type TokenEngine, thinkingGuess } from '../../../../../interop/gateway/token-engine.ts'
import { createEngine } from './engine.ts'
import { openGateway } from './gateway-server.ts'
import { openGatewaySessions } from './gateway-sessions.ts'

let cleanUp = new AsyncDisposableStack()
afterEach(async () => {
  await cleanUp.disposeAsync()
  cleanUp = new AsyncDisposableStack()
})

const oddlyCalling = (name: string) => ({
  content: 'I guess.',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: '{}' } }],
})

/** Anybody can send an object that no text can be made of. */
const ODD = { toString: 1, valueOf: 2 }

/** Yields copies of a body, each with another of its values replaced. */
function* oddOnes(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return
  const entries = Object.entries(value)
  const copy = (at: number, other: unknown) => {
    const changed = entries.map(([name, own], i) => [name, i === at ? other : own] as const)
    return Array.isArray(value) ? changed.map(([, own]) => own) : Object.fromEntries(changed)
  }
  for (const [i, [, own]] of entries.entries()) {
    yield copy(i, ODD)
    for (const odd of oddOnes(own)) yield copy(i, odd)
  }
}

const call = (name: string) => ({ id: 'call_1', type: 'function', function: { name, arguments: '{}' } })
const parameters = { type: 'object', properties: { value: { type: 'integer' } } }
const picture = { type: 'base64', media_type: 'image/png', data: 'AA==' }

/** Requests with most of the fields of each API. */
const ODD_REQUESTS: [path: string, body: object][] = [
  [
    '/v1/chat/completions',
    {
      ...{ model: 'm', temperature: 1, max_tokens: 9, n: 1, stream: false, stream_options: { include_usage: true } },
      messages: [
        { role: 'system', content: 'Play.' },
        { role: 'user', content: [{ type: 'text', text: 'Which?' }] },
        { role: 'assistant', content: null, reasoning: 'Hm.', tool_calls: [call('guess')] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Higher.' },
      ],
      tools: [{ type: 'function', function: { name: 'guess', description: 'Guess.', parameters } }],
      tool_choice: 'auto',
    },
  ],
  [
    '/v1/responses',
    {
      ...{
        model: 'm',
        instructions: 'Play.',
        temperature: 1,
        max_output_tokens: 9,
        stream: false,
        tool_choice: 'auto',
      },
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Which?' }] },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'guess', namespace: 'world', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'Higher.' },
      ],
      tools: [
        { type: 'function', name: 'guess', description: 'Guess.', parameters },
        { type: 'namespace', name: 'world', tools: [{ type: 'function', name: 'guess', parameters }] },
      ],
      text: { format: { type: 'json_schema', name: 'answer', schema: {} } },
    },
  ],
  [
    '/v1/messages',
    {
      ...{ model: 'm', max_tokens: 9, temperature: 1, stream: false, stop_sequences: ['x'] },
      system: [{ type: 'text', text: 'Play.' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Which?' },
            { type: 'image', source: picture },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'x' },
            { type: 'text', text: 'So.' },
            { type: 'tool_use', id: 'call_1', name: 'guess', input: { value: 1 } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'Higher.' }] },
      ],
      tools: [{ name: 'guess', description: 'Guess.', input_schema: parameters }],
      tool_choice: { type: 'tool', name: 'guess', disable_parallel_tool_use: true },
    },
  ],
  [
    '/v1beta/models/m:generateContent',
    {
      systemInstruction: { parts: [{ text: 'Play.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Which?' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }] },
        { role: 'model', parts: [{ functionCall: { id: 'call_1', name: 'guess', args: { value: 1 } } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { id: 'call_1', name: 'guess', response: { output: 'Higher.' } } }],
        },
      ],
      tools: [{ functionDeclarations: [{ name: 'guess', description: 'Guess.', parameters }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['guess'] } },
      generationConfig: { temperature: 1, candidateCount: 1, responseMimeType: 'application/json', responseSchema: {} },
    },
  ],
]

/** The message of an answer: a call first, then a text once its result has come. */
const playing = ({ messages }: TokenEngine['requests'][number]) =>
  messages.at(-1)?.role === 'tool' ? { content: 'It is 7.' } : thinkingGuess(7)

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'episodic-gateway-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

interface Session {
  readonly session_id: string
  readonly url: string
  readonly api_key: string
}

// biome-ignore lint/suspicious/noExplicitAny: the tests read JSON of the gateway.
type Body = any

/** Serves a gateway over a folder. Returns what asks it as a trainer does. */
async function serve(engine: TokenEngine, folder: string, controlToken: string | null = null) {
  const own = new AsyncDisposableStack()
  cleanUp.use(own)
  const asked = own.use(createEngine({ baseUrl: engine.url }))
  const sessions = own.use(await openGatewaySessions(folder, asked))
  const { url } = own.use(await openGateway({ sessions, port: 0, controlToken }))
  const request = async (
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Body> => {
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: answer.status, ...((await answer.json()) as object) }
  }
  return {
    url,
    request,
    open: (body: object = {}): Promise<Session> => request('POST', '/sessions', body),
    stop: () => own.disposeAsync(),
  }
}

const PARAMETERS = { type: 'object', properties: { value: { type: 'integer' } } } as const

/** Plays two turns with a client: a question, a call of a tool and its result. Returns the last text. */
type Agent = (session: Session, root: string, isStreamed: boolean) => Promise<string>

const chat: Agent = async ({ api_key: apiKey, url: baseURL }, _, isStreamed) => {
  const client = new OpenAI({ apiKey, baseURL })
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Which?' }]
  const tools = [{ type: 'function' as const, function: { name: 'guess', parameters: PARAMETERS } }]
  for (;;) {
    const body = { model: 'm', messages, tools }
    const { choices } = isStreamed
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body)
    const { message } = choices[0]!
    if (!message.tool_calls?.[0]) return message.content ?? ''
    messages.push(message, { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'Right.' })
  }
}

const responses: Agent = async ({ api_key: apiKey }, root, isStreamed) => {
  const client = new OpenAI({ apiKey, baseURL: `${root}/v1` })
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Which?' }]
  const tools = [{ type: 'function' as const, name: 'guess', parameters: PARAMETERS, strict: false }]
  for (;;) {
    const body = { model: 'm', instructions: 'Play.', input, tools }
    const response = isStreamed
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body)
    const calls = response.output.filter(({ type }) => type === 'function_call')
    const [call] = calls as OpenAI.Responses.ResponseFunctionToolCall[]
    if (!call) return response.output_text
    input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]), {
      type: 'function_call_output',
      call_id: call.call_id,
      output: 'Right.',
    })
  }
}

const viaAiSdk =
  (modelOf: (session: Session, root: string) => Parameters<typeof generateText>[0]['model']): Agent =>
  async (session, root, isStreamed) => {
    const guess = tool({ inputSchema: jsonSchema<{ value: number }>(PARAMETERS), execute: async () => 'Right.' })
    const asked = {
      model: modelOf(session, root),
      maxOutputTokens: 99,
      system: 'Play.',
      prompt: 'Which?',
      tools: { guess },
    }
    const stopWhen = isStepCount(3)
    return isStreamed
      ? await streamText({ ...asked, stopWhen }).text
      : (await generateText({ ...asked, stopWhen })).text
  }

const AGENTS: Readonly<Record<string, Agent>> = {
  'chat completions of openai': chat,
  'Responses of openai': responses,
  'Messages of the AI SDK': viaAiSdk(({ api_key: apiKey }, root) =>
    createAnthropic({ apiKey, baseURL: `${root}/v1` })('claude'),
  ),
  'generateContent of the AI SDK': viaAiSdk(({ url, api_key: apiKey }) =>
    createGoogleGenerativeAI({ apiKey, baseURL: `${url}beta` })('gemini'),
  ),
}

describe('openGateway', () => {
  it.each(Object.keys(AGENTS).flatMap((name) => [false, true].map((isStreamed) => [name, isStreamed] as const)))(
    'keeps the tokens of an agent that speaks %s (stream: %s), and begins each prompt with them',
    async (name, isStreamed) => {
      const engine = cleanUp.use(await startTokenEngine(playing))
      const gateway = await serve(engine, await newFolder())
      const session = await gateway.open({ metadata: { task: 't1' } })
      expect(await AGENTS[name]!(session, gateway.url, isStreamed)).toBe('It is 7.')
      const { turns } = await gateway.request('GET', `/sessions/${session.session_id}/trace`)
      expect(turns).toHaveLength(2)
      expect(
        turns.map((turn: Body) => ({
          prompt: turn.prompt_token_ids,
          ids: turn.completion_token_ids,
          scores: turn.per_token_logps,
        })),
      ).toEqual(engine.sampled)
      expect(turns[1].metadata).toMatchObject({
        parent: turns[0].node_id,
        drifts_from: null,
        role: 'agent',
        task: 't1',
      })
      expect(turns[0].request.tools[0].function).toMatchObject({ name: 'guess', parameters: PARAMETERS })
      // The engine sees its own message, as it wrote it, with its tokens.
      const [, back] = engine.requests
      expect(back!.messages.find(({ role }) => role === 'assistant')).toMatchObject({
        content: 'I guess.',
        reasoning_content: 'Half of it.',
        tool_calls: [{ function: { name: 'guess', arguments: '{"value" :  7}' } }],
        generation_token_ids: engine.sampled[0]!.ids,
      })
      expect(back!.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Right.' })
      expect(back).toMatchObject({ logprobs: true, return_token_ids: true })
      expect(back).not.toHaveProperty('stream')
    },
  )

  it('knows the tools of namespaces, as Codex has those of a world, and leaves out what a server of the provider runs', async () => {
    const engine = cleanUp.use(await startTokenEngine(() => oddlyCalling('world__guess')))
    const gateway = await serve(engine, await newFolder())
    const { api_key: apiKey } = await gateway.open()
    const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1` })
    const guess = { type: 'function' as const, name: 'guess', parameters: PARAMETERS, strict: false }
    const world = { type: 'namespace' as const, name: 'world', description: 'A world.', tools: [guess] }
    const tools = [world, { type: 'web_search' as const }, { ...guess, name: 'other' }]
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Which?' }]
    const { output } = await client.responses.create({ model: 'm', input, tools })
    expect(output.at(-1)).toMatchObject({ type: 'function_call', namespace: 'world', name: 'guess' })
    const asked = engine.requests[0]!.tools!.map(({ function: { name } }) => name)
    expect(asked).toEqual(['world__guess', 'other'])
    // Codex adds tools in the midst of its input too, and sends calls back as they came.
    const added = { type: 'additional_tools', role: 'developer', tools: [world] }
    const next = [added, ...input, ...output] as OpenAI.Responses.ResponseInputItem[]
    await client.responses.create({ model: 'm', input: next })
    expect(engine.requests[1]!.tools!.map(({ function: { name } }) => name)).toEqual(['world__guess'])
    expect(engine.requests[1]!.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { name: 'world__guess' } }] },
    ])
  })

  it('gives the trainer one list with a mask, the reward and the figures of a session', async () => {
    const engine = cleanUp.use(await startTokenEngine(playing))
    const gateway = await serve(engine, await newFolder())
    const session = await gateway.open({ session_id: 'episode-1', metadata: { group: 'g' } })
    await chat(session, gateway.url, false)
    expect(await gateway.request('PUT', '/sessions/episode-1/reward', { reward: 0.75 })).toMatchObject({ reward: 0.75 })
    const { sequences, ...figures } = await gateway.request('GET', '/sessions/episode-1/sequences')
    const [first, last] = engine.sampled
    expect(figures).toMatchObject({ reward: 0.75, metadata: { group: 'g' }, calls: 2, drifted: 0, discarded: 0 })
    expect(sequences).toMatchObject([{ prompt_ids: first!.prompt, num_turns: 2, role: 'agent', answers: [0, 1] }])
    const learned = sequences[0].response_ids.filter((_: number, i: number) => sequences[0].response_mask[i] === 1)
    expect(learned).toEqual([...first!.ids, ...last!.ids])
    expect(await gateway.request('DELETE', '/sessions/episode-1')).toMatchObject({ deleted: 2 })
    expect(await gateway.request('GET', '/sessions/episode-1')).toMatchObject({ status: 404 })
  })

  it('says that an answer cannot be kept, in place of giving it to its agent', async () => {
    const engine = cleanUp.use(await startTokenEngine(playing))
    const folder = await newFolder()
    const gateway = await serve(engine, folder)
    const { url } = await gateway.open()
    // A file stands where the folder of the answers would be.
    await writeFile(join(folder, 'answers'), '')
    const asked = new URL(`${url}/chat/completions`).pathname
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hm?' }] }
    expect(await gateway.request('POST', asked, body)).toMatchObject({
      status: 500,
      error: { message: expect.stringContaining('cannot be kept') },
    })
    await rm(join(folder, 'answers'))
    expect(await gateway.request('POST', asked, body)).toMatchObject({ status: 200 })
  })

  it('stops sending tokens to an engine that ignores them', async () => {
    const engine = cleanUp.use(await startTokenEngine(playing, { splices: false }))
    const gateway = await serve(engine, await newFolder())
    const sent: boolean[] = []
    for (let i = 0; i < 10; i++) {
      await chat(await gateway.open(), gateway.url, false)
      sent.push(JSON.stringify(engine.requests.at(-1)).includes('generation_token_ids'))
    }
    expect(sent).toEqual([...new Array(8).fill(true), false, false])
  })

  it('answers a request that is sent again once, and the same request of later anew', async () => {
    const isAsked = Promise.withResolvers<void>()
    const isReady = Promise.withResolvers<void>()
    const engine = cleanUp.use(
      await startTokenEngine(async (_, number) => {
        isAsked.resolve()
        if (number === 0) await isReady.promise
        return { content: `Answer ${number}.` }
      }),
    )
    const gateway = await serve(engine, await newFolder())
    const { url, session_id: id } = await gateway.open()
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hm?' }] })
    const ask = async (headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal): Promise<Body> =>
      (await fetch(`${url}/chat/completions`, { method: 'POST', body, headers, ...(signal && { signal }) })).json()
    const gone = new AbortController()
    const lost = ask({}, gone.signal).catch(() => 'gone')
    await isAsked.promise
    gone.abort()
    expect(await lost).toBe('gone')
    isReady.resolve()
    // Whether the gateway has seen it go or not, the client says that it asks again.
    const again = await ask({ 'x-stainless-retry-count': '1' })
    expect(again.choices[0].message.content).toBe('Answer 0.')
    expect((await ask()).choices[0].message.content).toBe('Answer 1.')
    expect(engine.requests).toHaveLength(2)
    expect(await gateway.request('GET', `/sessions/${id}`)).toMatchObject({ calls: 2, sequences: 2 })
  })

  it('goes on after it was ended, and pays for no answer of an agent that is begun anew twice', async () => {
    const engine = cleanUp.use(await startTokenEngine(playing))
    const folder = await newFolder()
    const before = await serve(engine, folder)
    const session = await before.open({ session_id: 'kept' })
    await chat(session, before.url, false)
    await before.request('PUT', '/sessions/kept/reward', { reward: 1 })
    await before.stop()
    const after = await serve(engine, folder)
    expect(await after.request('GET', '/sessions/kept')).toMatchObject({ calls: 2, reward: 1, drifted: 0 })
    const moved = { ...session, url: session.url.replace(before.url, after.url) }
    for (let i = 0; i < 2; i++) {
      expect(await chat(moved, after.url, i === 1)).toBe('It is 7.')
      expect(engine.requests).toHaveLength(2)
      expect(await after.open({ session_id: 'kept' })).toMatchObject({ api_key: session.api_key })
    }
    expect(await after.request('GET', '/sessions/kept')).toMatchObject({ calls: 2 })
    const { turns } = await after.request('GET', '/sessions/kept/trace')
    expect(turns.map((turn: Body) => turn.completion_token_ids)).toEqual(engine.sampled.map(({ ids }) => ids))
    expect(turns[0].request.messages).toEqual([{ role: 'user', content: 'Which?' }])
  })

  it.each([
    ['chat/completions', { messages: [{ role: 'user', content: 'Hm?' }] }, { error: { message: 'Too long.' } }],
    ['responses', { input: 'Hm?' }, { error: { message: 'Too long.' } }],
    [
      'messages',
      { max_tokens: 5, messages: [{ role: 'user', content: 'Hm?' }] },
      { type: 'error', error: { type: 'invalid_request_error', message: 'Too long.' } },
    ],
    [
      '../v1beta/models/m:generateContent',
      { contents: [{ parts: [{ text: 'Hm?' }] }] },
      { error: { code: 400, message: 'Too long.', status: 'INVALID_ARGUMENT' } },
    ],
  ])('passes a refusal on in the shape of the API: %s', async (path, body, refusal) => {
    const engine = cleanUp.use(await startTokenEngine(() => ({ status: 400, error: { message: 'Too long.' } })))
    const gateway = await serve(engine, await newFolder())
    const { url, session_id: id } = await gateway.open()
    const asked = new URL(`${url}/${path}`).pathname
    for (const streamed of [false, true])
      expect(await gateway.request('POST', asked, { model: 'm', ...body, stream: streamed })).toMatchObject({
        status: 400,
        ...refusal,
      })
    // It is no answer: the same request is asked again.
    expect(engine.requests).toHaveLength(2)
    expect(await gateway.request('GET', `/sessions/${id}`)).toMatchObject({ calls: 0 })
    expect(await gateway.request('GET', `/sessions/${id}/trace`)).toMatchObject({ status: 409 })
  })

  it('admits trainers by its token, agents by theirs, and refuses what it cannot do', async () => {
    const engine = cleanUp.use(await startTokenEngine(playing))
    const gateway = await serve(engine, await newFolder(), 'control-token')
    expect(await gateway.open()).toMatchObject({ status: 401 })
    const trainer = { authorization: 'Bearer control-token' }
    const session = await gateway.request('POST', '/sessions', {}, trainer)
    const agent = { authorization: `Bearer ${session.api_key}` }
    expect(await gateway.request('GET', `/sessions/${session.session_id}`, undefined, agent)).toMatchObject({
      status: 401,
    })
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hm?' }] }
    const keys = [{ authorization: 'Bearer other' }, agent, { 'x-api-key': session.api_key }]
    const answers = keys.map((headers) => gateway.request('POST', '/v1/chat/completions', body, headers))
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([401, 200, 200])
    // As clients join addresses.
    for (const path of ['//v1/chat/completions', `/${session.api_key}/v1//chat/completions/`])
      expect(await gateway.request('POST', path, body, agent)).toMatchObject({ status: 200 })
    expect(await gateway.request('GET', '//[')).toMatchObject({ status: 401 })
    const path = `/${session.api_key}/v1`
    expect(await gateway.request('POST', `${path}/embeddings`, body)).toMatchObject({ status: 404 })
    const google = `/${session.api_key}/v1beta/models/m:generateContent`
    const contents = [{ parts: [{ text: 'Hm?' }] }]
    for (const [api, asked, param] of [
      [`${path}/chat/completions`, { ...body, n: 2 }, 'n'],
      [`${path}/responses`, { model: 'm', input: 'Hm?', previous_response_id: 'resp_1' }, 'previous_response_id'],
      [`${path}/responses`, { model: 'm', input: 'Hm?', conversation: { id: 'c' } }, 'conversation'],
      [`${path}/responses`, { model: 'm', input: 'Hm?', background: true }, 'background'],
      [google, { contents, generationConfig: { candidateCount: 2 } }, undefined],
    ] as const) {
      const refused = await gateway.request('POST', api, asked)
      expect(refused.status).toBe(400)
      if (param)
        expect(refused.error).toMatchObject({ type: 'invalid_request_error', param, code: 'unsupported_value' })
      else
        expect(refused.error).toMatchObject({
          status: 'INVALID_ARGUMENT',
          message: expect.stringContaining('candidateCount'),
        })
    }
    expect(await gateway.request('POST', `${path}/messages/count_tokens`, body)).toMatchObject({
      status: 200,
      input_tokens: expect.any(Number),
    })
    expect(await gateway.request('POST', '/sessions', { session_id: '../x' }, trainer)).toMatchObject({ status: 400 })
    expect(engine.requests).toHaveLength(4)
  })

  it.each(ODD_REQUESTS)('answers any value in any field of a request: %s', async (path, body) => {
    const engine = cleanUp.use(await startTokenEngine(playing))
    const gateway = await serve(engine, await newFolder())
    const { api_key: key } = await gateway.open()
    for (const odd of oddOnes(body)) {
      const answer = await fetch(`${gateway.url}/${key}${path}`, { method: 'POST', body: JSON.stringify(odd) })
      // What no API has is refused by name, or is for the engine to judge.
      expect([answer.status === 400 || answer.ok, await answer.text(), odd]).toEqual([true, expect.any(String), odd])
    }
  })

  it('reads any value in any field of an answer', async () => {
    const answers = [...oddOnes({ content: 'So.', reasoning: 'Hm.', tool_calls: [call('guess')] })]
    const engine = cleanUp.use(await startTokenEngine((_, number) => answers[number] ?? { content: 'It is 7.' }))
    const gateway = await serve(engine, await newFolder())
    const { api_key: key } = await gateway.open()
    for (const i of answers.keys()) {
      const messages = [{ role: 'user', content: `Number ${i}.` }]
      expect(await gateway.request('POST', `/${key}/v1/chat/completions`, { messages })).toMatchObject({ status: 200 })
    }
  })
})
