import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Rejection } from '../host/access/caller.ts'
import type { Host } from '../host/host.ts'
import { type Authorizer, denyUpgrade, identifyClient } from './authorize.ts'
import type { ClientIdentity, ExtraRoutes } from './extra-routes.ts'
import type { HttpRequest } from './fast-path/connection.ts'
import type { HttpResponse } from './fast-path/response.ts'
import { type Denial, pathOf } from './host-origin-check.ts'
import type { PortHandler } from './open-port.ts'
import { Replies } from './responses.ts'

/** Lets clients into extra routes: on a port of their own, and beside the endpoints of another. */
export class RoutesHandler implements PortHandler {
  readonly #host: Host
  readonly #routes: ExtraRoutes
  readonly #authorizer: Authorizer
  readonly #replies: Replies
  readonly #onRejected: (rejection: Rejection) => void

  constructor(host: Host, routes: ExtraRoutes, authorizer: Authorizer, onRejected: (rejection: Rejection) => void) {
    this.#host = host
    this.#routes = routes
    this.#authorizer = authorizer
    this.#onRejected = onRejected
    this.#replies = new Replies(authorizer.guards, onRejected)
  }

  /** Routes read requests and responses as `node:http` makes them. */
  leaves(): boolean {
    return true
  }

  answer(request: HttpRequest, response: HttpResponse): void {
    const path = pathOf(request.url)
    const denied = this.#denialOf(request, path)
    if (denied) this.#replies.deny(request, response, null, denied)
    else this.serve(request, response, path)
  }

  serve(request: HttpRequest, response: HttpResponse, path: string): void {
    // It is left to `node:http`.
    const incoming = request as IncomingMessage
    this.#routes.answer(incoming, response as ServerResponse, path, () => this.#identify(incoming, path))
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // If the client hangs up meanwhile, there is nobody to report the error to.
    socket.on('error', () => {})
    const path = pathOf(request.url)
    const client = this.#denialOf(request, path) ?? (await this.#identify(request, path))
    if (!('status' in client)) return this.#routes.upgrade(request, socket, head, client)
    this.#onRejected({ endpoint: null, principal: null, code: `http-${client.status}` })
    denyUpgrade(socket, client)
  }

  rejectedConnection(): void {
    this.#onRejected({ endpoint: null, principal: null, code: 'connections' })
  }

  end(): void {
    this.#routes.end()
  }

  #denialOf(request: HttpRequest, path: string): Denial | null {
    return this.#authorizer.guards.checkSource(request) ?? (this.#routes.owns(path) ? null : NOTHING_HERE)
  }

  #identify(request: IncomingMessage, path: string): Promise<ClientIdentity | Denial> {
    return identifyClient(this.#host, this.#authorizer, request, this.#routes.tokenOf?.(request, path) ?? undefined)
  }
}

const NOTHING_HERE: Denial = { status: 404, message: 'There is nothing at this path.' }
