import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request as requestOf,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { HarnessError } from '@episodic/run/base/harness-error'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { calling, saying, startChatServer } from '../chat-server.fixture.ts'
import { type ModelProxyOptions, openModelProxy, type RecordedModels } from './model-proxy.ts'

const KEY = 'sk-nobody-may-read-this'
const MESSAGES: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hm?' }]

let cleanUp = new AsyncDisposableStack()
afterEach(async () => {
  await cleanUp.disposeAsync()
  cleanUp = new AsyncDisposableStack()
})

/** Starts the true server of a model. Returns the root of its API. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUp.defer(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

async function open(answer: RequestListener, options: ModelProxyOptions = {}): Promise<RecordedModels> {
  const proxy = cleanUp.use(await openModelProxy({ baseUrl: await serve(answer), ...options }))
  return cleanUp.use(proxy.open())
}

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function client({ url }: RecordedModels): OpenAI {
  return new OpenAI({ baseURL: url, apiKey: KEY, maxRetries: 0 })
}

function ask({ url }: RecordedModels, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
}

/** Sends a request whose path stays as it is written. Resolves with the status. */
async function post({ url }: RecordedModels, path: string): Promise<number | undefined> {
  const { hostname, port, pathname } = new URL(url)
  const request = requestOf({ hostname, port, path: `${pathname}${path}`, method: 'POST' })
  request.end(JSON.stringify({ model: 'm', messages: MESSAGES }))
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  await text(answer)
  return answer.statusCode
}

const completionsOf = (models: RecordedModels) => models.answers().map(({ answer }) => answer)

