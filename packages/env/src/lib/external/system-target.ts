import type { HttpTarget } from '@episodic/mcp-client'
import type { Target } from '@episodic/mcp-client/channel'
import { EnvError } from '../env-error.ts'

export interface SystemTarget {
  /** `http(s)://<host>:<port>/<path>`, without a slash at its end. */
  readonly url: string
  readonly token: string | null
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Returns the server of a target such as `ors:http://127.0.0.1:8080`; `null` if the target is not of this system.
 * Throws `target-invalid` if no URL of http(s) follows.
 */
export function toSystemTarget(system: 'ors' | 'openenv', target: Target): SystemTarget | null {
  const given = (typeof target === 'string' ? { url: target } : { ...target }) as Partial<HttpTarget>
  const { url, token = null, headers = {} } = given
  if (typeof url !== 'string' || !url.startsWith(`${system}:`)) return null
  const address = url.slice(system.length + 1)
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw new EnvError('target-invalid', `${url} names no server. Write ${system}:http://<host>:<port>.`)
  const { origin, pathname } = new URL(address)
  return { url: `${origin}${pathname.replace(/\/+$/, '')}`, token, headers }
}

/** Sends a request to a server. Rejects with `connection-failed` if it does not answer. */
export async function fetchFrom(
  { url }: SystemTarget,
  path: string,
  init: RequestInit,
  signal: AbortSignal | undefined,
): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, { ...init, ...(signal && { signal }) })
  } catch (cause) {
    signal?.throwIfAborted()
    throw new EnvError('connection-failed', `${url} does not answer.`, { cause })
  }
}

const ADVICE: Readonly<Record<number, string>> = {
  401: ' Give its token.',
  403: ' Give its token.',
  404: ' Give the address of a server of this system.',
}

/** Returns the error for an answer with a status that says no; `why` ends its sentence. */
export function refusedWith(status: number, where: string, why: string): EnvError {
  return new EnvError('connection-failed', `${where} answered ${status}${why}${ADVICE[status] ?? ''}`, {
    details: { status, retryable: status === 429 || status >= 502 },
  })
}
