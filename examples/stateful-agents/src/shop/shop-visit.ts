import { setTimeout as delay } from 'node:timers/promises'

/** The longest `Retry-After` in seconds that a call waits for; it fails at a longer one. */
const LONGEST_WAIT = 5
/** The most waits of a call. */
const WAITS = 3

export interface ShopCredentials {
  readonly url: string
  readonly user: string
  readonly password: string
}

/** One visit to the shop: one log-in at the first request, then one token and its basket. */
export interface ShopVisit {
  /** Sends a request, and retries after short waits if the shop asks for them. Rejects with the shop's message. */
  request(method: string, path: string, body: object | undefined, signal: AbortSignal): Promise<Record<string, unknown>>
}

export function createShopVisit({ url, user, password }: ShopCredentials): ShopVisit {
  let loggingIn: Promise<string> | undefined

  /** Sends a request, repeated a few times if the shop is busy. */
  const ask = async (method: string, path: string, body: object | undefined, token: string, signal: AbortSignal) => {
    for (let waited = 0; ; waited += 1) {
      const response = await fetch(new URL(path, url), {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
        signal,
      })
      const answer = (await response.json()) as Record<string, unknown>
      if (response.ok) return answer
      const seconds = Number(response.headers.get('retry-after'))
      const busy = response.status === 429 && seconds <= LONGEST_WAIT && waited < WAITS
      if (!busy) throw Object.assign(new Error(`The shop says: ${answer.message}`), { status: response.status })
      await delay(seconds * 1_000, undefined, { signal })
    }
  }

  const logIn = async (signal: AbortSignal) => {
    const { token } = await ask('POST', '/log-in', { user, password }, '', signal)
    return String(token)
  }

  return {
    async request(method, path, body, signal) {
      // Concurrent requests share one log-in. After a failed one the next request tries again.
      loggingIn ??= logIn(signal)
      try {
        return await ask(method, path, body, await loggingIn, signal)
      } catch (error) {
        const { status } = error as { status?: number }
        const loggedIn = await loggingIn.then(
          () => true,
          () => false,
        )
        if (!loggedIn || status === 401) loggingIn = undefined
        if (loggedIn && status === 401)
          throw new Error('The shop ended this visit, and its basket is gone. The next call logs in again.', {
            cause: error,
          })
        throw error
      }
    },
  }
}
