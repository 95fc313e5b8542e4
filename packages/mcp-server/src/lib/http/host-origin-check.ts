import { isIP } from 'node:net'
import { ServerError } from '../server-error.ts'
import type { HttpRequest } from './fast-path/connection.ts'

export interface AllowOptions {
  /** Host names that are served besides the address itself. Default: none. Required if the address is a wildcard. */
  readonly hosts?: readonly string[]
  /** Web origins whose pages may call, with CORS. Default: none; on loopback, local pages may call without CORS. */
  readonly origins?: readonly string[]
}

export interface Denial {
  readonly status: number
  readonly message: string
}

export type Guards = ReturnType<typeof createGuards>

/**
 * Creates the checks of one server. `asksTokens` is whether all clients need a token. Throws `unsafe-bind`
 * for an address that would be open to a network.
 */
export function createGuards(address: string, options: AllowOptions, asksTokens: boolean) {
  const { hosts: allowedHosts = [], origins: allowedOrigins = [] } = options
  const loopback = isLoopback(address)
  const wildcard = address === '0.0.0.0' || address === '::'
  if (!loopback && !asksTokens)
    throw new ServerError(
      'unsafe-bind',
      `${address} can be reached from a network, and the agent endpoint has no tokens. Give it tokens, or bind 127.0.0.1.`,
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
    /** Checks Host and Origin, against web pages that use a victim's browser. `null` if both are allowed. */
    checkSource(request: HttpRequest): Denial | null {
      // The fast path rejects repeated headers. `node:http` shows only the first Host of several.
      if ('rawHeaders' in request && countOf('host', request.rawHeaders) > 1)
        return { status: 400, message: 'A request names one Host, and this one names several.' }
      const { headers } = request
      const host = parseHostname(headers.host ?? '')
      if (host === null || !hosts.has(host)) return { status: 403, message: 'This server does not serve that Host.' }
      const { origin } = headers
      if (origin === undefined || allowedOrigins.includes(origin)) return null
      const from = /^https?:\/\/(.+)$/i.exec(origin)?.[1]
      return loopback && from !== undefined && isLoopback(parseHostname(from) ?? '')
        ? null
        : { status: 403, message: 'This server does not serve pages of that Origin.' }
    },
    corsHeaders({ headers: { origin } }: HttpRequest): Readonly<Record<string, string>> | undefined {
      return origin !== undefined && allowedOrigins.includes(origin)
        ? { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': 'Mcp-Session-Id', Vary: 'Origin' }
        : undefined
    },
  }
}

/** Returns the path of a URL without its query. Slashes that follow each other, as joined URLs have them, are one. */
export function pathOf(url: string | undefined): string {
  return ((url ?? '').split('?', 1)[0] as string).replace(/\/{2,}/g, '/')
}

function countOf(name: string, rawHeaders: readonly string[]): number {
  return rawHeaders.filter((raw, index) => index % 2 === 0 && raw.toLowerCase() === name).length
}

export function isLoopback(address: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(address.toLowerCase()) || /^127(\.\d{1,3}){3}$/.test(address)
}

/** The name in `name[:port]`, in lower case; `null` for anything that is not exactly that. */
function parseHostname(authority: string): string | null {
  return /^(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i.exec(authority)?.[1]?.toLowerCase() ?? null
}

function bracketed(address: string): string {
  return isIP(address) === 6 ? `[${address.toLowerCase()}]` : address.toLowerCase()
}
