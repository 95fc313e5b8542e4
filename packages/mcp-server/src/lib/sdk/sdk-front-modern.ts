import { createMcpHandler, ProtocolError } from '@modelcontextprotocol/server'
import { type Advertisement, AT_SDK_FRONT } from '../dispatch/sdk-discovery.ts'
import { createModernServer } from '../dispatch/sdk-discovery-modern.ts'

/** Hands a call to the dispatcher, as every endpoint does, and gives what came of it. */
export type Call = (method: string, params: object | undefined) => Promise<Outcome>
type Outcome = { readonly result: object } | { readonly error: { code: number; message: string; data?: unknown } }

/** Answers one request of the modern era with the SDK's own handler. */
export function answerModern(
  request: Request,
  message: unknown,
  advertisement: Advertisement,
  call: Call,
): Promise<Response> {
  const server = createModernServer(advertisement, AT_SDK_FRONT)
  const passOn = async ({ method, params }: { method: string; params?: object }) => {
    const outcome = await call(method, params)
    if ('result' in outcome) return outcome.result as never
    throw new ProtocolError(outcome.error.code, outcome.error.message, outcome.error.data)
  }
  server.setRequestHandler('tools/call', passOn)
  server.setRequestHandler('resources/read', passOn)
  return createMcpHandler(() => server, { legacy: 'reject', keepAliveMs: 0 }).fetch(request, { parsedBody: message })
}
