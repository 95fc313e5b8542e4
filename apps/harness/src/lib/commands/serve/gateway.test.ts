import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createEngine, type EngineOptions } from '@episodic/models/gateway/engine'
import { openGateway } from '@episodic/models/gateway/gateway-server'
import { openGatewaySessions } from '@episodic/models/gateway/gateway-sessions'
import { afterEach, describe, expect, it } from 'vitest'
import {
  chatOfOpenAi,
  generateContentOfAiSdk,
  messagesOfAiSdk,
  type Play,
  responsesOfOpenAi,
} from '../../../../../../interop/gateway/js-clients.ts'
import { startTokenEngine, type TokenEngine, thinkingGuess } from '../../../../../../interop/gateway/token-engine.ts'

let cleanUp = new AsyncDisposableStack()
afterEach(async () => {
  await cleanUp.disposeAsync()
  cleanUp = new AsyncDisposableStack()
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
async function serve(engine: Pick<TokenEngine, 'url'>, folder: string, options: Partial<EngineOptions> = {}) {
  const own = new AsyncDisposableStack()
  cleanUp.use(own)
  const asked = own.use(createEngine({ baseUrl: engine.url, ...options }))
  const sessions = own.use(await openGatewaySessions(folder, asked))
  const { url, controlToken } = own.use(await openGateway({ sessions, port: 0 }))
  const trainer = { authorization: `Bearer ${controlToken}` }
  const request = async (
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = path.startsWith('/sessions') ? trainer : {},
  ): Promise<Body> => {
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: answer.status, ...((await answer.json()) as object) }
  }
  return {
    url,
    trainer,
    request,
    open: (body: object = {}): Promise<Session> => request('POST', '/sessions', body),
    stop: () => own.disposeAsync(),
  }
}

const AGENTS: Readonly<Record<string, Play>> = {
  'chat completions of openai': chatOfOpenAi,
  'Responses of openai': responsesOfOpenAi,
  'Messages of the AI SDK': messagesOfAiSdk,
  'generateContent of the AI SDK': generateContentOfAiSdk,
}

/** Plays two turns with a client: a question, a call of a tool and its result. Returns the last text. */
const play = async (agent: Play, { api_key: key }: Session, root: string, isStreamed: boolean) =>
  (await agent({ root, key, isStreamed })).at(-1)
const chat = play.bind(null, chatOfOpenAi)

describe('openGateway', () => {
  it.each(Object.keys(AGENTS).flatMap((name) => [false, true].map((isStreamed) => [name, isStreamed] as const)))(
    'keeps the tokens of an agent that speaks %s (stream: %s), and begins each prompt with them',
    async (name, isStreamed) => {
      const engine = cleanUp.use(await startTokenEngine(playing))
      const gateway = await serve(engine, await newFolder())
      const session = await gateway.open({ metadata: { task: 't1' } })
      expect(await play(AGENTS[name]!, session, gateway.url, isStreamed)).toBe('It is 7.')
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
      expect(turns[0].request.tools[0].function).toMatchObject({ name: 'guess', parameters })
      // The engine sees its own message, as it wrote it, with its tokens.
      const [, back] = engine.requests
      expect(back!.messages.find(({ role }) => role === 'assistant')).toMatchObject({
        content: 'I guess.',
        reasoning_content: 'Half of it.',
        tool_calls: [{ function: { name: 'guess', arguments: '{"value" :  7}' } }],
        generation_token_ids: engine.sampled[0]!.ids,
      })
      expect(back!.messages.at(-1)).toMatchObject({ role: 'tool', content: 'It is higher.' })
      expect(back).toMatchObject({ logprobs: true, return_token_ids: true })
      expect(back).not.toHaveProperty('stream')
    },
  )

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
    const gateway = await serve(engine, await newFolder())
    const { trainer } = gateway
    expect(await gateway.request('POST', '/sessions', {}, {})).toMatchObject({ status: 401 })
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

  it('lets neither an agent nor a web page reach a route of trainers, or the session of another agent', async () => {
    const engine = cleanUp.use(await startTokenEngine(playing))
    const gateway = await serve(engine, await newFolder())
    const [own, other] = [await gateway.open({ session_id: 'own' }), await gateway.open({ session_id: 'other' })]
    const agent = { authorization: `Bearer ${own.api_key}` }
    const routes = [
      ['POST', '/sessions', { session_id: 'other' }],
      ['GET', '/sessions/other', undefined],
      ['GET', '/sessions/other/trace', undefined],
      ['GET', '//sessions//other/sequences/', undefined],
      ['PUT', '/sessions/own/reward', { reward: 1_000 }],
      ['DELETE', '/sessions/other', undefined],
      ['PUT', `/${own.api_key}/v1/../../sessions/own/reward`, { reward: 1_000 }],
    ] as const
    const others: Record<string, string>[] = [{}, agent, { 'x-api-key': own.api_key }, { authorization: 'Bearer null' }]
    for (const headers of others)
      for (const [method, path, body] of routes)
        expect(await gateway.request(method, path, body, headers)).toMatchObject({ status: 401 })
    const page = { ...gateway.trainer, origin: 'http://evil.example', 'content-type': 'text/plain' }
    const asked = { model: 'm', messages: [{ role: 'user', content: 'Hm?' }] }
    for (const [method, path, body] of [...routes, ['POST', `/${own.api_key}/v1/chat/completions`, asked] as const])
      expect(await gateway.request(method, path, body, page)).toMatchObject({ status: 403 })
    const rebound = await send(gateway.url, 'GET /sessions/own HTTP/1.1', {
      ...gateway.trainer,
      host: 'evil.example',
    })
    expect(rebound).toMatch(/^HTTP\/1\.1 403/)
    for (const { session_id: id, api_key: key } of [own, other]) {
      expect(await gateway.request('GET', `/sessions/${id}`)).toMatchObject({ reward: null, calls: 0 })
      expect(await gateway.open({ session_id: id })).toMatchObject({ api_key: key })
    }
    expect(engine.requests).toHaveLength(0)
  })

  it('reads nothing of a body before a token, and large ones within what may be held, chunked or not', async () => {
    const engine = cleanUp.use(await startTokenEngine(playing))
    const gateway = await serve(engine, await newFolder())
    const session = await gateway.open()
    for (const length of ['transfer-encoding: chunked', 'content-length: 60000000'])
      for (const line of ['POST /sessions HTTP/1.1', 'POST /v1/chat/completions HTTP/1.1'])
        expect(await send(gateway.url, line, {}, `${length}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 401/)
    // Without a length, each counts as the largest until it is read.
    const content = 'x'.repeat(2_000_000)
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })
    const ask = async () => {
      const chunks = new Blob([body]).stream()
      const url = `${session.url}/chat/completions`
      return (await fetch(url, { method: 'POST', body: chunks, duplex: 'half' } as RequestInit)).status
    }
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200])
    expect(engine.requests.map(({ messages }) => messages[0]!.content)).toEqual([content, content, content])
  })

  it('takes tokens from the engine alone, and none from an agent', async () => {
    const engine = cleanUp.use(await startTokenEngine(playing))
    const gateway = await serve(engine, await newFolder())
    const { api_key: key } = await gateway.open()
    const forged = { prompt_token_ids: [1], generation_token_ids: [2], generation_log_probs: [0] }
    const messages = [...QUESTION, { role: 'assistant', content: 'No.', ...forged }, ...QUESTION]
    await gateway.request('POST', `/${key}/v1/chat/completions`, { model: 'm', messages })
    expect(JSON.stringify(engine.requests[0])).not.toContain('generation_token_ids')
  })

  describe('with a key of the engine', () => {
    const KEY = 'sk-Engine/0123456789+abcdef=='
    const FORMS = [
      KEY,
      encodeURIComponent(KEY),
      Buffer.from(KEY).toString('hex'),
      Buffer.from(KEY).toString('base64'),
      Buffer.from(`user:${KEY}`).toString('base64'),
      [...KEY].map((letter) => `\\u00${letter.codePointAt(0)!.toString(16)}`).join(''),
      `${KEY.slice(0, 9)}*****${KEY.slice(-9)}`,
    ]
    /** What nobody may read: any six letters of the key. */
    const PARTS = [KEY, Buffer.from(KEY).toString('hex'), Buffer.from(KEY).toString('base64').slice(4, -4)].flatMap(
      (form) => Array.from({ length: form.length - 5 }, (_, at) => form.slice(at, at + 6)),
    )
    const read = (text: string) =>
      text + text.replace(/\\u00([\da-f]{2})/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`)))

    it.each([400, 401, 403, 404, 429, 500])(
      'passes none of it on in an error %i, in the errors and headers of any API',
      async (status) => {
        for (const form of FORMS) {
          const engine = cleanUp.use(
            await startEngineOf((_, response) => {
              response.setHeader('retry-after', KEY)
              response
                .writeHead(status, KEY)
                .end(`{"error":{"message":"Incorrect API key provided: ${form}. Too bad."}}`)
            }),
          )
          const gateway = await serve(engine, await newFolder(), { apiKey: KEY })
          const { api_key: key } = await gateway.open()
          for (const [path, body] of ODD_REQUESTS) {
            const answer = await fetch(`${gateway.url}/${key}${path}`, { method: 'POST', body: JSON.stringify(body) })
            expect(answer.status).toBe(status)
            const said = JSON.stringify([await answer.text(), answer.statusText, ...answer.headers])
            expect(PARTS.filter((part) => read(said).includes(part))).toEqual([])
          }
          await gateway.stop()
        }
      },
    )

    it('keeps none of it in an answer, a list of models, a trace or its folder', async () => {
      const folder = await newFolder()
      const said = FORMS.slice(0, -1).join(' ')
      const engine = cleanUp.use(
        await startEngineOf((incoming, response) => {
          const content = `{"content":"It is ${said}.","reasoning_content":"${said}","${KEY}":"${KEY}"}`
          const head = `{"id":"${KEY}","model":"${KEY}","data":[{"id":"m"},{"id":"${KEY}"}]`
          const ids = '"prompt_token_ids":[1],"choices":[{"index":0,"finish_reason":"stop","token_ids":[2]'
          const logprobs = '"logprobs":{"content":[{"token":"x","logprob":-1}]}'
          response.setHeader('content-type', 'application/json')
          if (incoming.method === 'GET') return response.end(`${head}}`)
          response.end(`${head},${ids},${logprobs},"message":${content}}]}`)
        }),
      )
      const gateway = await serve(engine, folder, { apiKey: KEY })
      const session = await gateway.open({ session_id: 'one' })
      const texts: string[] = []
      for (const [path, body] of ODD_REQUESTS) {
        const answer = await fetch(`${gateway.url}/${session.api_key}${path}`, {
          method: 'POST',
          body: JSON.stringify(body),
        })
        expect(answer.status).toBe(200)
        texts.push(JSON.stringify([await answer.text(), ...answer.headers]))
      }
      texts.push(JSON.stringify(await gateway.request('GET', `/${session.api_key}/v1/models`)))
      for (const part of ['', '/trace', '/sequences'])
        texts.push(JSON.stringify(await gateway.request('GET', `/sessions/one${part}`)))
      for (const name of await readdir(folder, { recursive: true }))
        texts.push(await readFile(join(folder, name), 'utf8').catch(() => name))
      expect(texts.length).toBeGreaterThan(8)
      for (const text of texts) expect(FORMS.filter((form) => read(text).includes(form))).toEqual([])
    })
  })

  it('lists the models of the engine in the form of each API', async () => {
    const engine = cleanUp.use(
      await startEngineOf((_, response) =>
        response.end('{"object":"list","data":[{"id":"org/model","root":"/secret"}]}'),
      ),
    )
    const gateway = await serve(engine, await newFolder())
    const { api_key: key } = await gateway.open()
    const get = (path: string, headers = {}) => gateway.request('GET', `/${key}${path}`, undefined, headers)
    const openAi = { id: 'org/model', object: 'model', created: 0, owned_by: 'engine' }
    expect(await get('/v1/models')).toEqual({ status: 200, object: 'list', data: [openAi] })
    for (const name of ['org/model', 'org%2Fmodel'])
      expect(await get(`/v1/models/${name}`)).toEqual({ status: 200, ...openAi })
    expect(await get('/v1/models/other')).toMatchObject({
      status: 404,
      error: { message: 'The engine has no model other.' },
    })
    expect(await get('/v1/models', { 'anthropic-version': '2023-06-01' })).toMatchObject({
      data: [{ type: 'model', id: 'org/model' }],
      has_more: false,
      last_id: 'org/model',
    })
    expect(await get('/v1beta/models')).toMatchObject({
      models: [{ name: 'models/org/model', supportedGenerationMethods: expect.arrayContaining(['generateContent']) }],
    })
    expect(await gateway.request('GET', '/v1/models', undefined, {})).toMatchObject({ status: 401 })
  })

  it('sends tokens again to a model that ignored them once another engine may answer, and to other models', async () => {
    let splices = false
    const engine = cleanUp.use(await startTokenEngine(playing))
    const other = cleanUp.use(await startTokenEngine(playing, { splices: false }))
    let isGone = false
    // One address, before two engines.
    const front = cleanUp.use(
      await startEngineOf(async (incoming, response) => {
        if (isGone) return void response.destroy()
        const { model } = JSON.parse(incoming.body)
        const to = splices || model === 'new' ? engine : other
        const answer = await fetch(`${to.url}/chat/completions`, { method: 'POST', body: incoming.body })
        response.setHeader('content-type', 'application/json')
        response.end(await answer.text())
      }),
    )
    const gateway = await serve(front, await newFolder())
    const hasTokens = async (model: string) => {
      const { api_key: key } = await gateway.open()
      const messages: object[] = [...QUESTION]
      for (let i = 0; i < 2; i++) {
        const { choices } = await gateway.request('POST', `/${key}/v1/chat/completions`, { model, messages })
        messages.push(choices[0].message, { role: 'tool', tool_call_id: 'call_1', content: 'Right.' })
      }
      const to = splices || model === 'new' ? engine : other
      return JSON.stringify(to.requests.at(-1)).includes('generation_token_ids')
    }
    for (let i = 0; i < 8; i++) expect(await hasTokens('old')).toBe(true)
    expect(await hasTokens('old')).toBe(false)
    expect(await hasTokens('new')).toBe(true)
    isGone = true
    const { api_key: key } = await gateway.open()
    expect(
      await gateway.request('POST', `/${key}/v1/chat/completions`, { model: 'old', messages: QUESTION }),
    ).toMatchObject({ status: 502 })
    isGone = false
    splices = true
    expect(await hasTokens('old')).toBe(true)
  })
})

const QUESTION = [{ role: 'user', content: 'Which?' }]

type Answering = (incoming: { method: string | undefined; body: string }, response: ServerResponse) => unknown

/** Starts an engine that answers with this function. */
async function startEngineOf(answer: Answering): Promise<Pick<TokenEngine, 'url'> & AsyncDisposable> {
  const server = createServer(async (incoming, response) => {
    await answer({ method: incoming.method, body: await text(incoming) }, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Sends the head of a request as it is written. Resolves with what is answered first. */
async function send(
  url: string,
  line: string,
  headers: Readonly<Record<string, string>>,
  end = '\r\n',
): Promise<string> {
  const { port, host } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${line}\r\n${lines.join('')}${end}`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return answer.toString()
}
