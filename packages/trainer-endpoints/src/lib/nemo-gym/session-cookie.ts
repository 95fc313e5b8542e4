import { parse, serialize } from 'hono/utils/cookie'

/** What a client is given to name its session. It holds all that is needed, so it survives a restart of the server. */
export interface SessionCookie {
  /** The control handle. */
  readonly handle: string
  /** Steps that were played when it was set, so that a client that returns it says which answers it has. */
  readonly played: number
  /** The kind of failure that an answer reported; `null` while the episode is sound. */
  readonly failure: string | null
}

/**
 * The names of the cookies. Each profile has its own, so that a model which calls a tool named `close` or `step` does
 * not reach the routes of the other profile with its session.
 */
export const COOKIES = { rollout: 'episodic_session', gymnasium: 'episodic_gymnasium_session' } as const

export type CookieName = (typeof COOKIES)[keyof typeof COOKIES]

/** Reads a `Cookie` header. Returns `null` if it has none of this name that this server could have set. */
export function readCookie(header: string | null | undefined, name: CookieName): SessionCookie | null {
  const value = parse(header ?? '', name)[name] ?? ''
  const [, handle, played, failure] = /^(ctl_[\w-]+)\.(\d{1,9})(?:\.([\w-]+))?$/.exec(value) ?? []
  if (!handle) return null
  return { handle, played: Number(played), failure: failure?.replace('-', ':') ?? null }
}

/** Returns a `Set-Cookie` header. Its value needs no quoting: clients that pass it on quote in different ways. */
export function setCookieHeader(name: CookieName, { handle, played, failure }: SessionCookie): string {
  const value = [handle, played, ...(failure === null ? [] : [failure.replace(':', '-')])].join('.')
  return serialize(name, value, { path: '/', httpOnly: true, sameSite: 'Strict' })
}
