import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type LocalSite, openLocalSite } from '../local-site.ts'
import { readBody } from '../read-body.ts'

/** The limit of log-ins for each user. */
const LOG_INS: Rate = { times: 2, seconds: 60 }
/** The limit of requests for each token. */
const REQUESTS: Rate = { times: 5, seconds: 1 }
/** The lifetime of a token in milliseconds. */
const TOKEN_LIFE = 900_000
/** The most tokens, and the most items in a basket. */
const KEPT = 1_000

/** The one customer of the shop. */
export const CUSTOMER = { user: 'ada', password: 'analytical engine' }

interface Visit {
  readonly endsAt: number
  readonly basket: string[]
}

interface Reply {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly retryAfter?: number
}

/** A shop over HTTP, like many APIs: a log-in returns a token, the token has a basket, and both have a rate limit. */
export interface ShopApi extends LocalSite {
  /** Requests that a rate limit has rejected so far. */
  readonly refused: number
}

/** Opens the shop. `now` is its clock, in milliseconds. */
export async function openShopApi(now: () => number = Date.now): Promise<ShopApi> {
  const visits = new Map<string, Visit>()
  const logIns = createRateLimit(LOG_INS, now)
  const requests = createRateLimit(REQUESTS, now)
  let orders = 0
  let refused = 0

  const tooMany = (what: string, { times, seconds }: Rate, retryAfter: number): Reply => {
    refused += 1
    const message = `Too many ${what}: ${times} in ${seconds} s. Try again in ${retryAfter} s.`
    return { status: 429, body: { message }, retryAfter }
  }

  const logIn = (user: unknown, password: unknown): Reply => {
    if (user !== CUSTOMER.user || password !== CUSTOMER.password)
      return { status: 403, body: { message: 'Wrong user or password.' } }
    const limit = logIns.take(user)
    if ('retryAfter' in limit) return tooMany('log-ins', LOG_INS, limit.retryAfter)
    for (const [token, { endsAt }] of visits) if (endsAt <= now() || visits.size >= KEPT) visits.delete(token)
    const token = randomUUID()
    visits.set(token, { endsAt: now() + TOKEN_LIFE, basket: [] })
    return { status: 200, body: { token } }
  }

  const shop = (what: string, { basket }: Visit, item: unknown): Reply => {
    switch (what) {
      case 'GET /basket':
        return { status: 200, body: { basket } }
      case 'POST /basket':
        if (typeof item !== 'string' || item === '' || basket.length >= KEPT)
          return { status: 400, body: { message: 'Name an item; a basket holds 1000 of them.' } }
        basket.push(item)
        return { status: 200, body: { basket } }
      case 'POST /orders':
        if (basket.length === 0) return { status: 409, body: { message: 'The basket is empty.' } }
        orders += 1
        return { status: 200, body: { order: orders, items: basket.splice(0) } }
      default:
        return { status: 404, body: { message: `There is no ${what}.` } }
    }
  }

  const reply = async (request: IncomingMessage): Promise<Reply> => {
    const what = `${request.method} ${request.url}`
    const body = parse(await readBody(request))
    if (!body) return { status: 400, body: { message: 'The body is no JSON object.' } }
    if (what === 'POST /log-in') return logIn(body.user, body.password)
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    const visit = visits.get(token)
    if (!visit || visit.endsAt <= now()) return { status: 401, body: { message: 'Log in first.' } }
    const limit = requests.take(token)
    if ('retryAfter' in limit) return tooMany('requests', REQUESTS, limit.retryAfter)
    return shop(what, visit, body.item)
  }

  const site = await openLocalSite((request, response) => {
    reply(request)
      .catch((): Reply => ({ status: 413, body: { message: 'The body is too long.' } }))
      .then(({ status, body, retryAfter }) => {
        response.statusCode = status
        if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
        response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
      })
  })
  return {
    url: site.url,
    get refused() {
      return refused
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  if (text === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** A number of actions in a window of time. */
interface Rate {
  readonly times: number
  readonly seconds: number
}

/** Counts the actions of each key, and drops the count when its window is over. */
interface RateLimit {
  /** Counts one action. Returns how many are `left`, or the seconds to wait (`retryAfter`) if the limit is reached. */
  take(key: string): { readonly left: number } | { readonly retryAfter: number }
}

function createRateLimit({ times, seconds }: Rate, now: () => number): RateLimit {
  const windows = new Map<string, { endsAt: number; used: number }>()
  return {
    take(key) {
      for (const [old, { endsAt }] of windows) if (endsAt <= now()) windows.delete(old)
      const window = windows.get(key) ?? { endsAt: now() + seconds * 1_000, used: 0 }
      windows.set(key, window)
      if (window.used >= times) return { retryAfter: Math.ceil((window.endsAt - now()) / 1_000) }
      window.used += 1
      return { left: times - window.used }
    },
  }
}
