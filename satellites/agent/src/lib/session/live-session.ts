import { McpError, reasonOf, type WaitOptions } from '@episodic/mcp-client'
import type { JsonObject } from '@episodic/protocol'
import { monotonic, pause } from '@episodic/protocol/internal'
import { AgentError, SessionLostError } from '../agent-error.ts'
import type { Connection } from '../connection/connection.ts'
import { claimsRepeatable, type SessionTool } from '../connection/session-tool.ts'
import type { ToolAnswer } from '../connection/tool-answer.ts'
import type { McpSession } from './mcp-session.ts'
import type { Recovery } from './recovery.ts'
import type { CallOptions, SessionCalls, SessionHealth } from './session-calls.ts'
import { callError, type SessionStatus, sessionError } from './session-errors.ts'
import { runTransaction, type TransactionCalls } from './transaction.ts'
import { Turns } from './turns.ts'

export interface LiveSessionOptions {
  readonly server: string
  readonly connect: (options: WaitOptions) => Promise<Connection>
  readonly recovery: Recovery | null
  readonly maximumWaitingCalls: number
  readonly openMilliseconds: number
  /** The attempts of `refresh` to connect, and the milliseconds before the second one. */
  readonly reconnects: number
  readonly reconnectMilliseconds: number
}

/** The most milliseconds between two attempts to connect. */
const LONGEST_PAUSE = 5_000

export class LiveSession implements Omit<McpSession, 'sharedAs' | keyof AsyncDisposable> {
  readonly server: string
  readonly #options: LiveSessionOptions
  readonly #turns: Turns
  readonly #closing = new AbortController()
  #connection: Connection
  #tools: ReadonlyMap<string, SessionTool>
  #vanished: ReadonlySet<string> = new Set()
  #health: SessionHealth = 'open'
  #why = ''
  #usedAt = monotonic()
  #inTransaction = false
  #closed: Promise<void> | null = null

  private constructor(options: LiveSessionOptions, connection: Connection, tools: readonly SessionTool[]) {
    this.server = options.server
    this.#options = options
    this.#turns = new Turns(options.maximumWaitingCalls, tooManyCalls)
    this.#connection = connection
    this.#tools = byName(tools)
  }

  /** Opens a session. Rejects with `connection-failed` or `unauthorized`, or with the signal's own reason. */
  static async open(options: LiveSessionOptions, { signal }: WaitOptions): Promise<LiveSession> {
    const { connection, tools } = await connectAndList(options, { signal })
    return new LiveSession(options, connection, tools)
  }

  get protocol(): 'modern' | 'legacy' {
    return this.#connection.protocol
  }

  get tools(): readonly SessionTool[] {
    return [...this.#tools.values()]
  }

  get health(): SessionHealth {
    if (this.#health === 'open' && this.#connection.gone !== null) this.#end('lost', this.#connection.gone)
    return this.#health
  }

  get idleMilliseconds(): number {
    return monotonic() - this.#usedAt
  }

  callTool(name: string, args: JsonObject = {}, options: CallOptions = {}): Promise<ToolAnswer> {
    return this.#turns.run(options.signal, () => this.#call(name, args, options))
  }

  async checkHealth({ signal }: WaitOptions = {}): Promise<SessionHealth> {
    return this.#turns.run(signal, async () => {
      if (this.health !== 'open') return this.health
      try {
        await this.#connection.ping({ signal })
      } catch (error) {
        signal?.throwIfAborted()
        // A server that rejects a ping is alive.
        if (McpError.is(error)) this.#note(error)
      }
      return this.health
    })
  }

