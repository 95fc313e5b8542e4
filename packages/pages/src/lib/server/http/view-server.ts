import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HarnessError } from '@episodic/run/base/harness-error'
import type { Continuations } from '../continuations.ts'
import type { ViewedRuns } from '../folder/viewed-runs.ts'
import { HttpProblem } from '../http-problem.ts'
import type { StatesSource } from '../states-source.ts'
import { type Access, createAccess } from './access.ts'
import { answerError, answerJson, answerPage, type Exchange, readJson } from './answer.ts'
import { LOGIN_PAGE, LOGIN_POLICY } from './login-page.ts'
import { createRoutes, findRoute, type Route } from './routes.ts'

export interface ViewServerOptions {
  readonly runs: ViewedRuns
  readonly states: StatesSource
  /** Default: nothing is played. */
  readonly plays?: Continuations | undefined
  readonly page: string
  readonly address?: string
  readonly port?: number
  /** Stays valid while the server runs. Default: a token for one use is drawn. */
  readonly token?: string | undefined
  /** Further names of the server, such as that of a proxy, with a port that is not the usual one. */
  readonly allowedHosts?: readonly string[]
  /** Refuses what writes to the folders of runs. The index of a run, a cache, is written all the same. */
  readonly readOnly?: boolean
}

const MOST_CONNECTIONS = 512
/** Milliseconds. */
const TIMEOUTS = {
  headersTimeout: 5_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
  // Longer than browsers keep a connection: one that this server closes as a request arrives loses that request.
  keepAliveTimeout: 310_000,
}
/** Bytes of the body of who has not logged in. */
const MOST_LOGIN = 4_096
/** Ports that are tried after the one that is asked for. */
const MOST_PORTS = 20

/**
 * Serves the pages that show runs. Rejects with `server-failed` if the address cannot be used, or neither the port nor
 * the 20 after it is free.
 */
export async function openViewServer(options: ViewServerOptions) {
  const { address = '127.0.0.1', port = 0, token, allowedHosts = [], plays } = options
  let access: Access | null = null
  const routes = createRoutes(options)
  const server = createServer(TIMEOUTS, (request, response) => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const exchange = { request, response, signal: gone.signal }
    // Nothing that a request says may throw outside of these promises: it would end the process.
    answer(exchange, routes, access as Access, options.page)
      .catch((error) => {
        if (!gone.signal.aborted) answerError(exchange, error)
      })
      .catch(() => response.destroy())
  })
  server.maxConnections = MOST_CONNECTIONS
  await listen(server, address, port)
  const { port: own } = server.address() as AddressInfo
  access = createAccess(address, own, { token, allowedHosts })
  const name =
    address === '0.0.0.0' || address === '::' ? 'localhost' : address.includes(':') ? `[${address}]` : address
  return {
    /** With the token, as a person opens it. */
    url: `http://${name}:${own}/#/?token=${access.token}${plays ? `&play=${plays.token}` : ''}`,
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
  incoming: Omit<Exchange, 'parts' | 'query'>,
  routes: readonly Route[],
  access: Access,
  page: string,
): Promise<void> {
  const { request, response } = incoming
  const { path, query } = targetOf(request.url ?? '')
  const exchange = { ...incoming, query }
  access.checkOrigin(request)
  const allowed = access.isAllowed(request)
  // A client that has not logged in holds no connection.
  if (!allowed) response.setHeader('connection', 'close')
  if (path === '/' && request.method === 'GET') {
    // The page itself says what it may load.
    answerPage(exchange, allowed ? page : LOGIN_PAGE, allowed ? "frame-ancestors 'none'" : LOGIN_POLICY)
    return
  }
  if (path === '/api/login' && request.method === 'POST') {
    const { token } = Object(await readJson(request, MOST_LOGIN)) as { token?: unknown }
    response.setHeader('set-cookie', access.logIn(token, request))
    answerJson(exchange, {})
    return
  }
  if (!allowed) throw new HttpProblem('unauthorized', 'Open the address that `episodic view` has printed.')
  const { route, parts } = findRoute(routes, request.method ?? 'GET', path)
  await route.answer({ ...exchange, parts })
}

/** A request line may have the address of the server before the path. Throws `invalid`. */
function targetOf(line: string): { readonly path: string; readonly query: URLSearchParams } {
  const [, path, query = ''] = /^(?:https?:\/\/[^/?#]+)?(\/[^?#]*)(?:\?([^#]*))?/i.exec(line) ?? []
  if (path === undefined) throw new HttpProblem('invalid', 'Ask for a path that begins with /.')
  return { path, query: new URLSearchParams(query) }
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
