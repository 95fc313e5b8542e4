import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type HttpRequest, type HttpResponse, PlainConnections } from '@episodic/mcp-server/http'
import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { treeOf } from '@episodic/report'
import { z } from 'zod'
import { objectOf } from '../base/json.ts'
import { sequenceFields, traceOf } from '../export/episode/token-fields.ts'
import { HeldBytes } from '../models/requests/held-bytes.ts'
import { decompressed, readBody } from '../models/requests/request-body.ts'
import type { GatewaySessions, OpenSession } from './gateway-sessions.ts'
import { findDialect, sendJson, serveCall } from './serve-call.ts'

export interface GatewayOptions {
  readonly sessions: GatewaySessions
  /** 0 for a free one. */
  readonly port: number
  /** Default: this machine alone. */
  readonly address?: string
  /** What a trainer has to send as a bearer token. Default: `null`, nothing. */
  readonly controlToken?: string | null
}

/** Most bytes of a request, and of large ones that are held at once. */
const LARGEST_REQUEST = 64 * 1024 ** 2
const HELD_REQUESTS = 256 * 1024 ** 2

const openSchema = z.object({
  session_id: z
    .string()
    .regex(/^[\w.-]{1,128}$/, 'Write it with letters, digits, points and dashes.')
    .optional(),
  metadata: jsonObjectSchema.optional(),
})
const rewardSchema = z.object({ reward: z.number() })

/**
 * Serves sessions to trainers, and to agents the APIs of language models. An agent names its session in the address,
 * `/<token>/v1`, or as the key of its API. What it asks is answered by the engine.
 */
export async function openGateway({ sessions, port, address = '127.0.0.1', controlToken = null }: GatewayOptions) {
  const held = new HeldBytes(HELD_REQUESTS)
  const answer = (incoming: HttpRequest, response: HttpResponse) => {
    void serve(incoming, response).catch(() => response.destroy())
  }
  const server = createServer(answer)
  server.keepAliveTimeout = 120_000
  const plain = new PlainConnections(server, { leaves: () => false, answer })
  server.listen(port, address)
  await once(server, 'listening')
  const { address: bound, port: own } = server.address() as AddressInfo
  const url = `http://${bound.includes(':') ? `[${bound}]` : bound}:${own}`

  async function serve(incoming: HttpRequest, response: HttpResponse): Promise<void> {
    // Clients that join addresses send slashes that follow each other; two at the start would begin a host.
    const asAsked = URL.parse((incoming.url ?? '').replace(/^\/+/, '/'), url)
    if (!asAsked) return refuse(response, 400, 'The address of this request is no path.')
    const { searchParams } = asAsked
    const pathname = asAsked.pathname.replace(/\/{2,}/g, '/')
    const [, first = '', id = '', part] = pathname.split('/')
    const length = Number(incoming.headers['content-length'] ?? 0)
    using _ = await held.take(Math.min(length, LARGEST_REQUEST))
    const body = 'body' in incoming ? incoming.body : await readBody(incoming, LARGEST_REQUEST)
    const read = body && (await decompressed(body, incoming.headers['content-encoding'], LARGEST_REQUEST))
    if (!read) return refuse(response, body ? 415 : 413, 'The request is too large, or compressed in an unknown way.')
    const value = objectOf(read.toString())
    if (first === 'health') return sendJson(response, 200, { ok: true })
    if (first === 'sessions') {
      if (!isTrainer(incoming)) return refuse(response, 401, 'Send the control token of the gateway as a bearer token.')
      return await control(incoming.method ?? 'GET', id, part, value, response)
    }
    const byPath = sessions.findByToken(first)
    const asked =
      byPath ??
      keysOf(incoming, searchParams)
        .map(sessions.findByToken)
        .find((each) => each !== undefined)
    if (!asked) return refuse(response, 401, 'No session has this address or key. Ask the trainer that opened it.')
    const call = findDialect(byPath ? pathname.slice(first.length + 1) : pathname)
    if (!call || incoming.method !== 'POST' || !value)
      return refuse(
        response,
        404,
        'There is no such API here. Post JSON to one of chat completions, Responses, Messages or generateContent.',
      )
    await serveCall(call, value, asked.session, incoming, response)
  }

  function isTrainer({ headers: { authorization = '' } }: HttpRequest): boolean {
    if (controlToken === null) return true
    const [given, wanted] = [Buffer.from(authorization), Buffer.from(`Bearer ${controlToken}`)]
    return given.length === wanted.length && timingSafeEqual(given, wanted)
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
      return refuse(response, 409, 'Ids or log-probabilities of an answer are not known, or there is no answer.')
    }
    refuse(response, 404, 'A session has itself, trace, sequences and reward.')
  }

  return {
    /** Where trainers open sessions. */
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      plain.end()
      server.close()
      await once(server, 'close')
    },
  }
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
