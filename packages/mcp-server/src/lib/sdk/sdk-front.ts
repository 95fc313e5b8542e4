import type { IncomingMessage, ServerResponse } from 'node:http'
import { isObject } from '@episodic/protocol/extend'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolRequestSchema, McpError, ReadResourceRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { createDispatcher, type DispatcherOptions } from '../dispatch/dispatcher.ts'
import { type Advertisement, AT_SDK_FRONT, createLegacyServer } from '../dispatch/sdk-discovery.ts'
import { advertise } from '../dispatch/server-info.ts'
import type { Host } from '../host/host.ts'
import type { AgentCaller } from '../http/authorize.ts'
import type { Admitted, Mount } from '../http/custom-handler.ts'
import { answerModern, type Call } from './sdk-front-modern.ts'
import { answerAsWeb } from './web-request.ts'

/** Clients that the SDK's transports are kept of. One that was forgotten begins anew, as after the end of its session. */
const CLIENTS = 1_000

/**
 * Serves the worlds through the SDKs' own HTTP transports, in both eras: several times slower than the straight path, and
 * the measure of it. For finding out whether something comes from our front or was there before.
 */
export function mountSdkFront(host: Host, options: DispatcherOptions = {}): Mount {
  const dispatcher = createDispatcher(host, options)
  const callFor =
    (caller: AgentCaller): Call =>
    async (method, params) => {
      const { text } = await dispatcher.dispatch(caller, { jsonrpc: '2.0', id: 0, method, params })
      return JSON.parse(text as string)
    }
  const transports = new Map<string, StreamableHTTPServerTransport>()

  /** What is said to a caller; the SDK says it itself, so what a world says in it is searched for secrets before. */
  async function advertiseSafely(caller: AgentCaller, message: unknown): Promise<Advertisement> {
    const advertisement = await advertise(host, caller, methodIn(message))
    const { presented, instructions } = advertisement
    presented?.secrets.assertAbsent({
      text: instructions,
      worldText: () => presented.observation,
      callerText: () => JSON.stringify([message, caller.world]),
    })
    return advertisement
  }

  async function open(
    caller: AgentCaller,
    message: unknown,
    sessionId: string | undefined,
  ): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: sessionId === undefined ? undefined : () => sessionId,
      enableJsonResponse: true,
    })
    const server = createLegacyServer(await advertiseSafely(caller, message), AT_SDK_FRONT)
    const call = callFor(caller)
    const passOn = async ({ method, params }: { method: string; params: object }) => {
      const outcome = await call(method, params)
      if ('result' in outcome) return outcome.result
      throw new McpError(outcome.error.code, outcome.error.message, outcome.error.data)
    }
    server.setRequestHandler(CallToolRequestSchema, passOn)
    server.setRequestHandler(ReadResourceRequestSchema, passOn as never)
    await server.connect(transport as Transport)
    return transport
  }

  /** Keeps the transport of a client as the one that was used last, and lets go of the one that was not for longest. */
  async function keep(sessionId: string, transport: StreamableHTTPServerTransport): Promise<void> {
    transports.delete(sessionId)
    transports.set(sessionId, transport)
    const [longest] = transports
    if (!longest || transports.size <= CLIENTS) return
    transports.delete(longest[0])
    await longest[1].close()
  }

  async function answerLegacy(request: IncomingMessage, response: ServerResponse, { caller, message }: Admitted) {
    const { world, principal } = caller
    // At a session URL there is nothing to remember of a client between two requests.
    if (world.by === 'capability')
      return (await open(caller, message, undefined)).handleRequest(request, response, message)
    const { transportId } = world
    if (transportId === null) {
      const sessionId = await host.issueTransport(principal)
      const transport = await open({ ...caller, world: { ...world, transportId: sessionId } }, message, sessionId)
      await transport.handleRequest(request, response, message)
      if (transport.sessionId !== undefined) await keep(sessionId, transport)
      return
    }
    const transport = transports.get(transportId)
    // The SDK's transport knows of sessions, and not of whose they are.
    const known = transport && (await host.vouch(principal, transportId))
    if (!known) return void response.writeHead(404).end()
    await keep(transportId, transport)
    await transport.handleRequest(request, response, message)
    if (request.method !== 'DELETE') return
    transports.delete(transportId)
    if (world.by === 'transport') await host.endTransport(principal, transportId, world.environment)
    else await host.endConnection(principal, transportId)
  }

  return {
    answer(request, response, admitted) {
      const { caller, message, modern } = admitted
      if (!modern || caller.world.by === 'transport') return answerLegacy(request, response, admitted)
      return answerAsWeb(request, response, async (asked) =>
        answerModern(asked, message, await advertiseSafely(caller, message), callFor(caller)),
      )
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...transports.values()].map((transport) => transport.close()))
    },
  }
}

function methodIn(message: unknown): string {
  return isObject(message) && typeof message.method === 'string' ? message.method : ''
}
