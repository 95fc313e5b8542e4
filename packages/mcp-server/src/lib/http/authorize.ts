import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { DispatcherOptions } from '../dispatch/dispatcher.ts'
import { resolveCaller } from '../dispatch/handle-request.ts'
import type { AgentAddress, AgentCaller, Caller } from '../host/caller.ts'
import type { Host, SessionRef } from '../host/host.ts'
import { type AuthOptions, type Credentials, createCredentials, type Identity } from '../transport/credentials.ts'
import { type AllowOptions, createGuards, type Denial, type Guards } from './host-origin-check.ts'
import type { HttpRequest } from './message.ts'

export interface AuthorizerOptions extends DispatcherOptions {
  readonly address: string
  readonly auth: AuthOptions & { readonly controlToken: string }
  readonly allow: AllowOptions
  readonly rate: { readonly calls: number; readonly seconds: number }
}

/** Where a request goes, by its path. */
export type Endpoint = { readonly kind: 'trainer' } | { readonly kind: 'agent'; readonly address: AgentAddress }

/** Decides who comes in by which endpoint, and how often: the same for calls and for WebSockets. */
export class Authorizer {
  readonly #host: Host
  readonly #guards: Guards
  readonly #credentials: Credentials
  readonly #limiter: RateLimiterMemory
  readonly #onError: NonNullable<DispatcherOptions['onError']>

  constructor(host: Host, options: AuthorizerOptions) {
    const { auth, rate, onError = () => {} } = options
    this.#host = host
    this.#credentials = createCredentials(auth.controlToken, auth)
    this.#guards = createGuards(options.address, options.allow, this.#credentials.asksAgents)
    this.#limiter = new RateLimiterMemory({ points: rate.calls, duration: rate.seconds })
    this.#onError = onError
  }

  checkSource(request: HttpRequest): Denial | null {
    return this.#guards.checkSource(request)
  }

  corsHeaders(request: HttpRequest): Readonly<Record<string, string>> | undefined {
    return this.#guards.corsHeaders(request)
  }

  endpointOf(path: string, { headers }: HttpRequest): Endpoint | null {
    if (path === '/env') return { kind: 'trainer' }
    const token = /^\/mcp\/s\/([\w-]+)$/.exec(path)?.[1]
    if (token) return { kind: 'agent', address: { by: 'capability', token } }
    const named = path === '/mcp' ? this.#host.environments[0]?.name : /^\/mcp\/e\/([\w-]+)$/.exec(path)?.[1]
    const environment = this.#host.environments.find(({ name }) => name === named)
    if (!environment) return null
    const sent = headers['mcp-session-id']
    const by = environment.handle === undefined ? 'transport' : 'argument'
    const connection = typeof sent === 'string' ? sent : null
    return { kind: 'agent', address: { by, token: connection, environment: environment.name } }
  }

  /** Whoever a bearer token stands for at a endpoint, at once for a token that is known here. */
  identify(endpoint: Caller['endpoint'], token: string): Identity | Denial | Promise<Identity | Denial> {
    if (endpoint === 'agent' && !this.#credentials.asksAgents) return NOBODY
    const identity = this.#credentials.identify(endpoint, token)
    if (!(identity instanceof Promise)) return identity ?? UNAUTHORIZED
    return identity.then(
      (found) => found ?? UNAUTHORIZED,
      (cause) => {
        this.#onError({ reference: 'jwks', cause })
        return { status: 503, message: 'Tokens cannot be checked at the moment. Try again later.' }
      },
    )
  }

  /**
   * Resolves the session of an agent's address, once for the rate limit and the call itself. Returns `null` if there is none, or
   * its token is not valid: the call then counts for the network address, and is answered with the refusal.
   */
  resolve(caller: Caller): SessionRef | null | Promise<SessionRef | null> {
    try {
      const session = resolveCaller(this.#host, caller)
      return session instanceof Promise ? session.catch(() => null) : session
    } catch {
      return null
    }
  }

  /** Counts a call of an agent. Resolves with 0, or with the seconds after which there is room for another. */
  async count(caller: AgentCaller, session: SessionRef | null, address: string | undefined): Promise<number> {
    try {
      const key = this.nameOf(caller, session, address)
      await this.#limiter.consume(typeof key === 'string' ? key : await key)
      return 0
    } catch (rejected) {
      return Math.ceil((rejected as { msBeforeNext: number }).msBeforeNext / 1_000)
    }
  }

  /** The name under which calls are counted together. Calls with a token that is not valid count for the network address. */
  nameOf(
    { principal, address: { by, token } }: AgentCaller,
    session: SessionRef | null,
    address: string | undefined,
  ): string | Promise<string> {
    if (principal !== null) return `principal ${principal}`
    const unproved = `from ${address}`
    if (token === null || (by !== 'argument' && !session)) return unproved
    if (by !== 'argument') return token
    try {
      const checked = this.#host.connections.check(principal, token)
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

/** The caller that an identity is at a endpoint. */
export function callerAt(endpoint: Endpoint, { principal, operator }: Identity): Caller {
  return endpoint.kind === 'trainer'
    ? { endpoint: 'trainer', principal, operator }
    : { endpoint: 'agent', principal, address: endpoint.address }
}

export function tooManyCalls(seconds: number): string {
  return `Too many calls. Try again in ${seconds} s.`
}

const NOBODY: Identity = { principal: null, operator: false }
const UNAUTHORIZED: Denial = { status: 401, message: 'This endpoint wants a bearer token that it knows.' }
