import { type Clock, systemClock } from '@episodic/state'
import { z } from 'zod'

export interface AskOptions {
  /** Default 10,000. */
  readonly milliseconds?: number
  readonly signal?: AbortSignal
  /** Measures the time limit. Default: the machine's. */
  readonly clock?: Clock
}

/**
 * Calls `ask` with a time limit. Resolves with `late(milliseconds)` if it takes longer, and aborts the signal that
 * `ask` received. Rejects with what `ask` rejects with, and with the reason of the caller's signal.
 */
export async function askWithin<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  late: (milliseconds: number) => T,
  { milliseconds = 10_000, signal, clock = systemClock }: AskOptions,
): Promise<T> {
  signal?.throwIfAborted()
  const limit = new AbortController()
  const { promise: ended, resolve, reject } = Promise.withResolvers<T>()
  const stopTimer = clock.after(milliseconds, () => {
    limit.abort(new DOMException(`There was no answer after ${milliseconds} ms.`, 'TimeoutError'))
    resolve(late(milliseconds))
  })
  const onAbort = (): void => {
    limit.abort(signal?.reason)
    reject(signal?.reason)
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([ask(limit.signal), ended])
  } finally {
    stopTimer()
    signal?.removeEventListener('abort', onAbort)
  }
}

/** A checked text from a writer or speaker, recorded with the input or step: a replay does not ask again. */
export type AskedText = z.infer<typeof askedTextSchema>
export const askedTextSchema = z.object({
  text: z.string().min(1).nullable(),
  /** Why there is no usable text; `null` if there is, or if nobody was asked. */
  problem: z.string().nullable(),
})

interface TextQuestion {
  /** The subject of a problem's sentence: `The writer small`. */
  readonly who: string
  ask(signal: AbortSignal): string | Promise<string>
  /** The longest text, in UTF-16 code units. */
  readonly longest: number
  /** Returns what is wrong with a text, as the predicate of a sentence about `who`; `null` if nothing is. */
  problemOf(text: string): string | null
}

/** Asks for a text. A throw, timeout or invalid text becomes a `problem`. Rejects only when `signal` is aborted. */
export async function askText({ who, ask, longest, problemOf }: TextQuestion, options: AskOptions): Promise<AskedText> {
  const unusable = (why: string): AskedText => ({ text: null, problem: `${who} ${why}.`.slice(0, 500).toWellFormed() })
  const asked = async (limit: AbortSignal): Promise<AskedText> => {
    let given: unknown
    try {
      given = await ask(limit)
    } catch (error) {
      return unusable(`failed: ${error instanceof Error ? error.message : error}`)
    }
    if (typeof given !== 'string') return unusable(`gave ${typeof given}, and has to give a text`)
    const text = given.trim().toWellFormed()
    if (text === '') return unusable('said nothing')
    if (text.length > longest) return unusable(`said ${text.length} characters, and at most ${longest} are allowed`)
    const problem = problemOf(text)
    return problem === null ? { text, problem: null } : unusable(problem)
  }
  return await askWithin(asked, (milliseconds) => unusable(`took longer than ${milliseconds} ms`), options)
}
