import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { equalSecrets } from './handles.ts'
import type { Principal } from './host.ts'
import { ServerError } from './server-error.ts'

/** Who may come through the doors of a socket. */
export interface AccessOptions {
  /** Names in the Host header that are served besides the address itself. Needed where the address is a wildcard. */
  readonly allowedHosts?: readonly string[]
  /** Web origins whose pages may call, with CORS. None unless listed; pages of this machine may call without CORS. */
  readonly allowedOrigins?: readonly string[]
  /**
   * Bearer token → principal, for the agent's door. Off unless given; needed on any address but loopback. A token has
   * at least 22 characters.
   */
  readonly agentTokens?: Readonly<Record<string, string>>
}

/** A request that may not pass: the status and the words that it gets. */
export interface Denial {
  readonly status: number
  readonly message: string
}

export interface Guards {
  /** Host and Origin: keeps web pages from reaching the server through a victim's browser. */
  checkSource(request: IncomingMessage): Denial | null
  /** The CORS headers of an answer; none for an origin that is not listed. */
  corsHeaders(request: IncomingMessage): Readonly<Record<string, string>> | undefined
  /** The principal of the agent's door. */
  admitAgent(request: IncomingMessage): { readonly principal: Principal } | Denial
  /** Whether the request carries a control token. */
  admitControl(request: IncomingMessage, controlToken: string): Denial | null
}

/** What a bearer token is made of (RFC 6750, section 2.1). */
const TOKEN = /^[\w.~+/=-]+$/

/** Makes the guards of one socket. Throws `unsafe-bind` for an address that would be open to a network. */
export function createGuards(address: string, options: AccessOptions): Guards {
  const { allowedHosts = [], allowedOrigins = [], agentTokens = {} } = options
  const loopback = isLoopback(address)
  const wildcard = address === '0.0.0.0' || address === '::'
  const tokens = Object.entries(agentTokens)
  for (const [token] of tokens) checkToken(token, "A token of the agent's door")
  if (!loopback && tokens.length === 0)
    throw new ServerError(
      'unsafe-bind',
      `${address} can be reached from a network, and the agent's door has no tokens. Give it tokens, or bind 127.0.0.1.`,
    )
  if (wildcard && allowedHosts.length === 0)
    throw new ServerError(
      'unsafe-bind',
      `${address} answers to any name, which lets web pages in by DNS rebinding. List the host names that it serves.`,
    )
  const hosts = new Set([
    ...allowedHosts.map(bracketed),
    bracketed(address),
    ...(loopback ? ['localhost', '127.0.0.1', '[::1]'] : []),
  ])

  return {
    checkSource({ headers }) {
      const host = hostnameOf(headers.host ?? '')
      if (host === null || !hosts.has(host)) return { status: 403, message: 'This server does not serve that Host.' }
      const { origin } = headers
      if (origin === undefined || allowedOrigins.includes(origin)) return null
      const from = /^https?:\/\/(.+)$/i.exec(origin)?.[1]
      return loopback && from !== undefined && isLoopback(hostnameOf(from) ?? '')
        ? null
        : { status: 403, message: 'This server does not serve pages of that Origin.' }
    },
    corsHeaders({ headers: { origin } }) {
      return origin !== undefined && allowedOrigins.includes(origin)
        ? {
            'Access-Control-Allow-Origin': origin,
            'Access-Control-Expose-Headers': 'Mcp-Session-Id',
            Vary: 'Origin',
          }
        : undefined
    },
    admitAgent(request) {
      if (tokens.length === 0) return { principal: null }
      const given = bearerOf(request)
      let principal: Principal = null
      // Every token is compared, so that the time taken tells nothing about which one came close.
      for (const [token, name] of tokens) if (equalSecrets(given, token)) principal = name
      return principal === null ? unauthorized() : { principal }
    },
    admitControl: (request, controlToken) => (equalSecrets(bearerOf(request), controlToken) ? null : unauthorized()),
  }
}

/** Throws `option-invalid` for a bearer token that could be guessed, or that no client could send. */
export function checkToken(token: string, what: string): void {
  if (token.length < 22 || !TOKEN.test(token))
    throw new ServerError(
      'option-invalid',
      `${what} needs at least 22 characters, each a letter, a digit or one of "-._~+/=". Anything else could be guessed, or not be sent.`,
    )
}

/** Whether an address can be reached from this machine alone. */
function isLoopback(address: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(address.toLowerCase()) || /^127(\.\d{1,3}){3}$/.test(address)
}

function unauthorized(): Denial {
  return { status: 401, message: 'This door wants a bearer token that it knows.' }
}

function bearerOf({ headers }: IncomingMessage): string {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
}

/** The name in `name[:port]`, in lower case; `null` for anything that is not exactly that. */
function hostnameOf(authority: string): string | null {
  return /^(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i.exec(authority)?.[1]?.toLowerCase() ?? null
}

function bracketed(address: string): string {
  return isIP(address) === 6 ? `[${address.toLowerCase()}]` : address.toLowerCase()
}
