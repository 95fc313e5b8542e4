import { AgentError } from '../agent-error.ts'
import { type AgentSession, type AgentSessionConfig, openAgentSession } from './agent-session.ts'
import { createKeptMessages, type KeepOptions, type KeptMessages } from './kept-messages.ts'
import { Turns } from './turns.ts'

export interface ExecutorOptions {
  /** The most invocations that wait for one executor. Default 16. */
  readonly maximumWaitingInvocations?: number | undefined
}

interface ExecutorTurn extends Disposable {
  readonly session: AgentSession
  /** Aborted by the caller's signal and by `close` of the executor. */
  readonly signal: AbortSignal
}

/** What the executors of every framework have: one session, the queue of its invocations, and their messages. */
export abstract class AgentExecutor<Message> implements AsyncDisposable {
  protected readonly kept: KeptMessages<Message>
  readonly #config: AgentSessionConfig
  readonly #turns: Turns
  readonly #closing = new AbortController()
  #opening: Promise<AgentSession> | null = null
  #closed: Promise<void> | null = null

  /** `startsTurn` returns whether a conversation can start with a message. */
  constructor(config: AgentSessionConfig & KeepOptions & ExecutorOptions, startsTurn: (message: Message) => boolean) {
    const { maximumWaitingInvocations = 16 } = config
    this.#config = config
    this.kept = createKeptMessages(config, startsTurn)
    this.#turns = new Turns(
      maximumWaitingInvocations,
      (waiting) =>
        new AgentError(
          'executor-busy',
          `${waiting} invocations wait for this executor, which are as many as may. They run one after the other: use an executor for each agent that works at the same time.`,
        ),
    )
  }

  /** Waits for a turn, and opens the session for the first one. Rejects as `openAgentSession` does. */
  protected async take(signal: AbortSignal | undefined): Promise<ExecutorTurn> {
    const waiting = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal
    const end = await this.#turns.take(waiting)
    try {
      this.#opening ??= openAgentSession(this.#config, { signal: waiting })
      const session = await this.#opening.catch((error) => {
        // The next invocation tries again.
        this.#opening = null
        throw error
      })
      return { session, signal: waiting, [Symbol.dispose]: end }
    } catch (error) {
      end()
      throw error
    }
  }

  /** Aborts running and waiting invocations, and closes the sessions. Never rejects. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#closing.abort(new AgentError('session-closed', 'The executor was closed. Create another one.'))
    // A running invocation gets the signal, but `close` does not wait for it: a model may ignore signals.
    const session = await this.#opening?.catch(() => null)
    await session?.close()
  }
}
