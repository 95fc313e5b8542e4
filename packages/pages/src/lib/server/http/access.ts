import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { HttpProblem } from '../http-problem.ts'

export type Access = ReturnType<typeof createAccess>

/**
 * Creates the access to a server.
 *
 * @param given - a token of 16 characters or more; left out, one is drawn.
 * @param allowedHosts - further names of the server, with their ports unless those are of http or https.
 */
export function createAccess(
  address: string,
  port: number,
  { token: given, allowedHosts }: { readonly token?: string | undefined; readonly allowedHosts: readonly string[] },
) {
  const session = randomBytes(32).toString('base64url')
  let token: string | null = given ?? randomBytes(24).toString('base64url')
  const shown = token
  // Cookies are shared between all ports of a machine.
  const cookie = `episodic-view-${port}`
  const hosts = new Set([address, 'localhost', '127.0.0.1', '::1', hostname()].map((name) => name.toLowerCase()))
  const allowed = new Set(allowedHosts.map((name) => name.toLowerCase()))
  const isWildcard = address === '0.0.0.0' || address === '::'

  return {
    token: shown,
    /** Throws `forbidden` for a request that another page or another name of this machine caused. */
    checkOrigin({ headers }: IncomingMessage): void {
      const { host = '', origin } = headers
      const name = parseHostName(host)
      // A name that an attacker's server resolves to this machine is none of these.
      if (!allowed.has(host.toLowerCase()) && (name === null || !(hosts.has(name) || (isWildcard && isIP(name) !== 0))))
        throw new HttpProblem(
          'forbidden',
          `This server does not answer to the name ${host}. Open the printed address, or start it with --allow-host ${host}.`,
        )
      // A proxy that speaks TLS passes its own name on, or that of this server.
      const [, from] = /^https?:\/\/(.+)$/.exec(origin ?? '') ?? []
      const isOfOther = origin !== undefined && (from === undefined || (from !== host && !allowed.has(from)))
      if (isOfOther || headers['sec-fetch-site'] === 'cross-site')
        throw new HttpProblem('forbidden', 'This request was made by the page of another server.')
    },
    /** Whether a request has the cookie of a browser that has logged in, or a given token. */
    isAllowed({ headers }: IncomingMessage): boolean {
      const { authorization = '' } = headers
      if (given !== undefined && areEqual(authorization, `Bearer ${given}`)) return true
      const cookies = (headers.cookie ?? '').split(/; */)
      return cookies.some((one) => one.startsWith(`${cookie}=`) && areEqual(one.slice(cookie.length + 1), session))
    },
    /** Exchanges a token for a cookie, as the value of `set-cookie`. Throws `unauthorized`. */
    logIn(offered: unknown, { headers }: IncomingMessage): string {
      if (token === null || typeof offered !== 'string' || !areEqual(offered, token))
        throw new HttpProblem(
          'unauthorized',
          'This address was used before, or is of another start. Start `episodic view` again, or give it --token.',
        )
      if (given === undefined) token = null
      const overTls = headers.origin?.startsWith('https:') ? '; Secure' : ''
      return `${cookie}=${session}; HttpOnly; SameSite=Strict; Path=/${overTls}`
    },
  }
}

function parseHostName(host: string): string | null {
  try {
    return new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '').toLowerCase()
  } catch {
    return null
  }
}

/** Throws `forbidden` for a request that no page of this server made: other programs name no origin. */
export function checkOwnPage({ headers }: IncomingMessage): void {
  if (headers.origin === undefined || (headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin')
    throw new HttpProblem('forbidden', 'Only the page that `episodic view --play` shows may play.')
}

export function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
