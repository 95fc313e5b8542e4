import { systemClock } from '@episodic/state'
import { askWithin } from './ask-within.ts'
import type { InterpretOptions } from './interpret-utterance.ts'

/** How something is asked: for at most `milliseconds` (default 10,000), until `signal` is aborted. */
export type AskOptions = Omit<InterpretOptions, 'now'>

/** A text that was asked for, or why there is none. */
export interface AskedText {
  readonly text: string | null
  readonly problem: string | null
}

/** Who is asked for a text, and what it has to be. */
interface TextQuestion {
  /** As a problem begins: `The writer small`. */
  readonly who: string
  ask(signal: AbortSignal): string | Promise<string>
  /** The longest text, in UTF-16 code units. */
  readonly longest: number
  /** Says what is wrong with a text, in words that follow `who`; `null` where nothing is. */
  problemOf(text: string): string | null
}

/** Asks for a text, and takes whatever happens: a throw, a lateness or an unfit text is a `problem`. Rejects only when `signal` is aborted. */
export async function askText(
  { who, ask, longest, problemOf }: TextQuestion,
  { milliseconds = 10_000, signal, clock = systemClock }: AskOptions,
): Promise<AskedText> {
  const unusable = (why: string): AskedText => ({
    text: null,
    problem: `${who} ${why}.`.slice(0, 500).toWellFormed(),
  })
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
  const late = () => unusable(`took longer than ${milliseconds} ms`)
  return await askWithin(asked, late, { milliseconds, signal, clock })
}
