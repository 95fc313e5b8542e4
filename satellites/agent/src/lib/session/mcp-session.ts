import type { WaitOptions } from '@episodic/mcp-client'
import type { SessionCalls, SessionHealth } from './session-calls.ts'
import type { TransactionCalls } from './transaction.ts'

/**
 * One session with one MCP server: the server keeps its state from call to call.
 *
 * Calls run one at a time, in call order, even if a model requests several at once.
 */
export interface McpSession extends SessionCalls, AsyncDisposable {
  /** The server's name in the configuration. */
  readonly server: string
  /** The protocol: with the stateless version (`modern`), a server keeps state by handles and not by session. */
  readonly protocol: 'modern' | 'legacy'
  readonly health: SessionHealth
  /** Milliseconds since the last call was answered, or since the session was opened. */
  readonly idleMilliseconds: number
  /** The name of a shared session; `null` if it is not shared. */
  readonly sharedAs: string | null
  /** Pings the server, and resolves with the health. Rejects only with the signal's reason. */
  checkHealth(options?: WaitOptions): Promise<SessionHealth>
  /**
   * Opens the session again, whatever its health, and runs the `restore` hook of its recovery. Retries a server that is
   * not reachable yet, within limits. Lists the tools again: a call of a removed one rejects with `tool-unknown`.
   *
   * Rejects with `session-lost`, `restore-failed`, `unauthorized`, `session-closed` or `transaction-open`.
   */
  refresh(options?: WaitOptions): Promise<void>
  /**
   * Runs `run` between the calls that begin and commit a transaction. If `run` throws, is aborted or loses its session,
   * the transaction is rolled back, and the `cause` of the error is what ended it.
   *
   * Every call in the session during `run` is part of the transaction, and a lost session is not recovered before its
   * end.
   *
   * Rejects with `transaction-rolled-back`, `transaction-unknown` or `transaction-open`, and if it cannot begin with
   * `call-refused` or as `callTool` does.
   */
  transaction<T>(calls: TransactionCalls, run: (session: SessionCalls) => Promise<T>, options?: WaitOptions): Promise<T>
  /** Ends the session and its child process. Pending calls reject. Never rejects. */
  close(): Promise<void>
}
