import type { HistoryEntry } from './conversation-record.ts'

/**
 * Puts what a conversation answers into other words. A port beside the interpreter: left out, users read the replies as the contexts
 * wrote them; a model writes more fluently.
 *
 * It decides nothing. The contexts have answered by then, and a text that drops one of their facts or adds one of its own is
 * thrown away, as is one that comes too late: the user then reads the replies as the contexts wrote them. So it may fail freely.
 * What it wrote is recorded with the input, so that a replay does not ask it again.
 */
export interface ReplyWriter {
  readonly name: string
  write(request: WriteRequest): string | Promise<string>
}

/** The request to a writer for one answer. Plain JSON but for `signal`; holds no hidden data. */
export interface WriteRequest {
  /** What the contexts answer, in the order in which it is sent: never empty. */
  readonly facts: readonly string[]
  /** What the user said; `null` where they stated an intent without words. */
  readonly said: string | null
  /** What it was taken for; `null` where it was not understood. */
  readonly intent: string | null
  /** When, in milliseconds since 1970 UTC. */
  readonly now: number
  /** What was said and done before, oldest first. Bounded. */
  readonly history: readonly HistoryEntry[]
  /** Aborted when the text would come too late or is not wanted any more. */
  readonly signal: AbortSignal
}
