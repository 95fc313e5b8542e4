import { type AskedText, type AskOptions, askText } from './ask.ts'
import type { HistoryEntry } from './conversation-record.ts'
import { factProblem } from './fact-problem.ts'

/**
 * Rewords the replies of a conversation. A port beside the interpreter: left out, users read the replies as the
 * contexts wrote them; a model writes more fluently.
 *
 * It decides nothing. The contexts have answered by then, and a text that drops one of their facts, adds one or comes
 * too late is discarded: the user then gets the replies unchanged. So it may fail freely. Its text is recorded with the
 * input, so that a replay does not ask it again.
 */
export interface ReplyWriter {
  readonly name: string
  write(request: WriteRequest): string | Promise<string>
}

/** The request to a writer for one answer. Plain JSON but for `signal`; holds no hidden data. */
export interface WriteRequest {
  /** The replies of the contexts, in the order in which they are sent: never empty. */
  readonly facts: readonly string[]
  /** What the user said; `null` for an intent without words. */
  readonly said: string | null
  /** The recognised intent; `null` if the input was not understood. */
  readonly intent: string | null
  /** The time of the input, in milliseconds since 1970 UTC. */
  readonly now: number
  /** Earlier inputs and replies, oldest first. Bounded. */
  readonly history: readonly HistoryEntry[]
  /** Aborted when the text would come too late or is not needed any more. */
  readonly signal: AbortSignal
}

export const UNWRITTEN: AskedText = Object.freeze({ text: null, problem: null })

/**
 * Asks a writer, and checks its text against the facts. Rejects only when `signal` is aborted.
 *
 * @param longest - the longest text that is allowed, in UTF-16 code units.
 */
export function writeReply(
  writer: ReplyWriter,
  request: Omit<WriteRequest, 'signal'>,
  longest: number,
  options: AskOptions,
): Promise<AskedText> {
  return askText(
    {
      who: `The writer ${writer.name}`,
      ask: (signal) => writer.write({ ...request, signal }),
      longest,
      problemOf: (text) => factProblem(text, request),
    },
    options,
  )
}
