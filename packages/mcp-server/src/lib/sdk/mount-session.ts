import type { ServerResponse } from 'node:http'
import { Exchange } from './sdk-response.ts'

type Id = string | number

/** A message of JSON-RPC, as far as a transport looks into it. */
export interface Posted {
  readonly id?: Id
  readonly method?: string
}

/**
 * One session of the era that has them, as a transport for a server object of the MCP SDK.
 *
 * What the server sends goes with the answer to the request that it belongs to. What belongs to none is not sent: there
 * is no stream for it.
 */
export class MountSession {
  onmessage?: (message: never) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly sessionId: string
  readonly #exchanges = new Map<Id, Exchange>()

  constructor(sessionId: string) {
    this.sessionId = sessionId
  }

  async start(): Promise<void> {}

  async send(message: object, options?: { readonly relatedRequestId?: Id }): Promise<void> {
    const { id, method } = message as Posted
    if (method !== undefined) {
      const { relatedRequestId } = options ?? {}
      if (relatedRequestId !== undefined) this.#exchanges.get(relatedRequestId)?.tell(message)
    } else if (id !== undefined) {
      this.#exchanges.get(id)?.answer(message)
      this.#exchanges.delete(id)
    }
  }

  /** Hands a posted message to the server, and answers it as soon as there is something to say. */
  receive(message: Posted, response: ServerResponse): void {
    if (message.method === undefined || message.id === undefined) response.writeHead(202).end()
    else this.#exchanges.set(message.id, new Exchange(response))
    this.onmessage?.(message as never)
  }

  /** Whether a request of that id waits for its answer: there is one of each. */
  isWaiting({ id }: Posted): boolean {
    return id !== undefined && this.#exchanges.has(id)
  }

  /** Answers what is in flight with the end of the session. */
  async close(): Promise<void> {
    for (const [id, exchange] of this.#exchanges)
      exchange.answer({ jsonrpc: '2.0', id, error: { code: -32000, message: 'The session was ended.' } })
    this.#exchanges.clear()
    this.onclose?.()
  }
}
