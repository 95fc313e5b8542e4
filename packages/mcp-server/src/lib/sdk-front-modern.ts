import { createMcpHandler, ProtocolError } from '@modelcontextprotocol/server'
import type { Advertisement } from './sdk-discovery.ts'
import { createModernServer } from './sdk-discovery-modern.ts'

/** Hands a call to the dispatcher, as every door does, and gives what came of it. */
export type Call = (method: string, params: object | undefined) => Promise<Outcome>
type Outcome = { readonly result: object } | { readonly error: { code: number; message: string; data?: unknown } }

/** Answers one request of the modern era with the SDK's own handler. */
export function answerModern(
  request: Request,
  message: unknown,
  advertisement: Advertisement,
  call: Call,
): Promise<Response> {
  const server = createModernServer(advertisement)
  server.setRequestHandler('tools/call', async ({ method, params }) => {
    const outcome = await call(method, params)
    if ('result' in outcome) return outcome.result as never
    throw new ProtocolError(outcome.error.code, outcome.error.message, outcome.error.data)
  })
  return createMcpHandler(() => server, { legacy: 'reject', keepAliveMs: 0 }).fetch(request, { parsedBody: message })
}