  async refresh({ signal }: WaitOptions = {}): Promise<void> {
    await this.#turns.run(signal, async () => {
      if (this.#inTransaction)
        throw new AgentError('transaction-open', 'A session cannot be refreshed inside a transaction. End it first.')
      await this.#reopen(signal)
    })
  }

  async transaction<T>(
    calls: TransactionCalls,
    run: (session: SessionCalls) => Promise<T>,
    options: WaitOptions = {},
  ): Promise<T> {
    // The session is recovered before the transaction starts, and not during it.
    if (this.health !== 'open') await this.#turns.run(options.signal, () => this.#ensureOpen(options.signal))
    if (this.#inTransaction)
      throw new AgentError('transaction-open', 'This session is in a transaction already. One runs at a time.')
    this.#inTransaction = true
    try {
      const session = this
      const inside = {
        get tools() {
          return session.tools
        },
        get health() {
          return session.health
        },
        callTool: (name: string, args?: JsonObject, callOptions?: CallOptions) =>
          session.callTool(name, args, callOptions),
        abandon: () => session.#abandon('its transaction could not be ended'),
      }
      return await runTransaction(inside, calls, run, options)
    } finally {
      this.#inTransaction = false
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#end('closed', 'it was closed')
    this.#closing.abort()
    await this.#connection.close()
  }

  async #call(name: string, args: JsonObject, { signal, mayRepeat }: CallOptions): Promise<ToolAnswer> {
    const { recovery } = this.#options
    const attempts = recovery && !this.#inTransaction ? (recovery.attempts ?? 2) : 1
    for (let attempt = 1; ; attempt++) {
      if (this.health !== 'open') await this.#ensureOpen(signal)
      const tool = this.#toolOf(name)
      try {
        const answer = await this.#connection.call(tool, args, { signal })
        this.#usedAt = monotonic()
        return answer
      } catch (error) {
        if (!McpError.is(error)) throw error
        this.#note(error)
        const repeatable = mayRepeat ?? recovery?.mayRepeat?.(tool, args) ?? claimsRepeatable(tool)
        const again = attempt < attempts && isPassing(error) && (repeatable || !error.mayHaveArrived)
        if (!again || this.#health === 'closed') throw callError(this.#status(), tool.name, error, repeatable)
      }
    }
  }

  #toolOf(name: string): SessionTool {
    const tool = this.#tools.get(name)
    if (tool) return tool
    const known = [...this.#tools.keys()].join(', ') || 'none'
    const why = this.#vanished.has(name)
      ? 'has no such tool any more since the session was refreshed'
      : 'has no such tool'
    throw new AgentError('tool-unknown', `Cannot call ${name}: the server ${this.server} ${why}. It has: ${known}.`, {
      details: { server: this.server, tool: name },
    })
  }

  async #ensureOpen(signal: AbortSignal | undefined): Promise<void> {
    const { health } = this
    if (health === 'open') return
    if (health !== 'closed' && this.#options.recovery && !this.#inTransaction) return this.#reopen(signal)
    throw this.#notOpen()
  }

  async #reopen(signal: AbortSignal | undefined): Promise<void> {
    if (this.health === 'closed') throw this.#notOpen()
    const waiting = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal
    try {
      await this.#connection.close()
      if (this.health === 'open') this.#end('lost', 'it is being opened again')
      const { connection, tools } = await this.#connectAgain(waiting)
      const before = this.#tools
      this.#connection = connection
      this.#tools = byName(tools)
      this.#vanished = new Set([...this.#vanished, ...before.keys()].filter((name) => !this.#tools.has(name)))
      await this.#restore(connection, waiting)
      waiting.throwIfAborted()
      this.#health = 'open'
      this.#usedAt = monotonic()
    } catch (error) {
      if (this.#closing.signal.aborted) {
        await this.#connection.close()
        throw this.#notOpen()
      }
      throw error
    }
  }

  async #connectAgain(signal: AbortSignal): Promise<Awaited<ReturnType<typeof connectAndList>>> {
    const { reconnects, reconnectMilliseconds } = this.#options
    for (let attempt = 1, wait = reconnectMilliseconds; ; attempt++, wait = Math.min(2 * wait, LONGEST_PAUSE)) {
      try {
        return await connectAndList(this.#options, { signal })
      } catch (error) {
        if (!AgentError.is(error, 'connection-failed')) throw error
        if (attempt >= reconnects)
          throw new SessionLostError(
            `The session with ${this.server} is lost, and could not be opened again in ${attempt} attempts: ${error.message}`,
            { cause: error, details: { server: this.server } },
          )
        await pause(wait, signal)
      }
    }
  }

  async #restore(connection: Connection, signal: AbortSignal): Promise<void> {
    const { recovery, openMilliseconds } = this.#options
    if (!recovery) return
    const stop = new AbortController()
    const waiting = AbortSignal.any([signal, stop.signal])
    const calls: SessionCalls = {
      tools: this.tools,
      callTool: async (name, args = {}, options = {}) => {
        const both = options.signal ? AbortSignal.any([options.signal, waiting]) : waiting
        try {
          return await connection.call(this.#toolOf(name), args, { signal: both })
        } catch (error) {
          throw McpError.is(error) ? callError(this.#status(), name, error, false) : error
        }
      },
    }
    const limit = pause(openMilliseconds, waiting).then(() => {
      throw new Error(
        `it took more than ${openMilliseconds} ms. Its calls go through its own argument: the session itself waits for it`,
      )
    })
    try {
      await Promise.race([recovery.restore(calls, { signal: waiting }), limit])
    } catch (cause) {
      await this.#abandon('it was not restored')
      signal.throwIfAborted()
      throw new AgentError(
        'restore-failed',
        `The session with ${this.server} was opened again, and then its restore hook failed: ${reasonOf(cause)}`,
        { cause, details: { server: this.server } },
      )
    } finally {
      stop.abort()
      await limit.catch(() => {})
    }
  }

  async #abandon(why: string): Promise<void> {
    this.#end('lost', why)
    await this.#connection.close()
  }

  #note({ code, why }: McpError): void {
    if (code === 'expired' || code === 'lost') this.#end(code, why)
  }

  #end(health: Exclude<SessionHealth, 'open'>, why: string): void {
    if (this.#health === 'closed') return
    // The first reason is the cause of later ones.
    if (this.#health !== 'open' && health !== 'closed') return
    this.#health = health
    this.#why = why
  }

  #notOpen(): AgentError {
    return sessionError(this.#status())
  }

  #status(): SessionStatus {
    return { server: this.server, health: this.health, why: this.#why }
  }
}

function tooManyCalls(waiting: number): AgentError {
  return new AgentError(
    'too-many-calls',
    `${waiting} calls wait for this session, which are as many as may. They run one after the other.`,
  )
}

function isPassing({ code }: McpError): boolean {
  return code !== 'refused' && code !== 'unauthorized' && code !== 'login-failed'
}

async function connectAndList(
  { server, connect }: LiveSessionOptions,
  options: WaitOptions,
): Promise<{ readonly connection: Connection; readonly tools: readonly SessionTool[] }> {
  const connection = await connect(options)
  try {
    return { connection, tools: await connection.listTools(options) }
  } catch (cause) {
    await connection.close()
    options.signal?.throwIfAborted()
    throw new AgentError(
      'connection-failed',
      `Cannot open a session with the server ${server}: it did not list its tools: ${reasonOf(cause)}`,
      { cause, details: { server } },
    )
  }
}

function byName(tools: readonly SessionTool[]): ReadonlyMap<string, SessionTool> {
  return new Map(tools.map((tool) => [tool.name, tool]))
}
