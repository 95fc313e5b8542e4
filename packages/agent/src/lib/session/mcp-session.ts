import type { WaitOptions } from '../connection/connection.ts'
import type { SessionCalls } from './session-calls.ts'
import type { SessionHealth } from './session-health.ts'
import type { TransactionCalls } from './transaction.ts'

/**
 * One session with one MCP server, for one agent: what a call leaves behind is there at the next one.
 *
 * Calls run one after the other, in the order in which they were made, also where a model asks for several at once.
 */
export interface McpSession extends SessionCalls, AsyncDisposable {
  /** The server's name in the configuration. */
  readonly server: string
  /** The era of MCP that is spoken: a server of the `modern` one keeps state by handles, and not by session. */
  readonly era: 'modern' | 'legacy'
  readonly health: SessionHealth
  /** Milliseconds since the last call was answered, or since the session was opened. */
  readonly idleMilliseconds: number
  /** The name that the session is shared by, or `null` where it is one agent's own. */
  readonly sharedAs: string | null
  /** Asks the server whether the session is still there. Rejects with nothing but the signal's own reason. */
  checkHealth(options?: WaitOptions): Promise<SessionHealth>
  /**
   * Opens the session again, whatever its health, and has it restored by its recovery. A server that is not there yet is
   * waited for, within limits. Tools are listed again: what has vanished is refused by name from then on.
   *
   * Rejects with `session-lost`, `restore-failed`, `unauthorized`, `session-closed` or `transaction-open`.
   */
  refresh(options?: WaitOptions): Promise<void>
  /**
   * Runs something between two calls that begin and commit a transaction. Where it throws, is aborted or loses its
   * session, the transaction is rolled back, and the error says so. What it throws is the error's `cause`.
   *
   * Whatever is called in the session meanwhile is part of it, and a lost session is not recovered before its end.
   *
   * Rejects with `transaction-rolled-back`, `transaction-unknown` or `transaction-open`, and where it cannot begin with
   * `call-refused` or as `callTool` does.
   */
  transaction<T>(calls: TransactionCalls, run: (session: SessionCalls) => Promise<T>, options?: WaitOptions): Promise<T>
  /** Ends the session, and what was started for it. Calls that are in flight are given up. Never rejects. */
  close(): Promise<void>
}
