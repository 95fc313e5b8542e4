import type { AgentDoor, Conversation } from '@episodic/harness'
import type { Host } from '@episodic/mcp-server'
import { DEFAULT_SEAT, type JsonObject, type OpenResult } from '@episodic/protocol'

/** What a careless server knows of the sessions that it plays. */
export interface Knowledge {
  readonly sessions: readonly OpenResult[]
  /** The session of a capability. */
  of(capability: string): OpenResult | undefined
  hidden(session: OpenResult | undefined): Promise<JsonObject>
}

/** A door with something between it and the host that knows all sessions, and changes what the host does. */
export function leakyHost(door: AgentDoor, change: (host: Host, known: Knowledge) => Partial<Host>): AgentDoor {
  return { name: door.name, open: (host) => door.open(withChanges(host, change(host, learn(host)))) }
}

/** A door with something between it and the agent, which changes what comes back. */
export function leakyWire(door: AgentDoor, change: (answer: string, known: Knowledge) => Promise<string>): AgentDoor {
  return {
    name: door.name,
    async open(host) {
      const known = learn(host)
      const opened = await door.open(host)
      return {
        async converse(capability) {
          const conversation: Conversation = await opened.converse(capability)
          const { oddities } = conversation
          return {
            oddities,
            say: async (message) => change(await conversation.say(message), known),
            listen: () => conversation.listen(),
            close: () => conversation.close(),
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
    hidden: async (session) => (session ? (await host.state(null, session.session)).state.private : {}),
  }
}

function withChanges(host: Host, changed: Partial<Host>): Host {
  return new Proxy(host, {
    get(target, key) {
      if (Object.hasOwn(changed, key)) return changed[key as keyof Host]
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