describe('openModelProxy', () => {
  it('puts the options of a run in the place of what a program asks, compressed or not, and records them', async () => {
    const seen: object[] = []
    const models = await open(
      async (request, response) => {
        seen.push(JSON.parse(await text(request)))
        const choice = { index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }
        json(response, { id: 'c', model: 'm', choices: [choice] })
      },
      { options: { reasoning_effort: 'low', seed: null } },
    )
    const body = { model: 'm', messages: MESSAGES, seed: 7, user: null }
    await ask(models, body)
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
    await fetch(`${models.url}/chat/completions`, { method: 'POST', headers, body: gzipSync(JSON.stringify(body)) })
    await fetch(`${models.url}/embeddings`, { method: 'POST', body: '{"input":"x"}' })
    const asked = { model: 'm', messages: MESSAGES, user: null, reasoning_effort: 'low' }
    expect(seen).toEqual([asked, asked, { input: 'x' }])
    expect(models.answers()).toHaveLength(2)
  })

  it('passes each part of a stream on before the next comes, and records the whole', async () => {
    const isRead = Promise.withResolvers<void>()
    const chunk = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
    const models = await open(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk({ role: 'assistant', content: 'Let me ' }))
      await isRead.promise
      const call = { index: 0, id: 'a', type: 'function', function: { name: 'guess', arguments: '{"value":' } }
      const rest = `${chunk({ content: 'see. Größe' })}${chunk({ tool_calls: [call] })}`
      const more = chunk({ tool_calls: [{ index: 0, function: { arguments: '7}' } }] })
      const bytes = Buffer.from(`${rest}${more}${chunk({}, 'tool_calls')}data: [DONE]\n\n`)
      // In the middle of a letter.
      const middle = bytes.indexOf('ö') + 1
      response.write(bytes.subarray(0, middle))
      response.end(bytes.subarray(middle))
    })
    const stream = await client(models).chat.completions.create({ model: 'm', messages: MESSAGES, stream: true })
    let said = ''
    for await (const { choices } of stream) {
      said += choices[0]?.delta.content ?? ''
      isRead.resolve()
    }
    expect(said).toBe('Let me see. Größe')
    expect(completionsOf(models)).toMatchObject([
      {
        text: said,
        model: 'm',
        asked: 'm',
        finish: 'tool_calls',
        calls: [{ id: 'a', name: 'guess', arguments: '{"value":7}', played: false }],
        request: { messages: MESSAGES, tools: [] },
      },
    ])
  })

  it.each([
    [
      'of vLLM',
      {
        prompt_token_ids: [1, 2, 3],
        choice: { token_ids: [4, 5, 6], logprobs: { content: [-0.5, -0.25, -1].map((logprob) => ({ logprob })) } },
      },
      { promptTokenIds: [1, 2, 3], tokenIds: [4, 5, 6], logProbabilities: [-0.5, -0.25, -1] },
    ],
    [
      'of SGLang, which names the versions of its tokens at the end',
      { sglext: { weight_version: '13', weight_versions: [{ version: '12' }, { version: '13' }] } },
      { policyVersion: '12' },
    ],
    [
      'of a server that names its version with each part',
      { metadata: { weight_version: 'step-3' } },
      { policyVersion: 'step-3' },
    ],
    ['of a server without versions', { metadata: { weight_version: 'default' } }, {}],
  ])('records tokens and versions of a stream as those of a plain answer: %s', async (_, extra, recorded) => {
    const said = calling('guess', { value: 7 }, extra)
    const server = cleanUp.use(await startChatServer(() => said))
    const proxy = cleanUp.use(await openModelProxy({ baseUrl: server.url }))
    const models = cleanUp.use(proxy.open())
    for (const stream of [false, true]) await (await ask(models, { model: 'm', messages: MESSAGES, stream })).text()
    const [plain, streamed] = completionsOf(models).map(({ time: _, ...completion }) => completion)
    expect(plain).toMatchObject(recorded)
    expect(Object.keys(plain!).filter((name) => /[tT]okenIds|logP|policyV/.test(name))).toEqual(Object.keys(recorded))
    expect(streamed).toEqual(plain)
  })

  it('keeps the first version that a stream names, and the tokens that came before a program hung up', async () => {
    const closed = Promise.withResolvers<void>()
    const part = (id: number, version: string) => {
      const choice = {
        index: 0,
        delta: { content: `${id}` },
        token_ids: [id],
        logprobs: { content: [{ logprob: -id }] },
      }
      return `data: ${JSON.stringify({ model: 'm', metadata: { weight_version: version }, choices: [choice] })}\n\n`
    }
    const models = await open((_, response) => {
      response.on('close', () => closed.resolve())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(part(1, 'step-3') + part(2, 'step-4'))
    })
    const gone = new AbortController()
    const answer = await ask(models, { model: 'm', messages: MESSAGES, stream: true }, gone.signal)
    const reader = answer.body!.getReader()
    for (let read = ''; !read.includes('step-4'); ) read += Buffer.from((await reader.read()).value!).toString()
    gone.abort()
    await closed.promise
    await expect
      .poll(() => completionsOf(models))
      .toMatchObject([{ text: '12', tokenIds: [1, 2], logProbabilities: [-1, -2], policyVersion: 'step-3' }])
  })

  it('passes errors on as they are, and records them before the answer to the same request', async () => {
    const errors = [429, 503]
    const models = await open((_, response) => {
      const status = errors.shift()
      if (status) json(response, { error: { message: `Not now: ${status}.` } }, status)
      else json(response, saying({ role: 'assistant', content: 'Yes.' }))
    })
    const body = { model: 'm', messages: MESSAGES }
    for (const status of [429, 503]) {
      const answer = await ask(models, body)
      expect(answer.status).toBe(status)
      expect(await answer.json()).toEqual({ error: { message: `Not now: ${status}.` } })
    }
    expect(completionsOf(models)).toMatchObject([{ model: 'm', text: null, tries: [{ status: 429 }, { status: 503 }] }])
    expect(completionsOf(models)[0]).not.toHaveProperty('time')
    expect(await (await ask(models, body)).json()).toMatchObject({ id: 'chat_1' })
    expect(completionsOf(models)).toMatchObject([
      {
        text: 'Yes.',
        tries: [
          { status: 429, code: 'http' },
          { status: 503, code: 'http' },
        ],
        time: { milliseconds: expect.any(Number), waited: expect.any(Number) },
      },
    ])
  })

  it.each([false, true])('records responses of the newer API (stream: %s)', async (stream) => {
    const said = {
      id: 'resp_1',
      object: 'response',
      model: 'served',
      status: 'completed',
      output: [
        { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'Half of it.' }] },
        { type: 'message', id: 'ms', role: 'assistant', content: [{ type: 'output_text', text: 'Let me see.' }] },
        { type: 'function_call', id: 'fc', call_id: 'call_7', name: 'guess', arguments: '{"value":7}' },
        { type: 'web_search_call', id: 'ws', status: 'completed' },
      ],
      usage: {
        input_tokens: 30,
        output_tokens: 20,
        input_tokens_details: { cached_tokens: 10 },
        output_tokens_details: { reasoning_tokens: 12 },
      },
    }
    const models = await open((_, response) => {
      if (!stream) return json(response, said)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const events = [
        { type: 'response.created', response: { ...said, status: 'in_progress', output: [] } },
        { type: 'response.output_text.delta', item_id: 'ms', delta: 'The next is "response.completed".' },
        { type: 'response.completed', response: said },
      ]
      for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      response.end()
    })
    const input = [{ role: 'user' as const, content: 'Hm?' }]
    const tools = [{ type: 'function' as const, name: 'guess', parameters: {}, strict: false }]
    const body = { model: 'm', instructions: 'Play.', input, tools }
    if (stream) for await (const _ of await client(models).responses.create({ ...body, stream: true }));
    else expect((await client(models).responses.create(body)).output_text).toBe('Let me see.')
    expect(completionsOf(models)).toEqual([
      {
        model: 'served',
        asked: 'm',
        responseId: 'resp_1',
        promptTokens: 30,
        cachedTokens: 10,
        completionTokens: 20,
        reasoningTokens: 12,
        cost: null,
        text: 'Let me see.',
        reasoning: 'Half of it.',
        calls: [{ id: 'call_7', name: 'guess', arguments: '{"value":7}', played: false }],
        finish: 'completed',
        time: { milliseconds: expect.any(Number), waited: 0 },
        request: {
          messages: [{ role: 'system', content: 'Play.' }, ...input],
          tools: [{ type: 'function', function: { name: 'guess', parameters: {}, strict: false } }],
        },
      },
    ])
  })

  it('records a response that failed, or whose end is missing, as a failed try', async () => {
    const bodies = [
      { type: 'response.failed', response: { object: 'response', status: 'failed', output: [], error: {} } },
      { type: 'response.output_text.delta', delta: 'So' },
    ]
    const models = await open((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`data: ${JSON.stringify(bodies.shift())}\n\n`)
    })
    for (let i = 0; i < 2; i++) {
      const answer = await fetch(`${models.url}/responses`, { method: 'POST', body: '{"model":"m","input":"Hm?"}' })
      await answer.text()
    }
    expect(completionsOf(models)).toMatchObject([
      { text: null, tries: [{ code: 'incomplete' }, { code: 'incomplete' }], request: { messages: MESSAGES } },
    ])
  })

  it('answers for a server that cannot be reached, and records that', async () => {
    const proxy = cleanUp.use(await openModelProxy({ baseUrl: 'http://127.0.0.1:1/v1' }))
    const models = cleanUp.use(proxy.open())
    const answer = await ask(models, { model: 'm', messages: MESSAGES })
    expect(answer.status).toBe(502)
    expect(await answer.json()).toMatchObject({
      error: { message: 'The server of the model at 127.0.0.1:1 did not answer: ECONNREFUSED.' },
    })
    expect(completionsOf(models)).toMatchObject([{ tries: [{ status: null, code: 'ECONNREFUSED' }] }])
  })

  it('breaks off where the server does, and records no answer', async () => {
    const models = await open((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 })
      response.write('{"id":', () => response.destroy())
    })
    const answer = await ask(models, { model: 'm', messages: MESSAGES })
    await expect(answer.text()).rejects.toThrow()
    expect(completionsOf(models)).toMatchObject([{ text: null, tries: [{ status: null, code: 'incomplete' }] }])
  })

  it('ends the request at the server when the program hangs up, and keeps what the program has read', async () => {
    const closed = Promise.withResolvers<void>()
    const models = await open((_, response) => {
      response.on('close', () => closed.resolve())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta: { content: 'So' } }] })}\n\n`)
    })
    const gone = new AbortController()
    const answer = await ask(models, { model: 'm', messages: MESSAGES, stream: true }, gone.signal)
    await answer.body!.getReader().read()
    gone.abort()
    await closed.promise
    await expect.poll(() => completionsOf(models)).toMatchObject([{ text: 'So', asked: 'm' }])
    expect(completionsOf(models)[0]).not.toHaveProperty('finish')
  })

  it('ends all requests of an episode when its address is closed, which then is unknown', async () => {
    const closed = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const models = await open((_, response) => {
      response.on('close', () => closed.resolve())
      asked.resolve()
    })
    const answer = ask(models, { model: 'm', messages: MESSAGES })
    await asked.promise
    models[Symbol.dispose]()
    await closed.promise
    expect((await answer).status).toBe(502)
    const late = await ask(models, { model: 'm', messages: MESSAGES })
    expect(late.status).toBe(404)
    expect(completionsOf(models)).toMatchObject([{ tries: [{ code: 'aborted' }] }])
  })

  it('has one port for all episodes, and keeps them apart', async () => {
    const baseUrl = await serve(async (request, response) => {
      const { messages } = JSON.parse(await text(request))
      json(response, saying({ role: 'assistant', content: messages[0].content }))
    })
    const proxy = cleanUp.use(await openModelProxy({ baseUrl }))
    const episodes = Array.from({ length: 60 }, () => cleanUp.use(proxy.open()))
    expect(new Set(episodes.map(({ url }) => new URL(url).port)).size).toBe(1)
    expect(new Set(episodes.map(({ url }) => url)).size).toBe(60)
    await Promise.all(
      episodes.map(async (models, i) => {
        const answer = await ask(models, { model: 'm', messages: [{ role: 'user', content: `I am ${i}.` }] })
        await answer.text()
      }),
    )
    expect(episodes.map((models) => completionsOf(models).map(({ text }) => text))).toEqual(
      episodes.map((_, i) => [`I am ${i}.`]),
    )
  })

  it('refuses a request that is too large, which its server never sees', async () => {
    let requests = 0
    const models = await open(
      (_, response) => {
        requests += 1
        json(response, saying({ role: 'assistant', content: 'Yes.' }))
      },
      { largestRequest: 1_000 },
    )
    const answer = await ask(models, { model: 'm', messages: [{ role: 'user', content: 'x'.repeat(5_000_000) }] })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ error: { message: 'The request has more than 1000 bytes.' } })
    expect(requests).toBe(0)
    expect(models.answers()).toEqual([])
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('records a request that is compressed as %s, and sends it on as it came', async (encoding, compress) => {
    const seen: { encoding: string | undefined; body: Buffer }[] = []
    const models = await open(async (request, response) => {
      seen.push({ encoding: request.headers['content-encoding'], body: await buffer(request) })
      json(response, saying({ role: 'assistant', content: 'Yes.' }))
    })
    const body = compress(JSON.stringify({ model: 'm', messages: MESSAGES, api_key: KEY }))
    const headers = { 'content-encoding': encoding }
    expect((await fetch(`${models.url}/chat/completions`, { method: 'POST', headers, body })).status).toBe(200)
    expect(seen).toEqual([{ encoding, body }])
    expect(completionsOf(models)[0]?.request?.messages).toEqual(MESSAGES)
    expect(models.redact(`It is ${KEY}.`)).toBe('It is [key].')
  })

  it('refuses a compressed request that it cannot read, or that is too large to be read', async () => {
    const models = await open((_, response) => json(response, {}), { largestRequest: 10_000 })
    const post = async (encoding: string, body: Buffer) => {
      const headers = { 'content-encoding': encoding }
      return (await fetch(`${models.url}/chat/completions`, { method: 'POST', headers, body })).status
    }
    expect(await post('zstd', Buffer.from('{}'))).toBe(415)
    expect(await post('gzip', Buffer.from('{}'))).toBe(415)
    expect(await post('gzip', gzipSync(' '.repeat(1_000_000)))).toBe(415)
    expect(models.answers()).toEqual([])
  })

  it('holds the messages of a growing conversation once, and takes the key of the program out of texts', async () => {
    const models = await open((_, response) => json(response, calling('guess', { value: 1 })))
    const messages: object[] = [...MESSAGES]
    for (let i = 0; i < 3; i++) {
      await (await ask(models, { model: 'm', messages, tools: [{ type: 'function' }] })).text()
      messages.push({ role: 'assistant', content: 'again' })
    }
    const [first, second, third] = completionsOf(models).map(({ request }) => request!)
    expect(third!.messages).toEqual(messages.slice(0, 3))
    expect(third!.messages[0]).toBe(first!.messages[0])
    expect(third!.messages[1]).toBe(second!.messages[1])
    expect(third!.messages[2]).not.toBe(second!.messages[1])
    expect(third!.tools[0]).toBe(first!.tools[0])
    expect(models.redact(`The key is ${KEY}.`)).toBe('The key is [key].')
  })

  it.each([
    '/chat/completions/',
    '/./chat/completions',
    '/x/../chat/completions',
    '/%2e/chat/./completions',
    '/x/%2E%2e/chat/completions',
    '//chat//completions',
    '/%63hat/completions',
    '/chat%2Fcompletions',
    '/chat%5ccompletions',
    '\\chat\\completions',
    '/Chat/COMPLETIONS',
    '/chat/completions#models',
  ])('records what it sends on, and sends it by the name that it has recorded: %s', async (path) => {
    const seen: (string | undefined)[] = []
    const models = await open(({ url }, response) => {
      seen.push(url)
      json(response, saying({ role: 'assistant', content: 'Yes.' }))
    })
    expect(await post(models, path)).toBe(200)
    expect(await post(models, `${path.replace(/#.*/, '')}?a=b%2Fc`)).toBe(200)
    expect(seen).toEqual(['/v1/chat/completions', '/v1/chat/completions?a=b%2Fc'])
    expect(completionsOf(models)).toMatchObject([{ text: 'Yes.' }, { text: 'Yes.' }])
  })

  it.each([
    '/../v1/../x',
    '/../../v1/chat/completions',
    '/..%2fv1/chat/completions',
    '/%2e%2e%5cadmin',
    '/chat/..%2f..',
  ])('sends nothing on that leaves the root of the API: %s', async (path) => {
    let requests = 0
    const models = await open((_, response) => {
      requests += 1
      json(response, saying({ role: 'assistant', content: 'Yes.' }))
    })
    expect(await post(models, path)).toBe(404)
    expect(requests).toBe(0)
    expect(models.answers()).toEqual([])
  })

  it.each(['/models/a%2Fb', '/models/a//b/', '/models/50%25%zz'])(
    'sends other paths on as they are: %s',
    async (path) => {
      const seen: (string | undefined)[] = []
      const models = await open(({ url }, response) => {
        seen.push(url)
        json(response, {})
      })
      expect(await post(models, path)).toBe(200)
      expect(seen).toEqual([`/v1${path}`])
    },
  )

  it.each(['', 'localhost:8000', 'ftp://127.0.0.1/v1'])('rejects "%s" as the root of an API', async (baseUrl) => {
    const error = await openModelProxy({ baseUrl }).then(
      () => null,
      (error: unknown) => error,
    )
    expect(HarnessError.is(error, 'option-invalid')).toBe(true)
  })
})
