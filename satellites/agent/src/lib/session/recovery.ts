import type { JsonObject } from '@episodic/protocol'
import type { SessionTool } from '../connection/session-tool.ts'
import type { SessionCalls } from './session-calls.ts'

/** How an expired or lost session is recovered automatically. Without it, calls reject. */
export interface Recovery {
  /** Restores the state of a new session, such as a login, by the argument: the session waits for this hook. */
  readonly restore: (session: SessionCalls, options: { readonly signal: AbortSignal }) => Promise<void>
  /** The most attempts of one call. Default 2. */
  readonly attempts?: number | undefined
  /** Whether a call that may have had its effect may be repeated. Default: `readOnlyHint` or `idempotentHint`. */
  readonly mayRepeat?: ((tool: SessionTool, args: JsonObject) => boolean) | undefined
}
