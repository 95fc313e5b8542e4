import type { JsonObject } from '@episodic/protocol'
import type { SessionTool } from './session-tool.ts'
import type { ToolAnswer } from './tool-answer.ts'

/** Options of an operation that can be aborted. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
}

/** A connection to an MCP server, with the session that the server keeps for it. */
export interface Connection {
  /** The protocol: `modern` is stateless, since 2026-07-28. Before that (`legacy`) a server may keep a session. */
  readonly protocol: 'modern' | 'legacy'
  /** Why the connection ended; `null` while it is open. */
  readonly gone: string | null
  listTools(options: WaitOptions): Promise<SessionTool[]>
  /** Rejects with the signal's own reason, or with a `ConnectionFailure`. */
  call(tool: SessionTool, args: JsonObject, options: WaitOptions): Promise<ToolAnswer>
  /** Pings the server. Rejects as `call` does. */
  ping(options: WaitOptions): Promise<void>
  /** Ends the session at the server, and the process that was started for it. Never rejects. */
  close(): Promise<void>
}

/**
 * - `expired`: the server no longer knows the session.
 * - `lost`: the connection is gone.
 * - `refused`: the server rejected the request, and the session is unchanged.
 * - `unauthorized`: the server rejected the credentials.
 * - `timed-out`: no answer came in time.
 * - `malformed`: the answer is invalid.
 */
export type FailureKind = 'expired' | 'lost' | 'refused' | 'unauthorized' | 'timed-out' | 'malformed'

/** Why a request got no answer. */
export class ConnectionFailure extends Error {
  readonly kind: FailureKind
  /** Whether the request may have reached the server and had an effect. */
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
