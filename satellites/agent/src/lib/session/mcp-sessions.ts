import { McpError, type WaitOptions } from '@episodic/mcp-client'
import { abortable } from '@episodic/protocol/internal'
import { AgentError } from '../agent-error.ts'
import { openConnection } from '../connection/connection.ts'
import { type McpServersConfig, parseServers, type ServerConfig, type Variables } from '../connection/server-config.ts'
import { LiveSession } from './live-session.ts'
import type { McpSession } from './mcp-session.ts'
import type { Recovery } from './recovery.ts'
import { leaseOf } from './session-lease.ts'

export interface McpSessionsOptions {
  /** The most open sessions. Default 256. */
  readonly maximumSessions?: number | undefined
  /** The most waiting calls of one session. Default 256. */
  readonly maximumWaitingCalls?: number | undefined
  /** The timeout of each: start, handshake, list of tools, in milliseconds. Default 60,000. */
  readonly openMilliseconds?: number | undefined
  /** The timeout of a call in milliseconds. Default 60,000. */
  readonly callMilliseconds?: number | undefined
  /** The attempts to reconnect before a session is lost. Default 5. */
  readonly reconnects?: number | undefined
  /** Milliseconds between the first two attempts, doubled after each, up to 5,000. Default 200. */
  readonly reconnectMilliseconds?: number | undefined
  /** By server, the recovery of expired and lost sessions. Without it, a session stays lost until `refresh`. */
  readonly recovery?: Readonly<Record<string, Recovery>> | undefined
  /** The values of `${NAME}` in the configuration, for example `process.env`. */
  readonly variables?: Variables | undefined
}

export interface OpenOptions extends WaitOptions {
  /** Shares one session among all that open it by this name, until the last one closes it. Default: not shared. */
  readonly shareAs?: string | undefined
}

/** The sessions of a program with the servers of a configuration. */
export interface McpSessions extends AsyncDisposable {
  readonly servers: readonly string[]
  readonly size: number
  /**
   * Opens a session. Rejects with `server-unknown`, `connection-failed`, `unauthorized`, `too-many-sessions` or
   * `session-closed`, or with the signal's own reason.
   */
  open(server: string, options?: OpenOptions): Promise<McpSession>
  /** Completes a redirect of `authorization` with its code. Rejects with `unauthorized`, or `server-unknown`. */
  finishAuthorization(server: string, code: string): Promise<void>
  close(): Promise<void>
}

interface Held {
  readonly opening: Promise<LiveSession>
  holders: number
}

/**
 * Creates the sessions of an `mcpServers` configuration. Nothing starts before a session is opened.
 *
 * Throws `config-invalid` and, for the recovery of a server that is not configured, `server-unknown`.
 */
