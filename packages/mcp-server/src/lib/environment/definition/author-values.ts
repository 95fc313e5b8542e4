import { shorten } from '@episodic/protocol/internal'
import { rulesFailed, type ServerError } from '../../server-error.ts'

// What the functions of a definition return, checked.

/** Calls every reward term. Throws `rules-failed` for one that is no finite number. */
export function rewardTerms<T>(
  environment: string,
  terms: readonly string[],
  rewards: { readonly [term: string]: (transition: T) => number },
  transition: T,
): Record<string, number> {
  const values: Record<string, number> = {}
  for (const term of terms) {
    const value = rewards[term]?.(transition)
    if (!Number.isFinite(value)) throw notFinite(environment, `reward term "${term}"`, value)
    // JSON has no -0: in-process players must get the same number as remote ones.
    values[term] = (value as number) + 0
  }
  return values
}

/** Returns a potential. Throws `rules-failed` for one that is no finite number. */
export function finitePotential(environment: string, value: number): number {
  if (!Number.isFinite(value)) throw notFinite(environment, 'potential', value)
  return value + 0
}

/** Returns the text of an observation. Throws `rules-failed` for a value that is no text. */
export function observedText(environment: string, text: unknown): string {
  if (typeof text === 'string') return text
  throw rulesFailed(`\`observe\` of ${environment} returned ${shownValue(text)}, and has to return a text.`)
}

function notFinite(environment: string, what: string, value: unknown): ServerError {
  return rulesFailed(`The ${what} of ${environment} is ${value}, and has to be a finite number.`)
}

/** Returns a success. Throws `rules-failed` for a value that is neither true nor false. */
export function judged(environment: string, success: unknown): boolean {
  if (typeof success === 'boolean') return success
  throw rulesFailed(`The success of ${environment} is ${shownValue(success)}, and has to be true or false.`)
}

function shownValue(value: unknown): string {
  return shorten(JSON.stringify(value) ?? String(value), 80)
}
