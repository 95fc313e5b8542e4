import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { HeldBytes } from '@episodic/mcp-server/http'
import type { JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { invalidOption } from '@episodic/run/base/harness-error'
import { jsonOf } from '@episodic/run/base/json'
import { chatCompletions, type RecordedApi } from '../apis/recorded-api.ts'
import { responses } from '../apis/responses-api.ts'
import type { EpisodeJournal } from '../journal/model-journal.ts'
import type { Prices } from '../model-options.ts'
import { createModelRecorder, type ModelRecorder, type RecordedRequest } from '../record/model-recorder.ts'
import { sendRequest } from '../requests/send-request.ts'
import { createSentKeys, type SentKeys } from '../requests/sent-keys.ts'
import { codeOf } from '../requests/tries.ts'
import { withOptions } from '../requests/with-options.ts'
import { createEngine } from './engine.ts'
import { GatewaySession } from './gateway-session.ts'
import { decoded, findCall, serveCall } from './serve-call.ts'

export type ModelProxy = Awaited<ReturnType<typeof openModelProxy>>
export type RecordedModels = ReturnType<ModelProxy['open']>

export interface ModelProxyOptions {
  /** Root of the API to which requests are sent on. Default: `OPENAI_BASE_URL`, `OPENAI_API_BASE`, or else OpenAI. */
  readonly baseUrl?: string | null
  /** Default: `null`, costs are unknown. */
  readonly prices?: Prices | null
  /**
   * Whether each answer is asked for with its tokens. Chat completions, Responses, Messages and generateContent are
   * then translated to chat completions, with the key of this process. Default: `false`.
   */
  readonly tokens?: boolean
  /**
   * Fields of every recorded request, in the place of what the program asked; `null` takes one out. Default: requests
   * are sent on as they come.
   */
  readonly options?: JsonObject | undefined
  readonly largestRequest?: number
}

const OPENAI = 'https://api.openai.com/v1'
const LARGEST_REQUEST = 32 * 1024 ** 2
/** Bytes of large requests that are held at once, over all episodes. Each is held until it is answered. */
const HELD_REQUESTS = 128 * 1024 ** 2
/** Milliseconds for which an idle connection of a program stays open. Clients give theirs up before. */
const IDLE = 120_000

const APIS: ReadonlyMap<string, RecordedApi> = new Map([
  ['chat/completions', chatCompletions],
  ['responses', responses],
])

interface Opened {
  readonly recorder: ModelRecorder
  readonly keys: SentKeys
  readonly session: GatewaySession | null
  /** Aborts when the address is closed. */
  readonly signal: AbortSignal
}

/**
 * Opens a proxy on a port of its own, for any number of episodes. It sends requests on as they come, but for `options`,
 * with their headers, and passes answers back as they come, streams too. It records chat completions and responses, and
 * neither keeps nor writes headers. With `tokens` it is a gateway before an engine.
 *
 * A server that cannot be reached is answered with 502, and a request that is too large with 413. Throws HarnessError
 * `option-invalid` if the root of the API is no URL.
 */
export async function openModelProxy(options: ModelProxyOptions = {}) {
  const { baseUrl, prices = null, tokens = false, options: fields, largestRequest = LARGEST_REQUEST } = options
  const upstream = upstreamOf(baseUrl ?? process.env.OPENAI_BASE_URL ?? process.env.OPENAI_API_BASE ?? OPENAI)
  const Agent = upstream.protocol === 'https:' ? HttpsAgent : HttpAgent
  const agent = new Agent({ keepAlive: true })
  const apiKey = process.env.OPENAI_API_KEY
  const engine = tokens
    ? createEngine({ baseUrl: upstream.root, apiKey, prices, ...(fields && { options: fields }) })
    : null
  const opened = new Map<string, Opened>()
  const held = new HeldBytes(HELD_REQUESTS)
  const server = createServer((incoming, response) => {
    // A program that has gone can be answered no more.
    void serve(incoming, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = IDLE
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = targetOf(incoming.url ?? '')
    const episode = target && opened.get(target.token)
    if (!episode) return refuse(response, 404, 'This address of models is not open.')
    using received = await held.receive(incoming, largestRequest)
    const { raw: body, plain } = received
    if (!body) return refuse(response, 413, `The request has more than ${largestRequest} bytes.`)
    if (!plain)
      return refuse(response, 415, 'The request is compressed so that it cannot be recorded. Send it as it is.')
    const value = jsonOf(plain.toString())
    episode.keys.add({ headers: incoming.headers, query: target.query, body: value })
    const call =
      episode.session && findCall(incoming, `${target.version}/${target.path}`, new URLSearchParams(target.query))
    if (call && episode.session && (isObject(value) || call.wants === 'models'))
      return await serveCall(call, Object(value) as JsonObject, episode.session, incoming, response)
    const api = incoming.method === 'POST' ? APIS.get(target.path) : undefined
    const changed = api && fields && isObject(value) ? withOptions(fields, value as JsonObject) : null
    const asked = changed ? Buffer.from(JSON.stringify(changed)) : plain
    const recorded = api ? episode.recorder.begin(api, asked, changed ?? value) : null
    // What is changed is no longer compressed.
    const { 'content-encoding': encoding, ...headers } = forwarded(incoming.headers)
    const sent = changed ? asked : body

    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const signal = AbortSignal.any([gone.signal, episode.signal])
    const answer = await sendRequest(`${upstream.root}${target.path && `/${target.path}`}${target.query}`, sent, {
      method: incoming.method ?? 'GET',
      // A compressed answer could not be read here.
      headers: {
        ...headers,
        ...(encoding !== undefined && !changed && { 'content-encoding': encoding }),
        'accept-encoding': 'identity',
        ...(sent.length > 0 && { 'content-length': sent.length }),
      },
      agent,
      signal,
    }).catch((error: unknown) => {
      const code = signal.aborted ? 'aborted' : codeOf(error)
      recorded?.fail(null, code)
      refuse(response, 502, `The server of the model at ${upstream.host} did not answer: ${code}.`)
      return null
    })
    if (answer) await passOn(answer, response, recorded, signal)
  }

  return {
    /**
     * Opens an address for one episode. Disposing it closes the address, and ends the requests that are not answered.
     *
     * @param journal - has the answers that an earlier process kept of the episode. Default: nothing is kept.
     */
    open(journal: Promise<EpisodeJournal> | null = null) {
      const token = randomBytes(32).toString('base64url')
      const recorder = createModelRecorder(prices)
      const closed = new AbortController()
      const keys = createSentKeys()
      const session =
        engine &&
        new GatewaySession({
          engine,
          journal,
          record: (chat) => recorder.begin(chatCompletions, Buffer.from(JSON.stringify(chat)), chat),
        })
      opened.set(token, { recorder, keys, session, signal: closed.signal })
      return {
        /** Root of an OpenAI-compatible API. Nobody else can guess it. */
        url: `${root}/${token}/v1`,
        /** The key of all APIs there; `null` where the program's own keys are sent on. */
        key: session && token,
        answers: () => recorder.answers(),
        /** Takes the keys that the program sent to its models, in headers, query or body, out of a text. */
        redact: keys.redact,
        [Symbol.dispose]() {
          opened.delete(token)
          closed.abort()
          session?.[Symbol.dispose]()
        },
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      agent.destroy()
      engine?.[Symbol.dispose]()
    },
  }
}

async function passOn(
  answer: IncomingMessage,
  response: ServerResponse,
  recorded: RecordedRequest | null,
  signal: AbortSignal,
): Promise<void> {
  const { statusCode: status = 502, statusMessage, headers } = answer
  const isGood = status >= 200 && status < 300
  // It was asked for none; one that is encoded nevertheless cannot be read here.
  const isEncoded = (headers['content-encoding'] ?? 'identity') !== 'identity'
  const received = isGood && !isEncoded ? recorded?.receive(/event-stream/.test(headers['content-type'] ?? '')) : null
  const length = headers['content-length']
  response.writeHead(status, statusMessage, { ...forwarded(headers), ...(length && { 'content-length': length }) })
  // The first part of a stream may come late.
  response.flushHeaders()
  let isCutOff = false
  answer.on('data', (part: Buffer) => received?.add(part))
  // Before the program learns of the end, and acts.
  answer.on('end', () => received?.end())
  answer.on('error', () => {
    // Nobody here has ended it, so it was the server.
    isCutOff = !signal.aborted
    if (isCutOff && isGood) recorded?.fail(null, 'incomplete')
  })
  try {
    await pipeline(answer, response)
  } catch {
    response.destroy()
    if (!isCutOff && !answer.readableEnded) received?.leave()
  }
  if (!isGood) recorded?.fail(status, 'http')
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response
    .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify({ error: { message, type: 'episodic_proxy_error', param: null, code: null } }))
}

/** Headers of one connection, which mean nothing on the next. */
const OWN_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

function forwarded(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name)))
}

