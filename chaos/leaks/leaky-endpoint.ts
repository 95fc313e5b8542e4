import type { Host, TrainerSessionRef } from '@episodic/mcp-server'
import type { JsonObject, MethodResult, OpenResult } from '@episodic/protocol'
import type { AgentEndpoint, EndpointSession } from './endpoints/agent-endpoint.ts'

/** What a careless server knows of the sessions that it plays. */
export interface Knowledge {
  readonly sessions: readonly OpenResult[]
  /** The session of a capability, or of a handle. */
  of(token: string): OpenResult | undefined
  hidden(session: OpenResult | undefined): Promise<JsonObject>
  /** The whole session of a token. */
  stateOf(token: string): Promise<MethodResult<'state'>>
  /** The other seats than that of a token. */
  othersOf(token: string): readonly string[]
  /**
   * Whether the cards of the other seats than that of a token add up to an odd number; `false` for an unknown token.
   */
  oddElsewhere(token: string): Promise<boolean>
}

/** An endpoint with something between it and the host that knows all sessions, and changes what the host does. */
function leakyHost(endpoint: AgentEndpoint, change: (host: Host, known: Knowledge) => Partial<Host>): AgentEndpoint {
  return { name: endpoint.name, open: (host) => endpoint.open(withChanges(host, change(host, learn(host)))) }
}

/** An endpoint at which every session does something else; `token` is the one that it was resolved by. */
export function leakySessions(
  endpoint: AgentEndpoint,
  change: (session: TrainerSessionRef, token: string, known: Knowledge) => Partial<TrainerSessionRef>,
): AgentEndpoint {
  return leakyHost(endpoint, (host, known) => ({
    resolve: (async (principal, address) => {
      const session = await host.resolve(principal, address)
      // An agent's session has less than a trainer's, and what it lacks is not called.
      return withChanges(session as TrainerSessionRef, change(session as TrainerSessionRef, address.token ?? '', known))
    }) as Host['resolve'],
  }))
}

/** An endpoint with something between it and the agent, which changes what comes back. */
export function leakyWire(
  endpoint: AgentEndpoint,
  change: (answer: string, known: Knowledge) => Promise<string>,
): AgentEndpoint {
  return {
    name: endpoint.name,
    async open(host) {
      const known = learn(host)
      const opened = await endpoint.open(host)
      return {
        async openSession(capability) {
          const session: EndpointSession = await opened.openSession(capability)
          const { unusualRequests } = session
          return {
            unusualRequests,
            send: async (message) => change(await session.send(message), known),
            collectNotifications: () => session.collectNotifications(),
            close: () => session.close(),
          }
        },
        [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
      }
    },
  }
}

/** Remembers every session that is opened from now on. */
function learn(host: Host): Knowledge {
  const sessions: OpenResult[] = []
  const open = host.open.bind(host)
  host.open = async (principal, request) => {
    const opened = await open(principal, request)
    sessions.push(opened)
    return opened
  }
  const of = (token: string) =>
    sessions.find(({ seats }) => Object.values(seats).some((seat) => [seat.capability, seat.handle].includes(token)))
  const stateOf = async (token: string) => {
    const session = await host.resolve(null, { by: 'control', token: of(token)?.session ?? '' })
    return session.state()
  }
  const othersOf = (token: string) =>
    Object.entries(of(token)?.seats ?? {})
      .filter(([, { capability, handle }]) => ![capability, handle].includes(token))
      .map(([seat]) => seat)
  return {
    sessions,
    of,
    stateOf,
    othersOf,
    async oddElsewhere(token) {
      if (!of(token)) return false
      const { own = {} } = (await stateOf(token)).state
      return othersOf(token).reduce((sum, seat) => sum + Number(own[seat]?.card), 0) % 2 === 1
    },
    async hidden(opened) {
      if (!opened) return {}
      const session = await host.resolve(null, { by: 'control', token: opened.session })
      // A closed session has no state any more.
      return session.state().then(
        ({ state }) => state.private,
        () => ({}),
      )
    },
  }
}

function withChanges<T extends object>(whole: T, changed: Partial<T>): T {
  return new Proxy(whole, {
    get(target, key) {
      if (Object.hasOwn(changed, key)) return changed[key as keyof T]
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
