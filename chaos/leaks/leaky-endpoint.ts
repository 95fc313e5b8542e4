import type { AgentEndpoint, EndpointSession } from '@episodic/harness'
import type { Host, SessionRef } from '@episodic/mcp-server'
import { DEFAULT_SEAT, type JsonObject, type OpenResult } from '@episodic/protocol'

/** What a careless server knows of the sessions that it plays. */
export interface Knowledge {
  readonly sessions: readonly OpenResult[]
  /** The session of a capability. */
  of(capability: string): OpenResult | undefined
  hidden(session: OpenResult | undefined): Promise<JsonObject>
}

/** An endpoint with something between it and the host that knows all sessions, and changes what the host does. */
export function leakyHost(
  endpoint: AgentEndpoint,
  change: (host: Host, known: Knowledge) => Partial<Host>,
): AgentEndpoint {
  return { name: endpoint.name, open: (host) => endpoint.open(withChanges(host, change(host, learn(host)))) }
}

/** An endpoint at which every session does something else; `capability` is the token that it was resolved by. */
export function leakySessions(
  endpoint: AgentEndpoint,
  change: (session: SessionRef, capability: string, known: Knowledge) => Partial<SessionRef>,
): AgentEndpoint {
  return leakyHost(endpoint, (host, known) => ({
    resolve: (async (principal, address) => {
      const session = await host.resolve(principal, address)
      return withChanges(session, change(session, address.token ?? '', known))
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
  return {
    sessions,
    of: (capability) => sessions.find(({ seats }) => seats[DEFAULT_SEAT]?.capability === capability),
    async hidden(opened) {
      if (!opened) return {}
      const session = await host.resolve(null, { by: 'control', token: opened.session })
      return (await session.state()).state.private
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
