import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { every, monotonic } from '@episodic/protocol/internal'
import type { DispatcherOptions } from '../dispatch/dispatcher.ts'
import { findSession } from '../dispatch/handle-request.ts'
import type { AgentAddress, AgentCaller, Caller } from '../host/access/caller.ts'
import type { Host, SessionRef } from '../host/host.ts'
import { type AuthOptions, createCredentials, type Identity } from '../transport/credentials.ts'
import { keepPlace } from './connection-limits.ts'
import type { ClientIdentity } from './extra-routes.ts'
import type { HttpRequest } from './fast-path/connection.ts'
import { type AllowOptions, createGuards, type Denial } from './host-origin-check.ts'
import { rejectUpgrade } from './web-sockets.ts'

/** Seconds for which an answer may be held at most. */
const MOST_HOLD = 300

export interface AuthorizerOptions extends DispatcherOptions {
  readonly address: string
  readonly auth: AuthOptions & { readonly controlToken: string }
  readonly allow: AllowOptions
  readonly rate: { readonly calls: number; readonly seconds: number }
  /** Whether every client needs a token. Default: if the agent endpoint requires one. */
  readonly asksTokens?: boolean
  /** The capability of the only session of the agent endpoint. Default: its clients open sessions. */
  readonly session?: string | undefined
}

export type Endpoint = { readonly kind: 'trainer' } | { readonly kind: 'agent'; readonly address: AgentAddress }

export type Authorizer = ReturnType<typeof createAuthorizer>

/** Identifies and rate-limits the callers of both endpoints, for calls and WebSockets alike. */
export function createAuthorizer(host: Host, options: AuthorizerOptions) {
  const { auth, rate, session, onError = () => {} } = options
  const credentials = createCredentials(auth.controlToken, auth)
  const guards = createGuards(options.address, options.allow, options.asksTokens ?? credentials.asksAgents)
  /** Calls by name in a window that begins with the first of all: a call needs no timer and no clock of its own. */
  const counts = new Map<string, number>()
  let ends = 0
  return {
    guards,
    asksTokens: credentials.asksAgents,
    /** Returns where a request goes; `null` for a path that is no endpoint, and a denial for a malformed parameter. */
    endpointOf(asked: string, { url, headers }: Pick<HttpRequest, 'url' | 'headers'>): Endpoint | Denial | null {
      // Many clients end each URL with a slash, and some lose the body when they are redirected.
      const path = asked.replace(/(?<=.)\/$/, '')
      if (path === '/env') return { kind: 'trainer' }
      const hold = readHold(url)
      if (typeof hold === 'object') return hold
      const only = path === '/mcp' ? session : undefined
      const token = only ?? /^\/mcp\/s\/([\w-]+)$/.exec(path)?.[1]
      if (token) return { kind: 'agent', address: { by: 'capability', token, hold } }
      if (session !== undefined) return null
      const named = path === '/mcp' ? host.environments[0]?.name : /^\/mcp\/e\/([\w-]+)$/.exec(path)?.[1]
      const environment = host.environments.find(({ name }) => name === named)
      if (!environment) return null
      const sent = headers['mcp-session-id']
      const by = environment.handle === undefined ? 'transport' : 'argument'
      const connection = typeof sent === 'string' ? sent : null
      return { kind: 'agent', address: { by, token: connection, environment: environment.name, hold } }
    },
    /** Returns the identity of a bearer token at an endpoint; synchronously for a token of this server. */
    identify(endpoint: Caller['endpoint'], token: string): Identity | Denial | Promise<Identity | Denial> {
      if (endpoint === 'agent' && !credentials.asksAgents) return NOBODY
      const identity = credentials.identify(endpoint, token)
      if (!(identity instanceof Promise)) return identity ?? UNAUTHORIZED
      return identity.then(
        (found) => found ?? UNAUTHORIZED,
        (cause) => {
          onError({ reference: 'jwks', cause })
          return { status: 503, message: 'Tokens cannot be checked at the moment. Try again later.' }
        },
      )
    },
    /** Counts a call of an agent. Resolves with 0, or with the seconds after which there is room for another. */
    async count(caller: AgentCaller, session: SessionRef | null, address: string | undefined): Promise<number> {
      const key = nameOf(caller, session, address)
      const name = typeof key === 'string' ? key : await key
      if (counts.size === 0) {
        ends = monotonic() + rate.seconds * 1_000
        const stop = every(rate.seconds * 1_000, () => {
          stop()
          counts.clear()
        })
      }
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      return count > rate.calls ? Math.max(1, Math.ceil((ends - monotonic()) / 1_000)) : 0
    },
    nameOf,
  }

  /** The name under which calls are counted: the network address, where the token is not valid. */
  function nameOf(
    { principal, address: { by, token } }: AgentCaller,
    session: SessionRef | null,
    address: string | undefined,
  ): string | Promise<string> {
    if (principal !== null) return `principal ${principal}`
    const unproved = `from ${address}`
    if (token === null || (by !== 'argument' && !session)) return unproved
    if (by !== 'argument') return token
    try {
      const checked = host.connections.check(principal, token)
      return checked instanceof Promise
        ? checked.then(
            () => token,
            () => unproved,
          )
        : token
    } catch {
      return unproved
    }
  }
}

