import { formatZodError } from '@episodic/protocol/internal'
import { z } from 'zod'

/**
 * Returns a thrown value as an error that is safe to handle, log and keep: an `Error` itself, or a new error that
 * describes any other value. Reading a value can run an author's code, so a value that throws when it is read is
 * replaced too.
 */
export function asError(thrown: unknown, depth = 0): Error {
  if (depth === CAUSES) return new Error('And so on.')
  try {
    ignoreRejection(thrown)
    if (!(thrown instanceof Error)) return unplaced(`This was thrown, and is no error: ${String(thrown)}`)
    // Everything that a log reads.
    for (const part of [thrown.name, thrown.message, thrown.stack, ...Object.values(thrown)]) String(part)
    if (typeof thrown.message !== 'string') return unplaced('An error was thrown whose message is no text.')
    if (thrown.cause === undefined) return thrown
    const cause = asError(thrown.cause, depth + 1)
    return cause === thrown.cause ? thrown : new Error(thrown.message, { cause })
  } catch {
    return unplaced('Something was thrown that throws when it is read.')
  }
}

/** Returns an error whose stack does not say where it was made: not where the value was thrown. */
function unplaced(message: string): Error {
  const error = new Error(message)
  error.stack = `Error: ${message}`
  return error
}

/** Returns what an error says, with its name unless that says nothing; also of a schema, and of several errors. */
export function wordsOf(error: Error): string {
  const { name, message } = error
  const said =
    error instanceof z.ZodError
      ? formatZodError(error)
      : message === '' && error instanceof AggregateError
        ? error.errors.map((each) => asError(each).message).join('; ')
        : message
  const words = said === '' ? 'an error without a message' : said
  return name === 'Error' ? words : `${name}: ${words}`
}

/** The longest chain of causes that is kept: it may be circular. */
const CAUSES = 8

/** Ignores the rejection of a promise that is not awaited, which would otherwise end the process. */
export function ignoreRejection(value: unknown): void {
  if (value instanceof Promise) Promise.prototype.catch.call(value, () => {})
}
