import { EnvError } from '../env-error.ts'
import type { HttpTarget, Target } from '../transport/target.ts'

/** A server of the Open Reward Standard. */
export interface OrsTarget {
  /** `http(s)://<host>:<port>`: the paths of the protocol start at the root. */
  readonly origin: string
  /** Sent as `X-API-Key`; `null` for none. */
  readonly key: string | null
}

/** Returns the server of a target such as `ors:http://127.0.0.1:8080`; `null` for another kind. Throws `target-invalid`. */
export function orsTargetOf(target: Target): OrsTarget | null {
  const { url: given, token } = (typeof target === 'string' ? { url: target } : { ...target }) as Partial<HttpTarget>
  if (typeof given !== 'string' || !given.startsWith('ors:')) return null
  const url = given.slice('ors:'.length)
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new EnvError('target-invalid', `${given} names no server. Write ors:http://<host>:<port>.`)
  return { origin: new URL(url).origin, key: token ?? null }
}
