import type { JsonObject } from '@episodic/protocol'
import type { SessionTool } from '../connection/session-tool.ts'
import type { SessionCalls } from './session-calls.ts'

/** What is done by itself when a session of a server has expired or is lost. Without it, whoever calls hears of it. */
export interface Recovery {
  /**
   * Brings a fresh session to where the lost one was, such as by logging in again. Where the server keeps nothing that
   * matters, it does nothing. Its calls go through the argument, and not through the session: that waits for it.
   */
  readonly restore: (session: SessionCalls, options: { readonly signal: AbortSignal }) => Promise<void>
  /** How often one call is tried in all. 2 by default. */
  readonly attempts?: number | undefined
  /**
   * Says of a call that may have had its effect whether it may be made again. By default the tool's own hints say so:
   * `readOnlyHint` or `idempotentHint`.
   */
  readonly mayRepeat?: ((tool: SessionTool, args: JsonObject) => boolean) | undefined
}
