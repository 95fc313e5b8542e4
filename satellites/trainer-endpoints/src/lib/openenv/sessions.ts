import { WireError } from '@episodic/protocol'
import { every, monotonic, randomText } from '@episodic/protocol/internal'
import { OpenEnvSession, type SessionSetting } from './session.ts'

interface NamedSession {
  readonly id: string
  readonly session: OpenEnvSession
  attached: boolean
  closing: boolean
  usedAt: number
}

export interface SessionsOptions {
  /** Sessions at once: those of WebSockets, and those that are named. */
  readonly limit: number
  readonly limitPerPrincipal: number
  /** Seconds after its last call until a named session without a WebSocket is closed. */
  readonly idleSeconds: number
  readonly onError: (cause: unknown) => void
}

/** How a named session was closed: at once, or as soon as its WebSocket is gone. */
export type Closing = 'closed' | 'closing'

export type OpenEnvSessions = ReturnType<typeof createOpenEnvSessions>

/** The open sessions of an endpoint. A session of another principal or another environment counts as unknown. */
export function createOpenEnvSessions(options: SessionsOptions) {
  const byId = new Map<string, NamedSession>()
  let count = 0
  const owned = new Map<string | null, number>()
  const interval = Math.min(30, options.idleSeconds / 4) * 1_000
  const stopReaping: () => void = every(interval, () => reap())
  return {
    open,
    close,
    async once<T>(setting: SessionSetting, call: (session: OpenEnvSession) => Promise<T>): Promise<T> {
      const session = open(setting)
      try {
        return await call(session)
      } finally {
        await close(session)
      }
    },
    /** Throws `capacity`. */
    create(setting: SessionSetting): string {
      const session = open(setting)
      const id = randomText()
      byId.set(id, { id, session, attached: false, closing: false, usedAt: monotonic() })
      return id
    },
    use(id: unknown, setting: SessionSetting): OpenEnvSession {
      return find(id, setting).session
    },
    /** Attaches a WebSocket to a named session. Throws `session-not-found`, and `invalid-request` if it has one. */
    attach(id: string, setting: SessionSetting): OpenEnvSession {
      const named = find(id, setting)
      if (named.attached) throw new WireError('invalid-request', 'This session has a WebSocket already.')
      named.attached = true
      return named.session
    },
    async detach(id: string): Promise<void> {
      const named = byId.get(id)
      if (!named) return
      named.attached = false
      named.usedAt = monotonic()
      if (named.closing) await remove(named)
    },
    async end(id: unknown, setting: SessionSetting): Promise<Closing> {
      const named = find(id, setting)
      named.closing = named.attached
      if (named.attached) return 'closing'
      await remove(named)
      return 'closed'
    },
    stop(): void {
      stopReaping()
    },
  }

  /** Throws `capacity`, which says nothing of the sessions of others. */
  function open(setting: SessionSetting): OpenEnvSession {
    const { limit, limitPerPrincipal } = options
    const { principal } = setting
    const own = owned.get(principal) ?? 0
    if (own >= limitPerPrincipal)
      throw full('You have as many sessions of OpenEnv as one principal may have', own, limitPerPrincipal)
    if (count >= limit) throw full('This server has as many sessions of OpenEnv as it may have', own, limit)
    count += 1
    owned.set(principal, own + 1)
    return new OpenEnvSession(setting)
  }

  async function close(session: OpenEnvSession): Promise<void> {
    const { principal } = session.setting
    const left = (owned.get(principal) ?? 0) - 1
    if (left > 0) owned.set(principal, left)
    else owned.delete(principal)
    count -= 1
    try {
      await session.close()
    } catch (cause) {
      options.onError(cause)
    }
  }

  function find(id: unknown, { principal, info }: SessionSetting): NamedSession {
    const named = typeof id === 'string' ? byId.get(id) : undefined
    const own = named?.session.setting
    if (!named || own?.principal !== principal || own?.info !== info)
      throw new WireError('session-not-found', 'Unknown session_id.')
    named.usedAt = monotonic()
    return named
  }

  async function remove(named: NamedSession): Promise<void> {
    byId.delete(named.id)
    await close(named.session)
  }

  function reap(): void {
    const limit = monotonic() - options.idleSeconds * 1_000
    for (const named of byId.values()) if (!named.attached && named.usedAt < limit) void remove(named)
  }
}

/** `own` is the number of sessions of the client itself. */
function full(why: string, own: number, limit: number): WireError {
  const details = { active_sessions: own, max_sessions: limit }
  return new WireError('capacity', `${why}. Close one, or try again later.`, { details })
}
