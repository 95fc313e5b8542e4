import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ClientIdentity, ExtraRoutes } from '@episodic/mcp-server/http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import type { InternalError } from './problem.ts'
import { answerProblem, type TrainerRoute } from './trainer-app.ts'

export interface AppRoutesOptions {
  readonly owns: (path: string) => boolean
  readonly tokenOf?: NonNullable<ExtraRoutes['tokenOf']>
  /** Their WebSockets. Default: an upgrade is answered with 404. */
  readonly sockets?: Pick<ExtraRoutes, 'upgrade' | 'drain' | 'end'>
  /** Is called when the server ends: stops what the app has running. */
  readonly onEnd?: () => void
  readonly stopping?: (request: Request, rejection: Response) => Response
  readonly onError: (error: InternalError) => void
}

/** Returns the routes of an app, for `serveHttp` or `serveRoutes`. A stop rejects new requests with 503. */
export function createAppRoutes(app: Hono<TrainerRoute>, options: AppRoutesOptions): ExtraRoutes {
  const { owns, tokenOf, sockets, onEnd = () => {}, stopping = (_, rejection) => rejection, onError } = options
  const identities = new WeakMap<IncomingMessage, TrainerRoute['Bindings']['identify']>()
  let running = 0
  let draining = false
  let idle = Promise.withResolvers<void>()
  const listener = getRequestListener(
    (request, bindings) => {
      if (draining) return stopping(request, answerProblem(STOPPING))
      const { incoming, outgoing } = bindings as HttpBindings
      // Set just before the listener is called.
      const identify = identities.get(incoming) as TrainerRoute['Bindings']['identify']
      return app.fetch(request, { incoming, outgoing, identify })
    },
    { overrideGlobalObjects: false },
  )
  return {
    owns,
    ...(tokenOf && { tokenOf }),
    answer(request, response, _path, identify) {
      identities.set(request, identify)
      running += 1
      response.once('close', () => {
        running -= 1
        if (running === 0) idle.resolve()
      })
      listener(request, response).catch((cause) => {
        onError({ reference: 'http', cause })
        response.destroy()
      })
    },
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, client: ClientIdentity) {
      if (sockets) sockets.upgrade(request, socket, head, client)
      else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    },
    async drain(signal) {
      draining = true
      const socketsLeft = sockets?.drain(signal) ?? 0
      if (running > 0 && !signal?.aborted) {
        idle = Promise.withResolvers()
        signal?.addEventListener('abort', () => idle.resolve(), { once: true })
        await idle.promise
      }
      return running + (await socketsLeft)
    },
    end() {
      draining = true
      onEnd()
      sockets?.end()
    },
  }
}

const STOPPING = {
  status: 503,
  code: 'unavailable',
  message: 'This server is stopping and takes no more calls. Nothing was done; try again.',
} as const
