import { systemClock } from '@episodic/state'
import { z } from 'zod'
import { askWithin } from './ask-within.ts'
import { factProblem } from './fact-problem.ts'
import type { InterpretOptions } from './interpret-utterance.ts'
import type { ReplyWriter, WriteRequest } from './reply-writer.ts'

/** What a writer made of the replies to an input, checked: plain JSON, kept with the input, so that a replay needs no writer. */
export interface Written {
  /** What the user is told in place of the replies; `null` where they are told the replies as they are. */
  readonly text: string | null
  /** Why the writer's text is not used; `null` where it is, and where no writer was asked. */
  readonly problem: string | null
}

/** How a writer is asked: for at most `milliseconds` (default 10,000), until `signal` is aborted. */
export type WriteOptions = Omit<InterpretOptions, 'now'>

/** What is told where no writer was asked. */
export const UNWRITTEN: Written = Object.freeze({ text: null, problem: null })

/** Accepts {@link Written}. */
export const writtenSchema: z.ZodType<Written> = z.object({
  text: z.string().min(1).nullable(),
  problem: z.string().nullable(),
})

/**
 * Asks a writer, and holds it to its contract. Rejects only when `signal` is aborted.
 *
 * @param longest - the longest text that may be told, in UTF-16 code units.
 */
export async function writeReply(
  writer: ReplyWriter,
  request: Omit<WriteRequest, 'signal'>,
  longest: number,
  { milliseconds = 10_000, signal, clock = systemClock }: WriteOptions,
): Promise<Written> {
  const ask = async (limit: AbortSignal): Promise<Written> => {
    let text: unknown
    try {
      text = await writer.write({ ...request, signal: limit })
    } catch (error) {
      return unusable(writer, `failed: ${error instanceof Error ? error.message : error}`)
    }
    if (typeof text !== 'string') return unusable(writer, `wrote ${typeof text}, and has to write a text`)
    const trimmed = text.trim().toWellFormed()
    if (trimmed === '') return unusable(writer, 'wrote nothing')
    if (trimmed.length > longest)
      return unusable(writer, `wrote ${trimmed.length} characters, and at most ${longest} are told`)
    const problem = factProblem(trimmed, request)
    return problem === null ? { text: trimmed, problem: null } : unusable(writer, problem)
  }
  const late = () => unusable(writer, `took longer than ${milliseconds} ms`)
  return await askWithin(ask, late, { milliseconds, signal, clock })
}

function unusable({ name }: ReplyWriter, why: string): Written {
  return { text: null, problem: `The writer ${name} ${why}.`.slice(0, 500).toWellFormed() }
}
