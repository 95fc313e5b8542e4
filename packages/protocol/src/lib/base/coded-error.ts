import type { JsonObject } from './json.ts'

/**
 * An error that callers branch on by `code`; `message` is for people: what was asked, what is true, what to do.
 *
 * Packages ship separately, so two copies of a class may be loaded at once: recognise an error by its brand, with `is`
 * of its class, not with `instanceof`. A class sets `brand`, its own name, which also survives minifiers.
 */
export class CodedError<Code extends string> extends Error {
  static readonly brand: string = 'CodedError'
  readonly code: Code
  /** Facts for programs, for example the expected `seq`. Safe to show to the caller. */
  readonly details: JsonObject

  constructor(code: Code, message: string, options: ErrorOptions & { details?: JsonObject } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    const { brand } = new.target
    this.name = brand
    this.code = code
    this.details = options.details ?? {}
    Object.defineProperty(this, Symbol.for(`episodic.${brand}`), { value: true })
  }

  /** Returns whether `error` is of this class and, if `code` is given, has this code. */
  static is<Own extends CodedError<string>>(
    this: { readonly brand: string; readonly prototype: Own },
    error: unknown,
    code?: Own['code'],
  ): error is Own {
    return (
      error instanceof Error &&
      // biome-ignore lint/complexity/noThisInStatic: each class has its own brand.
      (error as unknown as Record<symbol, unknown>)[Symbol.for(`episodic.${this.brand}`)] === true &&
      (code === undefined || (error as Own).code === code)
    )
  }
}
