import { type Denial, HeldBytes, type HttpRequest, type HttpResponse, openTokenPort } from '@episodic/mcp-server/http'
import { type Completion, type JsonObject, jsonObjectSchema, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { treeOf } from '@episodic/report/fold/token-tree'
import { sequenceFields, traceOf } from '@episodic/report/group/token-fields'
import { objectOf } from '@episodic/run/base/json'
import { z } from 'zod'
import type { GatewaySessions, OpenSession } from './gateway-sessions.ts'
import { findCall, type ReadCall, sendJson, serveCall } from './serve-call.ts'

export interface GatewayOptions {
  readonly sessions: GatewaySessions
  /** 0 for a free one. */
  readonly port: number
  /** Default: this machine alone. */
  readonly address?: string
  /** Host names that are served besides the address itself. Required if the address is a wildcard. */
  readonly allowedHosts?: readonly string[]
  /** What a trainer has to send as a bearer token. Default: a random one. */
  readonly controlToken?: string | undefined
}

/** Most bytes of a request of an agent, and of large ones that are held at once, of one agent and of all. */
const LARGEST_REQUEST = 64 * 1024 ** 2
const HELD_REQUESTS = 256 * 1024 ** 2
/** Most bytes of a request of a trainer: it has metadata or a reward. */
const LARGEST_CONTROL = 1024 ** 2
/** What the JSON of an agent may hold: a conversation has thousands of values, and other agents wait for its parser. */
const BOUNDS = { nesting: 256, values: 200_000 }
/** Seconds that all of a request may take to arrive: one may wait for the room of others. */
const REQUEST_SECONDS = 300

const openSchema = z.object({
  session_id: z
    .string()
    .regex(/^[\w.-]{1,128}$/, 'Write it with letters, digits, points and dashes.')
    .optional(),
  metadata: jsonObjectSchema.optional(),
})
const rewardSchema = z.object({ reward: z.number() })

/**
 * Serves sessions to trainers, who send the control token, and to agents the APIs of language models. An agent names
 * its session in the address, `/<token>/v1`, or as the key of its API, and reaches no other one. What it asks is
 * answered by the engine. Nothing of a body is read before its sender has shown a token.
 *
 * Rejects as `openTokenPort` does.
 */
export async function openGateway({ sessions, port, address = '127.0.0.1', ...options }: GatewayOptions) {
  const held = new HeldBytes(HELD_REQUESTS)
  const heldBy = new WeakMap<object, HeldBytes>()
  const server = await openTokenPort({ ...options, port, address, requestSeconds: REQUEST_SECONDS, answer: serve })
  const { origin: url, controlToken } = server

  async function serve(
    incoming: HttpRequest,
    response: HttpResponse,
    client: Denial | { readonly isTrainer: boolean; welcome(): void },
  ): Promise<void> {
    if ('status' in client) return refuse(response, client.status, client.message)
    // Clients that join addresses send slashes that follow each other; two at the start would begin a host.
    const asAsked = URL.parse((incoming.url ?? '').replace(/^\/+/, '/'), 'http://gateway')
    if (!asAsked) return refuse(response, 400, 'The address of this request is no path.')
    const { searchParams } = asAsked
    const pathname = asAsked.pathname.replace(/\/{2,}/g, '/')
    const [, first = '', id = '', part] = pathname.split('/')
    if (first === 'health') return sendJson(response, 200, { ok: true })
    if (first === 'sessions') {
      if (!client.isTrainer) return refuse(response, 401, ASK_TRAINER)
      using received = await held.receive(incoming, LARGEST_CONTROL)
      if (!received.plain) return refuse(response, 413, `The request has more than ${LARGEST_CONTROL} bytes.`)
      return await control(incoming.method ?? 'GET', id, part, objectOf(received.plain.toString()), response)
    }
    const byPath = sessions.findByToken(first)
    const asked =
      byPath ??
      keysOf(incoming, searchParams)
        .map(sessions.findByToken)
        .find((each) => each !== undefined)
    if (!asked) return refuse(response, 401, 'No session has this address or key. Ask the trainer that opened it.')
    client.welcome()
    const call = findCall(incoming, byPath ? pathname.slice(first.length + 1) : pathname, searchParams)
    if (!call) return refuse(response, 404, NO_API)
    await answerAgent(call, asked, incoming, response)
  }

  async function answerAgent(call: ReadCall, asked: OpenSession, incoming: HttpRequest, response: HttpResponse) {
    const { session } = asked
    const own = heldBy.get(session) ?? new HeldBytes(LARGEST_REQUEST, held)
    heldBy.set(session, own)
    using received = await own.receive(incoming, LARGEST_REQUEST)
    const { raw, plain } = received
    if (!plain) return refuse(response, raw ? 415 : 413, 'The request is too large, or compressed in an unknown way.')
    const body = call.wants === 'models' ? {} : bodyOf(received)
    if (body instanceof Error) return sendJson(response, 400, call.dialect.toError(400, body.message))
    await serveCall(call, body, session, incoming, response)
  }

  async function control(
    method: string,
    id: string,
    part: string | undefined,
    value: JsonObject | null,
    response: HttpResponse,
  ): Promise<void> {
    if (method === 'POST' && id === '') {
      const wanted = openSchema.safeParse(value ?? {})
      if (!wanted.success) return refuse(response, 400, z.prettifyError(wanted.error))
      const opened = await sessions.open(wanted.data.session_id, wanted.data.metadata)
      return sendJson(response, 200, { session_id: opened.id, url: `${url}/${opened.token}/v1`, api_key: opened.token })
    }
    const session = sessions.find(id)
    if (!session) return refuse(response, 404, `There is no session ${id}. Open it by POST /sessions.`)
    if (method === 'DELETE' && part === undefined) {
      const { length } = await session.calls()
      await sessions.close(id)
      return sendJson(response, 200, { session_id: id, deleted: length })
    }
    if (method === 'PUT' && part === 'reward') {
      const given = rewardSchema.safeParse(value)
      if (!given.success) return refuse(response, 400, z.prettifyError(given.error))
      sessions.reward(id, given.data.reward)
      return sendJson(response, 200, { session_id: id, reward: given.data.reward })
    }
    if (method === 'GET' && part === undefined) return sendJson(response, 200, await readFigures(session))
    if (method === 'GET' && part === 'sequences') return sendJson(response, 200, await readSequences(session))
    if (method === 'GET' && part === 'trace') {
      const { metadata, reward } = session
      const calls = await session.calls()
      const answers = calls.map(({ completion }) => completion)
      const requests = calls.map(({ request }) => request)
      const trace = traceOf(answers, requests, { id, metadata: { ...metadata, reward } })
      if (trace) return sendJson(response, 200, trace)
      return refuse(response, 409, missingOf(answers))
    }
    refuse(response, 404, 'A session has itself, trace, sequences and reward.')
  }

  return {
    /** Where trainers open sessions. */
    url,
    port: server.port,
    /** What they send as a bearer token. */
    controlToken,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const ASK_TRAINER =
  'Send the control token of the gateway as a bearer token: `episodic gateway` prints the file that holds it.'
const NO_API =
  'There is no such API here. Post JSON to one of chat completions, Responses, Messages or generateContent, or get models.'

function bodyOf(received: { parse(bounds: typeof BOUNDS): unknown }): JsonObject | Error {
  try {
    const value = received.parse(BOUNDS)
    return isObject(value) ? (value as JsonObject) : new Error('The request has to be a JSON object.')
  } catch (error) {
    if (WireError.is(error)) return error
    throw error
  }
}

function missingOf(answers: readonly Completion[]): string {
  const lacks = ({ promptTokenIds, tokenIds }: Completion) =>
    !promptTokenIds ? 'ids of its prompt' : tokenIds ? 'as many log-probabilities as ids' : 'ids of its tokens'
  const missing = [...new Set(answers.map(lacks))].join(', ') || 'answers'
  return `There is no trace: the engine returned an answer without ${missing}, or there is none yet.`
}

async function readFigures(session: OpenSession): Promise<object> {
  const answers = (await session.calls()).map(({ completion }) => completion)
  const { links, sequences, discarded } = treeOf(answers)
  const { id, metadata, reward } = session
  return {
    session_id: id,
    metadata,
    reward,
    calls: answers.length,
    traced_calls: answers.filter(({ promptTokenIds, tokenIds }) => promptTokenIds && tokenIds).length,
    sequences: sequences.length,
    discarded: discarded.length,
    drifted: links.filter(({ driftsFrom }) => driftsFrom !== null).length,
    prompt_tokens: answers.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    completion_tokens: answers.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
  }
}

async function readSequences(session: OpenSession): Promise<object> {
  const answers = (await session.calls()).map(({ completion }) => completion)
  return { ...(await readFigures(session)), sequences: sequenceFields(answers, treeOf(answers)) }
}

/** The keys that clients of the APIs send, each in its own place. */
function keysOf({ headers }: HttpRequest, query: URLSearchParams): string[] {
  const { authorization = '', 'x-api-key': anthropic, 'x-goog-api-key': google } = headers
  const keys = [authorization.replace(/^Bearer +/i, ''), anthropic, google, query.get('key')]
  return keys.filter((key) => typeof key === 'string' && key !== '') as string[]
}

function refuse(response: HttpResponse, status: number, message: string): void {
  sendJson(response, status, { error: { message, type: 'episodic_gateway_error', param: null, code: null } })
}
