import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Principal } from '../host/host.ts'

/** Whoever asks an annex for a WebSocket, as far as they have proved who they are. */
export interface Visitor {
  readonly principal: Principal
  /** Whether their token is one of the trainer endpoint. Who comes without such a token may come all the same. */
  readonly trainer: boolean
  /**
   * Counts a message against the rate of the agent endpoint, for the seat of `capability`, or for the visitor's address where
   * that is `null` or not ours. Resolves with 0, or with the seconds after which there is room for another.
   */
  count(capability: string | null): Promise<number>
  /** Whether they may stay: a token may have expired since. */
  isWelcome(): Promise<boolean>
}

/**
 * Paths of an HTTP server that are none of its endpoints, with pages and WebSockets of their own.
 *
 * The guards of Host and Origin stand before it as before everything. A page is for anybody whom they let through; a WebSocket
 * is for whoever the agent endpoint admits, or the trainer one.
 */
export interface Annex {
  /** Whether a path is one of its own. Those of the endpoints and of the probes never are. */
  owns(path: string): boolean
  /** Answers a request that does not ask to be a WebSocket. It has to end every response. */
  answer(request: IncomingMessage, response: ServerResponse, path: string): void
  /** Takes a connection that asks to be a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, visitor: Visitor): void
  /** Answers what was read, hangs up, lets nobody in any more, and gives the number of messages that were not answered. */
  drain(signal: AbortSignal | undefined): Promise<number>
  /** Hangs up at once. */
  end(): void
}