export function createMcpSessions(config: McpServersConfig, options: McpSessionsOptions = {}): McpSessions {
  const servers = parseServers(config, options.variables)
  const {
    maximumSessions = 256,
    maximumWaitingCalls = 256,
    openMilliseconds = 60_000,
    callMilliseconds = 60_000,
    reconnects = 5,
    reconnectMilliseconds = 200,
    recovery = {},
  } = options
  const serverOf = (name: string): ServerConfig => {
    const server = servers.get(name)
    if (server) return server
    const known = [...servers.keys()].join(', ') || 'none'
    throw new AgentError('server-unknown', `There is no server ${name} in the configuration. It has: ${known}.`, {
      details: { server: name },
    })
  }
  for (const name of Object.keys(recovery)) serverOf(name)

  const held = new Set<Held>()
  const shared = new Map<string, Held>()
  const closing = new AbortController()
  let closed: Promise<void> | null = null

  const hold = (name: string, server: ServerConfig, { signal }: WaitOptions): Held => {
    if (held.size >= maximumSessions)
      throw new AgentError(
        'too-many-sessions',
        `${held.size} sessions are open, which are as many as may. Close one, or raise maximumSessions.`,
      )
    const connect = (wait: WaitOptions) => openConnection(name, server, { ...wait, openMilliseconds, callMilliseconds })
    const opening = LiveSession.open(
      {
        server: name,
        connect,
        recovery: recovery[name] ?? null,
        maximumWaitingCalls,
        openMilliseconds,
        reconnects,
        reconnectMilliseconds,
      },
      { signal: signal ? AbortSignal.any([signal, closing.signal]) : closing.signal },
    )
    const entry = { opening, holders: 0 }
    held.add(entry)
    return entry
  }
  const release = async (entry: Held) => {
    entry.holders--
    if (entry.holders > 0) return
    for (const [name, other] of shared) if (other === entry) shared.delete(name)
    const session = await entry.opening.catch(() => null)
    await session?.close()
    // The session counts until it has ended.
    held.delete(entry)
    noteClosed(entry)
  }
  const take = async (entry: Held, shareAs: string | null, { signal }: WaitOptions): Promise<McpSession> => {
    entry.holders++
    try {
      const session = await abortable(entry.opening, signal)
      if (closing.signal.aborted) throw poolClosed()
      noteOpen(entry, session.server)
      return leaseOf(session, shareAs, () => release(entry))
    } catch (error) {
      // Wait for the release only if no other holder still waits for the opening session.
      const released = release(entry)
      if (entry.holders === 0) await released
      throw closing.signal.aborted ? poolClosed() : error
    }
  }
  const close = async () => {
    closing.abort()
    await Promise.all(
      [...held].map(async (entry) => {
        const session = await entry.opening.catch(() => null)
        await session?.close()
        held.delete(entry)
        noteClosed(entry)
      }),
    )
    shared.clear()
  }
  const closeOnce = () => {
    closed ??= close()
    return closed
  }

  return {
    servers: [...servers.keys()],
    get size() {
      return held.size
    },
    async open(name, { signal, shareAs } = {}) {
      const server = serverOf(name)
      if (closing.signal.aborted) throw poolClosed()
      signal?.throwIfAborted()
      if (shareAs === undefined) return take(hold(name, server, { signal }), null, { signal })
      const key = JSON.stringify([name, shareAs])
      // No caller's signal aborts the opening of a shared session.
      const entry = shared.get(key) ?? hold(name, server, {})
      shared.set(key, entry)
      return take(entry, shareAs, { signal })
    },
    async finishAuthorization(name, code) {
      const server = serverOf(name)
      if (!('url' in server && server.authorization))
        throw new AgentError('config-invalid', `The server ${name} has no authorization to finish.`)
      const { finishAuthorization } = await import('@episodic/mcp-client/login')
      await finishAuthorization(server.url, server.authorization, code).catch((cause) => {
        const why = McpError.is(cause) ? cause.message : String(cause)
        const details = { server: name }
        throw new AgentError('unauthorized', `The server ${name} did not take the authorization code: ${why}`, {
          cause,
          details,
        })
      })
    },
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  }
}

function poolClosed(): AgentError {
  return new AgentError('session-closed', 'The sessions were closed. Create others.')
}

/** The open sessions, with their servers. Those still open when the process ends were never closed. */
const open = new Map<object, string>()

function noteOpen(session: object, server: string): void {
  // The listener exists only while a session is open.
  if (open.size === 0) globalThis.process?.on('exit', warn)
  open.set(session, server)
}

function noteClosed(session: object): void {
  open.delete(session)
  if (open.size === 0) globalThis.process?.off('exit', warn)
}

function warn(): void {
  const servers = [...new Set(open.values())].join(', ')
  const warning = new Error(
    `${open.size} MCP ${open.size === 1 ? 'session was' : 'sessions were'} never closed (${servers}), and ended with the process. Close them, or open them with "await using".`,
  )
  warning.name = 'EpisodicWarning'
  // `process.emitWarning` emits too late: the process has ended by then.
  process.emit('warning', warning)
}
