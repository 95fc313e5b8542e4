import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Rejection } from '../host/access/caller.ts'
import type { Host } from '../host/host.ts'
import { type Authorizer, denyUpgrade, identifyClient } from './authorize.ts'
import type { ClientIdentity, ExtraRoutes } from './extra-routes.ts'
import type { HttpRequest } from './fast-path/connection.ts'
import type { HttpResponse } from './fast-path/response.ts'
import { type Denial, pathOf } from './host-origin-check.ts'
import { createReplies } from './responses.ts'

/** Lets clients into extra routes: on a port of their own, and beside the endpoints of another. */
export function createRoutesHandler(
  host: Host,
  routes: ExtraRoutes,
  authorizer: Authorizer,
  onRejected: (rejection: Rejection) => void,
) {
  const replies = createReplies(authorizer.guards, onRejected)
  return {
    /** Routes read requests and responses as `node:http` makes them. */
    leaves(): boolean {
      return true
    },
    answer(request: HttpRequest, response: HttpResponse): void {
      const path = pathOf(request.url)
      const denied = denialOf(request, path)
      if (denied) replies.deny(request, response, null, denied)
      else serve(request, response, path)
    },
    serve,
    async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
      // If the client hangs up meanwhile, there is nobody to report the error to.
      socket.on('error', () => {})
      const path = pathOf(request.url)
      const client = denialOf(request, path) ?? (await identify(request, path))
      if (!('status' in client)) return routes.upgrade(request, socket, head, client)
      onRejected({ endpoint: null, principal: null, code: `http-${client.status}` })
      denyUpgrade(socket, client)
    },
    rejectedConnection(): void {
      onRejected({ endpoint: null, principal: null, code: 'connections' })
    },
    end(): void {
      routes.end()
    },
  }

  function serve(request: HttpRequest, response: HttpResponse, path: string): void {
    // It is left to `node:http`.
    const incoming = request as IncomingMessage
    routes.answer(incoming, response as ServerResponse, path, () => identify(incoming, path))
  }

  function denialOf(request: HttpRequest, path: string): Denial | null {
    return authorizer.guards.checkSource(request) ?? (routes.owns(path) ? null : NOTHING_HERE)
  }

  function identify(request: IncomingMessage, path: string): Promise<ClientIdentity | Denial> {
    return identifyClient(host, authorizer, request, routes.tokenOf?.(request, path) ?? undefined)
  }
}

const NOTHING_HERE: Denial = { status: 404, message: 'There is nothing at this path.' }
