import { type JsonObject, METHODS, type OpenParams, type OpenResult } from '@episodic/protocol'
import { createManualClock } from '@episodic/state'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Agent, type Dispatcher, request } from 'undici'
import { onTestFinished } from 'vitest'
import { createHost } from './create-host.ts'
import type { Fault } from './faults.ts'
import type { Host, HostOptions, OpenRequest, StepCall } from './host.ts'
import { type HttpOptions, type HttpServer, serveHttp } from './http-server.ts'
import { numberGuessing } from './number-guessing.fixture.ts'
import { workshop } from './workshop.fixture.ts'

/** A request key that nobody has used. */
export const freshKey = (): string => crypto.randomUUID()

/** An opener's request for number-guessing, unless it says otherwise. */
export function asking(request: Partial<OpenRequest> = {}): OpenRequest {
  return { environment: 'number-guessing', requestKey: freshKey(), ...request }
}

/** One call of a tool. */
export function call(tool: string, args: StepCall['action']['arguments'] = {}, seq?: number): StepCall {
  return { action: { tool, arguments: args }, seq }
}

/** A host of both worlds that the test can move in time, and the faults that it reported. Gone after the test. */
export function createTestHost(options: Partial<HostOptions> = {}) {
  const clock = createManualClock(1_700_000_000_000)
  const faults: Fault[] = []
  const host = createHost({
    environments: [numberGuessing, workshop],
    clock,
    onFault: (fault) => faults.push(fault),
    ...options,
  })
  onTestFinished(() => host[Symbol.asyncDispose]())
  return { host, clock, faults }
}

/** Serves a host on a free port for the length of the test. */
export async function serve(host: Host, options: HttpOptions = {}): Promise<HttpServer> {
  const server = await serveHttp(host, options)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** Serves a host of both worlds. */
export async function serveTestHost(options: HttpOptions = {}, hostOptions: Partial<HostOptions> = {}) {
  const testbed = createTestHost(hostOptions)
  return { ...testbed, server: await serve(testbed.host, options) }
}

/** An answer as it came, headers and all. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Dispatcher.ResponseData['headers']
  readonly text: string
}

/** Sends one HTTP request, and gives the answer as it came. A `null` header is left out. */
export async function send(
  url: string,
  { method = 'POST', headers = {}, body }: { method?: string; headers?: Headers; body?: string | Buffer } = {},
): Promise<RawAnswer> {
  const sent = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
  const answer = await request(url, {
    method: method as Dispatcher.HttpMethod,
    headers: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null)),
    ...(body !== undefined && { body }),
    dispatcher: keepAlive,
  })
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
}
type Headers = Readonly<Record<string, string | null>>
const keepAlive = new Agent({ connections: 16 })

/** A JSON-RPC answer: a result or an error. */
interface RpcAnswer {
  readonly id: string | number | null
  readonly result?: JsonObject
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject }
}

/** Sends one JSON-RPC request, and gives its answer. */
export async function rpc(url: string, method: string, params: object = {}, headers: Headers = {}) {
  const answer = await send(url, { headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
  return { ...answer, json: JSON.parse(answer.text) as RpcAnswer }
}

export const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1.0.0' },
}

/** Opens a transport session as raw requests do, and gives its header. */
export async function initialize(url: string, headers: Headers = {}): Promise<{ 'mcp-session-id': string }> {
  const answer = await rpc(url, 'initialize', INITIALIZE, headers)
  return { 'mcp-session-id': String(answer.headers['mcp-session-id']) }
}

/** What a client sends to be let in at the trusted door. */
export function controlHeaders({ controlToken }: HttpServer): { authorization: string } {
  return { authorization: `Bearer ${controlToken}` }
}

/** Opens a session at the trusted door of a socket. */
export async function openOverHttp(server: HttpServer, params: Partial<OpenParams> = {}): Promise<OpenResult> {
  const { json } = await rpc(server.trustedUrl, METHODS.open, asking(params as OpenRequest), controlHeaders(server))
  return json.result as unknown as OpenResult
}

/** The official MCP client, connected for the length of the test. */
export async function connectClient(url: string, headers: Record<string, string> = {}) {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  return { client, transport }
}
