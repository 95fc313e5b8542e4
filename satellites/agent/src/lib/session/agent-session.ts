import type { WaitOptions } from '@episodic/mcp-client'
import type { JsonObject } from '@episodic/protocol'
import { AgentError } from '../agent-error.ts'
import type { McpServersConfig } from '../connection/server-config.ts'
import { type AgentTool, agentTool, nameTools } from './agent-tool.ts'
import type { McpSession } from './mcp-session.ts'
import { createMcpSessions, type McpSessions, type McpSessionsOptions } from './mcp-sessions.ts'

/**
 * Which calls share a session: all calls of one agent (`agent`), none (`call`: each call opens its own session, for
 * tools without state), or the calls of all agents with the same name and the same `McpSessions` (`shared:<name>`).
 */
export type SessionScope = 'agent' | 'call' | `shared:${string}`

/** The source of an agent's sessions: its own configuration, or `McpSessions` that several agents use. */
export type AgentServers = (McpServersConfig & McpSessionsOptions) | { readonly sessions: McpSessions }

export type AgentSessionConfig = AgentServers & {
  /** The servers that this agent uses. All by default. */
  readonly servers?: readonly string[] | undefined
  /** Scopes, by server (`browser`) or tool (`browser__screenshot`, whatever it is called). Default: `agent`. */
  readonly scopes?: Readonly<Record<string, SessionScope>> | undefined
}

/** The sessions and tools of one agent. */
export interface AgentSession extends AsyncDisposable {
  /** All tools, with unique names. See `nameTools`. */
  readonly tools: readonly AgentTool[]
  /** Returns the session of a server that this agent's calls share. Throws `server-unknown` if there is none. */
  session(server: string): McpSession
  /** Closes the sessions. A shared one stays open for other agents. Never rejects. */
  close(): Promise<void>
}

/** Opens an agent's sessions at once. Rejects with `config-invalid`, or as `McpSessions.open`, and closes them. */
export async function openAgentSession(
  config: AgentSessionConfig,
  { signal }: WaitOptions = {},
): Promise<AgentSession> {
  const own = 'sessions' in config ? null : createMcpSessions(config, config)
  const pool = own ?? (config as { sessions: McpSessions }).sessions
  const { servers = pool.servers, scopes = {} } = config
  const failed = new AbortController()
  const opening = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  const opened = new Map<string, Promise<McpSession>>()
  const openOnce = (server: string, scope: SessionScope): Promise<McpSession> => {
    const key = JSON.stringify([server, scope])
    const session = opened.get(key) ?? pool.open(server, { signal: opening, shareAs: shareAsOf(scope) })
    opened.set(key, session)
    return session
  }
  const close = async () => {
    await Promise.allSettled([...opened.values()].map(async (session) => (await session).close()))
    await own?.close()
  }
  try {
    checkScopes(scopes, own !== null)
    const used = new Set<string>()
    const scopeOf = (key: string): SessionScope | undefined => {
      if (Object.hasOwn(scopes, key)) used.add(key)
      return Object.hasOwn(scopes, key) ? scopes[key] : undefined
    }
    const toolsOf = async (server: string): Promise<AgentTool[]> => {
      const serverScope = scopeOf(server) ?? 'agent'
      const listed =
        serverScope === 'call' ? await listOnce(pool, server, opening) : (await openOnce(server, serverScope)).tools
      return Promise.all(
        listed.map(async (tool) => {
          const scope = scopeOf(`${server}__${tool.name}`) ?? serverScope
          if (scope === 'call') return agentTool(server, tool, callAlone(pool, server, tool.name))
          const session = await openOnce(server, scope)
          return agentTool(server, tool, (args, options) => session.callTool(tool.name, args, options))
        }),
      )
    }
    const listed = await allOrNone(servers.map(toolsOf), failed)
    const tools = nameTools(listed.flat())
    const unused = Object.keys(scopes).filter((key) => !used.has(key))
    if (unused.length > 0)
      throw new AgentError(
        'config-invalid',
        `A scope is set for ${unused.join(', ')}, which is no server and no <server>__<tool> of this agent.`,
      )
    const sessions = new Map<string, McpSession>()
    for (const each of opened.values()) {
      const session = await each
      // Tools of one server may differ in scope. The agent's own session is preferred.
      if (!sessions.has(session.server) || session.sharedAs === null) sessions.set(session.server, session)
    }
    let closed: Promise<void> | null = null
    const closeOnce = () => {
      closed ??= close()
      return closed
    }
    return {
      tools,
      session(server) {
        const session = sessions.get(server)
        if (session) return session
        const known = [...sessions.keys()].join(', ') || 'none'
        throw new AgentError('server-unknown', `This agent has no session with a server ${server}. It has: ${known}.`, {
          details: { server },
        })
      },
      close: closeOnce,
      [Symbol.asyncDispose]: closeOnce,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function checkScopes(scopes: Readonly<Record<string, SessionScope>>, alone: boolean): void {
  for (const [key, scope] of Object.entries(scopes)) {
    if (scope !== 'agent' && scope !== 'call' && !/^shared:./.test(scope))
      throw new AgentError(
        'config-invalid',
        `The scope of ${key} is "${scope}". It can be agent, call or shared:<name>.`,
      )
    if (alone && scope.startsWith('shared:'))
      throw new AgentError(
        'config-invalid',
        `The session of ${key} is to be shared as "${scope}", and this agent has its sessions to itself. Create them once with createMcpSessions, and give each agent { sessions }.`,
      )
  }
}

function shareAsOf(scope: SessionScope): string | undefined {
  return scope.startsWith('shared:') ? scope.slice('shared:'.length) : undefined
}

/** Waits for all. The first failure aborts the others, and is thrown when they have ended. */
async function allOrNone<T>(all: readonly Promise<T>[], failed: AbortController): Promise<T[]> {
  for (const each of all) each.catch((error) => failed.abort(error))
  await Promise.allSettled(all)
  if (failed.signal.aborted) throw failed.signal.reason
  return Promise.all(all)
}

async function listOnce(pool: McpSessions, server: string, signal: AbortSignal) {
  await using session = await pool.open(server, { signal })
  return session.tools
}

function callAlone(pool: McpSessions, server: string, tool: string): AgentTool['call'] {
  return async (args: JsonObject, options) => {
    await using session = await pool.open(server, options)
    return await session.callTool(tool, args, options)
  }
}