/**
 * Returns what a request is for: the token of its episode, the version of the API, the path below its root without the
 * first slash, and the query with its question mark, or empty; `null` if that is nothing here. Servers differ in how
 * they read a path: some decode letters, join slashes or ignore the case. A path that any of them reads as that of a
 * recorded API is sent as its plain name, so that none reaches a model by another one.
 */
function targetOf(address: string) {
  const url = address.startsWith('/') ? URL.parse(`http://proxy${address}`) : null
  const { pathname = '' } = url ?? {}
  const [, token, version = '', path = ''] = VERSIONED.exec(pathname) ?? UNVERSIONED.exec(pathname) ?? []
  if (!url || token === undefined) return null
  const segments = decoded(path)
    .split(/[/\\]/)
    .filter((segment) => segment !== '' && segment !== '.')
  // It would leave the root of the API at a server that decodes it.
  if (segments.includes('..')) return null
  const name = segments.join('/').toLowerCase()
  return { token, version, path: APIS.has(name) ? name : path, query: url.search }
}

const VERSIONED = /^\/([^/]*)\/(v1(?:beta|alpha)?)(?:\/(.*))?$/
/** Paths of clients that add no version to the address of the API that they are given. */
const UNVERSIONED = /^\/([^/]*)()\/(messages|models\/[^/]+:\w+)$/

function upstreamOf(baseUrl: string): { readonly root: string; readonly host: string; readonly protocol: string } {
  if (URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol)) {
    const { host, protocol } = new URL(baseUrl)
    return { root: baseUrl.replace(/\/+$/, ''), host, protocol }
  }
  throw invalidOption(
    `OPENAI_BASE_URL is "${baseUrl}", which is not the http(s) URL of an OpenAI-compatible API. Correct it, or leave --record-models out.`,
  )
}
