/**
 * What somebody else's code threw, fit to be handled, logged and kept: an error as it is, and a new error that says what
 * it was of anything else. Reading a thing can run its code, so what throws when it is read is replaced too.
 */
export function asError(thrown: unknown, depth = 0): Error {
  if (depth === CAUSES) return new Error('And so on.')
  try {
    ignoreRejection(thrown)
    if (!(thrown instanceof Error)) return new Error(`This was thrown, and is no error: ${String(thrown)}`)
    // All that a log reads.
    for (const part of [thrown.name, thrown.message, thrown.stack, ...Object.values(thrown)]) String(part)
    if (typeof thrown.message !== 'string') return new Error('An error was thrown whose message is no text.')
    if (thrown.cause === undefined) return thrown
    const cause = asError(thrown.cause, depth + 1)
    return cause === thrown.cause ? thrown : new Error(thrown.message, { cause })
  } catch {
    return new Error('Something was thrown that throws when it is read.')
  }
}

/** How many causes of causes are kept: they may go round in a circle. */
const CAUSES = 8

/** A promise that nobody waits for would end the process when it fails. */
export function ignoreRejection(value: unknown): void {
  if (value instanceof Promise) Promise.prototype.catch.call(value, () => {})
}
