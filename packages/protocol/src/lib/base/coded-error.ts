import type { JsonObject } from './json.ts'

/**
 * An error that callers branch on by `code`; `message` is for people: what was asked, what is true, what to do.
 *
 * Packages ship separately, so two copies of a class may be loaded at once: recognise an error by its brand, with the
 * class's own `is`, not with `instanceof`.
 */
export class CodedError<Code extends string> extends Error {
  readonly code: Code
  /** Facts for programs, for example the expected `seq`. Safe to show to the caller. */
  readonly details: JsonObject

  constructor(brand: string, code: Code, message: string, options: ErrorOptions & { details?: JsonObject } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = brand
    this.code = code
    this.details = options.details ?? {}
    Object.defineProperty(this, Symbol.for(`episodic.${brand}`), { value: true })
  }

  /** Returns whether `error` carries this brand and, if `code` is given, this code. */
  static isBranded(brand: string, error: unknown, code?: string): boolean {
    return (
      error instanceof Error &&
      (error as unknown as Record<symbol, unknown>)[Symbol.for(`episodic.${brand}`)] === true &&
      (code === undefined || (error as unknown as { code: string }).code === code)
    )
  }
}
