import type { JsonObject } from './json.ts'

/**
 * An error that callers branch on by `code`; `message` is for people: what was asked, what is true, what to do.
 *
 * Packages ship apart, so two copies of a class may be loaded at once: recognise one by its brand, with the class's
 * own `is`, not by `instanceof`.
 */
export class CodedError<Code extends string> extends Error {
  readonly code: Code
  /** Facts that a program can act on, such as the `seq` that was expected. Safe to show to the caller. */
  readonly details: JsonObject

  constructor(brand: string, code: Code, message: string, options: ErrorOptions & { details?: JsonObject } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = brand
    this.code = code
    this.details = options.details ?? {}
    Object.defineProperty(this, Symbol.for(`episodic.${brand}`), { value: true })
  }
}

/** Says whether `error` carries the brand of a class and, where one is named, that code. */
export function isBranded(brand: string, error: unknown, code?: string): boolean {
  return (
    error instanceof Error &&
    (error as unknown as Record<symbol, unknown>)[Symbol.for(`episodic.${brand}`)] === true &&
    (code === undefined || (error as unknown as { code: string }).code === code)
  )
}
