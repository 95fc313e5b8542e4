import { type Denial, HeldBytes, type HttpRequest, type HttpResponse, openTokenPort } from '@episodic/mcp-server/http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { objectOf } from '@episodic/run/base/json'
import { toPlace } from '../forks/session-forks.ts'
import type { RolloutRefused } from '../rollouts/rollout-queue.ts'
import { answerTrainer, isForTrainers } from '../rollouts/routes/trainer-routes.ts'
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
/** Most bytes of a request of a trainer: a parked rollout has a conversation and the state of its world. */
const LARGEST_CONTROL = 64 * 1024 ** 2
/** What the JSON of an agent may hold: a conversation has thousands of values, and other agents wait for its parser. */
const BOUNDS = { nesting: 256, values: 200_000 }
/** Seconds that all of a request may take to arrive: one may wait for the room of others. */
const REQUEST_SECONDS = 300

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

  const reach = ({ id, token, fork }: Pick<OpenSession, 'id' | 'token' | 'fork'>) => ({
    ...{ session_id: id, url: `${url}/${token}/v1`, api_key: token, ...(fork && { fork: toPlace(fork) }) },
  })

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
    const [, first = '', ...path] = pathname.split('/')
    if (first === 'health') return sendJson(response, 200, { ok: true })
    if (isForTrainers(first)) {
      if (!client.isTrainer) return refuse(response, 401, ASK_TRAINER, 'unauthorized')
      using received = await held.receive(incoming, LARGEST_CONTROL)
      if (!received.plain)
        return refuse(response, 413, `The request has more than ${LARGEST_CONTROL} bytes.`, 'too-large')
      const text = received.plain.toString()
      const value = text === '' ? {} : objectOf(text)
      if (!value) return refuse(response, 400, 'The body has to be a JSON object, or empty.', 'invalid')
      const { status, body } = await answerTrainer(
        { ...sessions, reach },
        incoming.method ?? 'GET',
        [first, ...path],
        value,
      )
      return sendJson(response, status, body)
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

  return {
    url,
    port: server.port,
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

function keysOf({ headers }: HttpRequest, query: URLSearchParams): string[] {
  const { authorization = '', 'x-api-key': anthropic, 'x-goog-api-key': google } = headers
  const keys = [authorization.replace(/^Bearer +/i, ''), anthropic, google, query.get('key')]
  return keys.filter((key) => typeof key === 'string' && key !== '') as string[]
}

function refuse(response: HttpResponse, status: number, message: string, code: RolloutRefused['code'] | null = null) {
  sendJson(response, status, { error: { message, type: 'episodic_gateway_error', param: null, code } })
}
