import { z } from 'zod'
import { type AskOptions, askText } from './ask-text.ts'
import { factProblem } from './fact-problem.ts'
import type { ReplyWriter, WriteRequest } from './reply-writer.ts'

/** What a writer made of the replies to an input, checked: plain JSON, kept with the input, so that a replay needs no writer. */
export interface Written {
  /** The text that the user gets in place of the replies; `null` if they get the replies unchanged. */
  readonly text: string | null
  /** Why the writer's text is not used; `null` where it is, and where no writer was asked. */
  readonly problem: string | null
}

/** The result where no writer was asked. */
export const UNWRITTEN: Written = Object.freeze({ text: null, problem: null })

/** Accepts {@link Written}. */
export const writtenSchema: z.ZodType<Written> = z.object({
  text: z.string().min(1).nullable(),
  problem: z.string().nullable(),
})

/**
 * Asks a writer, and holds it to the facts. Rejects only when `signal` is aborted.
 *
 * @param longest - the longest text that is allowed, in UTF-16 code units.
 */
export function writeReply(
  writer: ReplyWriter,
  request: Omit<WriteRequest, 'signal'>,
  longest: number,
  options: AskOptions,
): Promise<Written> {
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
