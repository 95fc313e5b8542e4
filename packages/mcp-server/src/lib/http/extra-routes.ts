import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Principal } from '../host/access/caller.ts'
import type { Denial } from './host-origin-check.ts'

/** The client of an extra route, as its token identifies it. */
export interface ClientIdentity {
  readonly principal: Principal
  /** True if the token is valid for the trainer endpoint. Other clients are allowed too. */
  readonly trainer: boolean
  /**
   * Counts a message against the rate of the agent endpoint, for the seat of `capability`, or for the client's address
   * if that is `null` or was not issued by this server. Resolves with 0, or with the seconds to wait before the next
   * message.
   */
  count(capability: string | null): Promise<number>
  isWelcome(): Promise<boolean>
}

/**
 * Paths of an HTTP server beside its endpoints, with pages and WebSockets of their own.
 *
 * Host and Origin are checked first, as for the endpoints. Any client that passes that check gets a page; a WebSocket
 * also needs a token that the agent endpoint or the trainer endpoint accepts.
 */
export interface ExtraRoutes {
  /** Returns whether a path is one of these. Not asked for the paths of the endpoints and of the health checks. */
  owns(path: string): boolean
  /** Returns the token of a request; `null` if it is in `Authorization`. Default: it always is. */
  tokenOf?(request: IncomingMessage, path: string): string | null
  /**
   * Answers a request that is not an upgrade to a WebSocket. Has to end every response. `identify` resolves with the
   * client, or with why its token is rejected, for a route that is not for everyone.
   */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    identify: () => Promise<ClientIdentity | Denial>,
  ): void
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, client: ClientIdentity): void
  /** Accepts no new connections, answers what was read, hangs up, and resolves with the number left unanswered. */
  drain(signal: AbortSignal | undefined): Promise<number>
  end(): void
}
