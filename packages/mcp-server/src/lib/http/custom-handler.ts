import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AgentCaller } from './authorize.ts'

/** What the guards found out about a request. */
export interface Admitted {
  readonly caller: AgentCaller
  /** What was posted, parsed and within bounds; `undefined` for a GET and a DELETE. */
  readonly message: unknown
  /** Whether it is of the era in which a request speaks for itself. */
  readonly modern: boolean
}

/**
 * Answers at the agent endpoint in the place of the worlds' straight path: a server of MCP that is no world, or the worlds
 * behind the SDKs' own transports.
 *
 * The guards stand before it as before everything: it gets what is allowed in, once, and has to end every response.
 */
export interface Mount extends AsyncDisposable {
  answer(request: IncomingMessage, response: ServerResponse, admitted: Admitted): Promise<void>
}
