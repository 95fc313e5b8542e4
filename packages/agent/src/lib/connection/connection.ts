import type { JsonObject } from '@episodic/protocol'
import type { SessionTool } from './session-tool.ts'
import type { ToolAnswer } from './tool-answer.ts'

/** A wait that can be given up. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
}

/** One connection to one MCP server, with the session that the server keeps for it. */
export interface Connection {
  /** Since 2026-07-28 (`modern`) a server keeps no session for a connection; before that (`legacy`) it may. */
  readonly era: 'modern' | 'legacy'
  /** Why the other side is known to be gone, or `null`. */
  readonly gone: string | null
  listTools(options: WaitOptions): Promise<SessionTool[]>
  /** Rejects with the signal's own reason, or with a `ConnectionFailure`. */
  call(tool: SessionTool, args: JsonObject, options: WaitOptions): Promise<ToolAnswer>
  /** Asks the server for a sign of life. Rejects as `call` does. */
  ping(options: WaitOptions): Promise<void>
  /** Ends the session at the server, and whatever was started for it. Never rejects. */
  close(): Promise<void>
}

/**
 * - `expired`: the server no longer knows the session.
 * - `lost`: the connection is gone.
 * - `refused`: the server would not take the request, and the session is as it was.
 * - `unauthorized`: the credentials are refused.
 * - `timed-out`: no answer came in time.
 * - `malformed`: what came is no answer.
 */
export type FailureKind = 'expired' | 'lost' | 'refused' | 'unauthorized' | 'timed-out' | 'malformed'

/** Why a request got no answer. */
export class ConnectionFailure extends Error {
  readonly kind: FailureKind
  /** Whether the request may have reached the server, and had its effect. */
  readonly mayHaveArrived: boolean
  /** The HTTP status of the answer, or `null`. */
  readonly status: number | null

  constructor(
    kind: FailureKind,
    message: string,
    { mayHaveArrived, status = null, cause }: { mayHaveArrived: boolean; status?: number | null; cause: unknown },
  ) {
    super(message, { cause })
    this.kind = kind
    this.mayHaveArrived = mayHaveArrived
    this.status = status
  }
}
