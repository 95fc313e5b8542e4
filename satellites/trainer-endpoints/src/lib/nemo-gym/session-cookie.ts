import { serialize } from 'hono/utils/cookie'

/** What a client is given to name its session. It holds all that is needed, so it survives a restart of the server. */
export interface SessionCookie {
  readonly handle: string
  /** The mark of the row that the session was opened with; `null` in the Gymnasium profile, which needs no `verify`. */
  readonly row: string | null
  /** Steps that were played when it was set, so that a client that returns it says which answers it has. */
  readonly played: number
  /** The kind of failure that an answer reported; `null` while the episode is sound. */
  readonly failure: string | null
}

/** The cookies' names, one a profile: a tool called `close` does not reach the routes of the other profile. */
export const COOKIES = { rollout: 'episodic_session', gymnasium: 'episodic_gymnasium_session' } as const

export type CookieName = (typeof COOKIES)[keyof typeof COOKIES]

/** A control handle, and the mark of a row right after it. */
const VALUE = /^(ctl_[\w-]{44})([\da-f]{32}(?:[\w-]{3})*)?\.(\d{1,9})(?:\.([\w-]+))?$/

/**
 * Reads a `Cookie` header. Returns `null` if it has none of this name that this server could have set, or those of
 * several sessions. Of several cookies of one session, the one after the most steps counts, and any failure.
 */
export function readCookie(header: string | null | undefined, name: CookieName): SessionCookie | null {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => parseValue(pair.slice(name.length + 1).replace(/^"(.*)"$/, '$1')))
  return values.length === 0 ? null : values.reduce(merge)
}

function parseValue(value: string): SessionCookie | null {
  const [, handle, row = null, played, failure] = VALUE.exec(value) ?? []
  if (!handle) return null
  return { handle, row, played: Number(played), failure: failure?.replace('-', ':') ?? null }
}

function merge(a: SessionCookie | null, b: SessionCookie | null): SessionCookie | null {
  if (!a || !b || a.handle !== b.handle || a.row !== b.row) return null
  return { ...(a.played > b.played ? a : b), failure: a.failure ?? b.failure }
}

/** Returns a `Set-Cookie` header. Its value needs no quoting: clients that pass it on quote in different ways. */
export function setCookieHeader(name: CookieName, { handle, row, played, failure }: SessionCookie): string {
  const value = [`${handle}${row ?? ''}`, played, ...(failure === null ? [] : [failure.replace(':', '-')])].join('.')
  return serialize(name, value, { path: '/', httpOnly: true, sameSite: 'Strict' })
}
