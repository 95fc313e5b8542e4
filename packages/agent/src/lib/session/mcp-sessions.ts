import { abortable } from '@episodic/protocol/extend'
import { AgentError } from '../agent-error.ts'
import type { WaitOptions } from '../connection/connection.ts'
import { finishAuthorization } from '../connection/sdk-authorization.ts'
import type { ChildReaper } from '../connection/sdk-child-reaper.ts'
import { openConnection } from '../connection/sdk-connection.ts'
import { type McpServersConfig, parseServers, type ServerConfig, type Variables } from '../connection/server-config.ts'
import { noteClosed, noteOpen } from './forgotten-sessions.ts'
import { LiveSession } from './live-session.ts'
import type { McpSession } from './mcp-session.ts'
import type { Recovery } from './recovery.ts'
import { leaseOf } from './session-lease.ts'

/** Bounds of a pool of sessions, and what it knows about its servers. */
export interface McpSessionsOptions {
  /** Sessions that may be open at once. 256 by default. */
  readonly maximumSessions?: number | undefined
  /** Calls that may wait for one session. 256 by default. */
  readonly maximumWaitingCalls?: number | undefined
  /** Milliseconds that a server has to start, to shake hands and to list its tools, each. 60 000 by default. */
  readonly openMilliseconds?: number | undefined
  /** Milliseconds that a call has. 60 000 by default. */
  readonly callMilliseconds?: number | undefined
  /** How often a server that is gone is looked for before its session is given up. 5 by default. */
  readonly reconnects?: number | undefined
  /** Milliseconds between the first two of these attempts; twice as many after each, up to 5 000. 200 by default. */
  readonly reconnectMilliseconds?: number | undefined
  /** What to do, by server, when a session has expired or is lost. Without it the session stays lost until refreshed. */
  readonly recovery?: Readonly<Record<string, Recovery>> | undefined
  /** What `${NAME}` in the configuration is replaced from, such as `process.env`. */
  readonly variables?: Variables | undefined
}

export interface OpenOptions extends WaitOptions {
  /**
   * Shares the session with everybody who opens it by this name: one connection, one state. It ends when the last of them
   * closes it. Without it a session is its opener's own.
   */
  readonly shareAs?: string | undefined
}

/** The sessions of a program: opened by the names of servers, bounded, and ended together. */
export interface McpSessions extends AsyncDisposable {
  /** The names of the servers. */
  readonly servers: readonly string[]
  /** How many sessions are open. */
  readonly size: number
  /**
   * Opens a session. Rejects with `server-unknown`, `connection-failed`, `unauthorized`, `too-many-sessions` or
   * `session-closed`, or with the signal's own reason.
   */
  open(server: string, options?: OpenOptions): Promise<McpSession>
  /**
   * Takes the code that the user agent came back with, after a server's `authorization` has redirected it. Rejects with
   * `unauthorized` where the code is refused, and with `server-unknown`.
   */
  finishAuthorization(server: string, code: string): Promise<void>
  /** Ends every session. Never rejects. */
  close(): Promise<void>
}

/** One live session, and those who hold it. */
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

  let reaper: Promise<ChildReaper> | null = null
  // What starts processes is loaded only where a server asks for one.
  const loadReaper = () => {
    reaper ??= import('../connection/sdk-child-reaper.ts').then((file) => new file.ChildReaper())
    return reaper
  }
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
    const connect = (wait: WaitOptions) =>
      openConnection(name, server, { ...wait, loadReaper, openMilliseconds, callMilliseconds })
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
    // It counts for as long as there is anything of it.
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
      // Whoever gives up a session that is still opening for others does not wait for that.
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
    await (await reaper)?.close()
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
      // Nobody's own signal ends the opening of what others wait for too.
      const entry = shared.get(key) ?? hold(name, server, {})
      shared.set(key, entry)
      return take(entry, shareAs, { signal })
    },
    async finishAuthorization(name, code) {
      await finishAuthorization(name, serverOf(name), code)
    },
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  }
}

function poolClosed(): AgentError {
  return new AgentError('session-closed', 'The sessions were closed. Create others.')
}
