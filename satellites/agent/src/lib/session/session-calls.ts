import type { WaitOptions } from '@episodic/mcp-client'
import type { JsonObject } from '@episodic/protocol'
import type { SessionTool } from '../connection/session-tool.ts'
import type { ToolAnswer } from '../connection/tool-answer.ts'

export interface CallOptions extends WaitOptions {
  /** Whether this call may be made again if its answer was lost. By default its recovery says so, or its hints. */
  readonly mayRepeat?: boolean | undefined
}

export interface SessionCalls {
  /** What the server listed when the session was opened, or refreshed last. */
  readonly tools: readonly SessionTool[]
  /**
   * Calls a tool. What it refuses is an answer with `isError`, for the model to read.
   *
   * Rejects with the signal's own reason, or with `tool-unknown`, `too-many-calls`, `session-closed`,
   * `session-expired`, `session-lost`, `unauthorized`, `call-refused`, `call-timed-out`, `answer-malformed`,
   * `restore-failed` or `outcome-unknown`.
   */
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<ToolAnswer>
}

/**
 * - `open`: as far as is known. A server over HTTP can be gone without a word: `checkHealth` asks it.
 * - `expired`: the server has ended it. - `lost`: the connection is gone. - `closed`: its owner has closed it.
 */
export type SessionHealth = 'open' | 'expired' | 'lost' | 'closed'