export function callerAt(endpoint: Endpoint, { principal, operator }: Identity): Caller {
  return endpoint.kind === 'trainer'
    ? { endpoint: 'trainer', principal, operator }
    : { endpoint: 'agent', principal, address: endpoint.address }
}

export function tooManyCalls(seconds: number): string {
  return `Too many calls. Try again in ${seconds} s.`
}

const NOBODY: Identity = { principal: null, operator: false }
const UNAUTHORIZED: Denial = {
  status: 401,
  message:
    'The bearer token of this request is missing or wrong. Send `Authorization: Bearer <token>` with the token of this endpoint: `episodic serve` prints the file that holds that of the trainer endpoint.',
}

/** Identifies a client of an extra route: its token has to be valid at the trainer or agent endpoint. */
export async function identifyClient(
  host: Host,
  authorizer: Authorizer,
  request: IncomingMessage,
  token = tokenOf(request),
): Promise<ClientIdentity | Denial> {
  const { remoteAddress: address } = request.socket
  const identify = async (): Promise<Denial | (Identity & { readonly trainer: boolean })> => {
    const trainer = await authorizer.identify('trainer', token)
    if (!('status' in trainer)) return { ...trainer, trainer: true }
    const agent = await authorizer.identify('agent', token)
    return 'status' in agent ? agent : { ...agent, trainer: false }
  }
  const identity = await identify()
  if ('status' in identity) return identity
  const { principal, trainer } = identity
  if (principal !== null) keepPlace(request.socket)
  return {
    principal,
    trainer,
    async count(capability) {
      const seat: AgentAddress = capability === null ? NO_SEAT : { by: 'capability', token: capability }
      const caller = { endpoint: 'agent', principal, address: seat } as const
      return authorizer.count(caller, await findSession(host, caller), address)
    },
    async isWelcome() {
      const present = await identify()
      // A failure to fetch the issuer's keys does not make the token invalid.
      return 'status' in present ? present.status !== 401 : present.principal === principal
    },
  }
}

const NO_SEAT = { by: 'transport', token: null, environment: '' } as const

/** Prefix of the subprotocol with a page's token, percent-encoded: pages cannot set headers of a WebSocket. */
const BEARER_PROTOCOL = 'episodic.bearer.'

export function bearerOf({ headers }: HttpRequest): string {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
}

/** Returns the token in the header, or the one among the subprotocols; empty if there is neither. */
export function tokenOf(request: IncomingMessage): string {
  const offered = request.headers['sec-websocket-protocol']?.split(',') ?? []
  const protocol = offered.map((name) => name.trim()).find((name) => name.startsWith(BEARER_PROTOCOL))
  try {
    return bearerOf(request) || decodeURIComponent(protocol?.slice(BEARER_PROTOCOL.length) ?? '')
  } catch {
    return ''
  }
}

export function denyUpgrade(socket: Duplex, { status, message }: Denial): void {
  rejectUpgrade(socket, status, { jsonrpc: '2.0', id: null, error: { code: -32000, message } })
}

/**
 * Returns the seconds for which the answers to calls at a URL are held while other seats move: its parameter `hold`,
 * from 0 to 300; `undefined` if it has none. Returns the denial of a URL with any other value.
 */
function readHold(url: string | undefined): number | undefined | Denial {
  const query = url?.split('?', 2)[1]
  if (!query?.includes('hold')) return undefined
  const values = new URLSearchParams(query).getAll('hold')
  const [value] = values
  if (value === undefined) return undefined
  if (values.length === 1 && /^\d{1,3}$/.test(value) && Number(value) <= MOST_HOLD) return Number(value)
  return {
    status: 400,
    message: `The hold of this URL has to be one whole number of seconds from 0 to ${MOST_HOLD}, as in ?hold=60.`,
  }
}
