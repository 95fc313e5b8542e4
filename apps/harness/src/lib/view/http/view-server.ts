import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HarnessError } from '../../harness-error.ts'
import type { ViewedRuns } from '../folder/viewed-runs.ts'
import { Refusal } from '../refusal.ts'
import type { StatesSource } from '../states/episode-states.ts'
import { type Access, createAccess } from './access.ts'
import { answerError, answerJson, answerPage, type Exchange, readJson } from './answer.ts'
import { LOGIN_PAGE, LOGIN_POLICY } from './login-page.ts'
import { createRoutes, findRoute, type Route } from './routes.ts'

export interface ViewServerOptions {
  readonly runs: ViewedRuns
  readonly states: StatesSource
  /** The page that shows them. */
  readonly page: string
  /** Default: the loopback interface. */
  readonly address?: string
  /** Default: one that the system chooses. */
  readonly port?: number
  /** Stays valid while the server runs. Default: a token for one use is drawn. */
  readonly token?: string | undefined
  /** Refuses what writes to the folders of runs. The index of a run, a cache, is written all the same. */
  readonly readOnly?: boolean
}

/** A server that shows runs. */
export interface ViewServer extends AsyncDisposable {
  /** With the token, as a person opens it. */
  readonly url: string
  readonly port: number
}

const KEEP_ALIVE = 310_000
/** Ports that are tried after the one that is asked for. */
const MOST_PORTS = 20

/**
 * Serves the pages that show runs. Rejects with `server-failed` if the address cannot be used, or neither the port nor the 20
 * after it is free.
 */
export async function openViewServer(options: ViewServerOptions): Promise<ViewServer> {
  const { address = '127.0.0.1', port = 0, token } = options
  let access: Access | null = null
  const routes = createRoutes(options)
  const server = createServer((request, response) => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://server')
    const exchange = { request, response, query, signal: gone.signal, path: pathname }
    answer(exchange, routes, access as Access, options.page).catch((error) => {
      if (!gone.signal.aborted) answerError(exchange, error)
    })
  })
  // Longer than browsers keep a connection: one that this server closes as a request arrives loses that request.
  server.keepAliveTimeout = KEEP_ALIVE
  await listen(server, address, port)
  const { port: own } = server.address() as AddressInfo
  access = createAccess(address, own, token)
  const name =
    address === '0.0.0.0' || address === '::' ? 'localhost' : address.includes(':') ? `[${address}]` : address
  return {
    url: `http://${name}:${own}/#/?token=${access.token}`,
    port: own,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  exchange: Omit<Exchange, 'parts'> & { readonly path: string },
  routes: readonly Route[],
  access: Access,
  page: string,
): Promise<void> {
  const { request, response, path } = exchange
  access.checkOrigin(request)
  const allowed = access.isAllowed(request)
  if (path === '/' && request.method === 'GET') {
    // The page itself says what it may load.
    answerPage(exchange, allowed ? page : LOGIN_PAGE, allowed ? "frame-ancestors 'none'" : LOGIN_POLICY)
    return
  }
  if (path === '/api/login' && request.method === 'POST') {
    const { token } = Object(await readJson(request)) as { token?: unknown }
    response.setHeader('set-cookie', access.logIn(token))
    answerJson(exchange, {})
    return
  }
  if (!allowed) throw new Refusal('unauthorized', 'Open the address that `episodic view` has printed.')
  const { route, parts } = findRoute(routes, request.method ?? 'GET', path)
  await route.answer({ ...exchange, parts })
}

async function listen(server: Server, address: string, first: number): Promise<void> {
  const last = first === 0 ? 0 : Math.min(first + MOST_PORTS, 65_535)
  for (let port = first; ; port++) {
    try {
      server.listen(port, address)
      await once(server, 'listening')
      return
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException
      if (code === 'EADDRINUSE' && port < last) continue
      const asked = first === last ? `port ${first}` : `the ports ${first} to ${last}`
      throw new HarnessError(
        'server-failed',
        `Cannot listen on ${address}, ${asked}: ${message}. Give another --port or --address.`,
        { cause },
      )
    }
  }
}
