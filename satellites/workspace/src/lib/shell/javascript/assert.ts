import type { Inspect } from './inspect.ts'

/** What an error of an assertion is made from. */
interface Failure {
  readonly message: unknown
  readonly said: string
  readonly actual?: unknown
  readonly expected?: unknown
  readonly operator: string
}

type Assert = ((value?: unknown, message?: unknown) => void) & { strict?: Assert }

/**
 * Returns the modules `assert` and `assert/strict` of Node.
 *
 * It is sent to the JavaScript engine as text, so it uses nothing from outside of itself.
 */
export function createAssert(inspect: Inspect): Assert {
  class AssertionError extends Error {
    code = 'ERR_ASSERTION'
    generatedMessage: boolean
    actual: unknown
    expected: unknown
    operator: string

    constructor({ message, said, actual, expected, operator }: Failure) {
      super(message === undefined ? said : String(message))
      this.name = 'AssertionError'
      this.generatedMessage = message === undefined
      Object.assign(this, { actual, expected })
      this.operator = operator
    }
  }

  const refuse = (failure: Failure): never => {
    if (failure.message instanceof Error) throw failure.message
    throw new AssertionError(failure)
  }

  const compared = (actual: unknown, expected: unknown, sign: string) => {
    const [one, other] = [inspect(actual), inspect(expected)]
    const isShort = !one.includes('\n') && !other.includes('\n') && Object(actual) !== actual
    if (isShort) return `\n\n${one} ${sign} ${other}\n`
    const marked = (text: string, mark: string) => text.split('\n').map((each) => `${mark} ${each}`)
    return `\n+ actual - expected\n\n${[...marked(one, '+'), ...marked(other, '-')].join('\n')}\n`
  }

  const isSame = (a: unknown, b: unknown, strict: boolean) =>
    // biome-ignore lint/suspicious/noDoubleEquals: the loose form of Node compares so.
    strict ? Object.is(a, b) : a == b || (Number.isNaN(a) && Number.isNaN(b))

  const isDeep = (a: unknown, b: unknown, strict: boolean, seen = new Map<unknown, unknown>()): boolean => {
    if (isSame(a, b, strict)) return true
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
    if (seen.get(a) === b) return true
    seen.set(a, b)
    if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
    if (Array.isArray(a) !== Array.isArray(b)) return false
    const deep = (one: unknown, other: unknown) => isDeep(one, other, strict, seen)
    if (a instanceof Date !== b instanceof Date || a instanceof RegExp !== b instanceof RegExp) return false
    if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime()
    if (a instanceof RegExp && b instanceof RegExp) return String(a) === String(b) && a.lastIndex === b.lastIndex
    if (a instanceof Error && b instanceof Error && (a.name !== b.name || a.message !== b.message)) return false
    if (a instanceof Map !== b instanceof Map || a instanceof Set !== b instanceof Set) return false
    if (a instanceof Map && b instanceof Map) {
      if (a.size !== b.size) return false
      for (const [key, value] of a) if (!b.has(key) || !deep(value, b.get(key))) return false
    }
    if (a instanceof Set && b instanceof Set) {
      if (a.size !== b.size) return false
      const others = [...b]
      for (const value of a) if (!b.has(value) && !others.some((other) => deep(value, other))) return false
    }
    const keys = (value: object) => [
      ...Object.keys(value),
      ...Object.getOwnPropertySymbols(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key)),
    ]
    const [ours, theirs] = [keys(a), keys(b)]
    return (
      ours.length === theirs.length &&
      ours.every((key) => Object.hasOwn(b, key) && deep((a as never)[key], (b as never)[key]))
    )
  }

  /** Whether a thrown value is one that was expected: by a class, a pattern, its fields, or a function. */
  const isExpected = (thrown: unknown, expected: unknown, operator: string): boolean => {
    if (expected instanceof RegExp) return expected.test(String(thrown))
    if (typeof expected === 'function') {
      if (expected.prototype !== undefined && thrown instanceof expected) return true
      if (expected === Error || expected.prototype instanceof Error) {
        const said = `The error is expected to be an instance of "${expected.name}". Received "${(thrown as Error)?.name}"`
        refuse({ message: undefined, said, actual: thrown, expected, operator })
      }
      return (expected as (value: unknown) => unknown)(thrown) === true
    }
    for (const key of Object.keys(expected as object)) {
      const [is, wanted] = [(thrown as never)?.[key] as unknown, (expected as never)[key] as unknown]
      if (wanted instanceof RegExp && typeof is === 'string' ? !wanted.test(is) : !isDeep(is, wanted, true))
        refuse({
          message: undefined,
          said: `Expected values to be strictly deep-equal:${compared(thrown, expected, '!==')}`,
          actual: thrown,
          expected,
          operator,
        })
    }
    return true
  }

  const checkThrown = (thrown: unknown, expected: unknown, message: unknown, operator: string) => {
    if (expected === undefined || typeof expected === 'string' || isExpected(thrown, expected, operator)) return
    const said = `The ${expected instanceof RegExp ? 'input did not match the regular expression' : 'validation function is expected to return "true". Received false'} ${inspect(expected)}. Input:\n\n${inspect(String(thrown))}\n`
    refuse({ message, said, actual: thrown, expected, operator })
  }

  const missing = (what: string, expected: unknown, message: unknown, operator: string) => {
    const name = typeof expected === 'function' ? ` (${expected.name})` : ''
    const why = message ?? (typeof expected === 'string' ? expected : undefined)
    refuse({ message: undefined, said: `Missing expected ${what}${name}${why ? `: ${why}` : '.'}`, expected, operator })
  }

  const unwanted = (what: string, thrown: unknown, message: unknown, operator: string) => {
    const said = `Got unwanted ${what}${message ? `: ${message}` : '.'}\nActual message: "${(thrown as Error)?.message}"`
    refuse({ message: undefined, said, actual: thrown, operator })
  }

  const promiseOf = (given: unknown) => (typeof given === 'function' ? given() : given) as Promise<unknown>

  const create = (isStrict: boolean): Assert => {
    const ok = (value?: unknown, message?: unknown) => {
      const said = 'The expression evaluated to a falsy value'
      if (!value) refuse({ message, said, actual: value, expected: true, operator: '==' })
    }
    const binary =
      (operator: string, said: string, sign: string, holds: (a: unknown, b: unknown) => boolean) =>
      (actual: unknown, expected: unknown, message?: unknown) => {
        if (holds(actual, expected)) return
        const shown = sign === '' ? `\n\n${inspect(actual)}\n` : compared(actual, expected, sign)
        refuse({ message, said: `${said}:${shown}`, actual, expected, operator })
      }
    const strictEqual = binary('strictEqual', 'Expected values to be strictly equal', '!==', Object.is)
    const notStrictEqual = binary(
      'notStrictEqual',
      'Expected "actual" to be strictly unequal to',
      '',
      (a, b) => !Object.is(a, b),
    )
    const deep = (strict: boolean) => (a: unknown, b: unknown) => isDeep(a, b, strict)
    const deepStrictEqual = binary('deepStrictEqual', 'Expected values to be strictly deep-equal', '!==', deep(true))
    const notDeepStrictEqual = binary(
      'notDeepStrictEqual',
      'Expected "actual" not to be strictly deep-equal to',
      '',
      (a, b) => !isDeep(a, b, true),
    )
    const pattern =
      (operator: string, said: string, wanted: boolean) => (text: string, expected: RegExp, message?: unknown) => {
        if (expected.test(text) === wanted) return
        const all = `The input ${said} the regular expression ${inspect(expected)}. Input:\n\n${inspect(text)}\n`
        refuse({ message, said: all, actual: text, expected, operator })
      }
    const members = {
      AssertionError,
      ok,
      strictEqual,
      notStrictEqual,
      deepStrictEqual,
      notDeepStrictEqual,
      equal: isStrict
        ? strictEqual
        : binary('==', 'Expected values to be loosely equal', '!=', (a, b) => isSame(a, b, false)),
      notEqual: isStrict
        ? notStrictEqual
        : binary('!=', 'Expected "actual" to be loosely unequal to', '', (a, b) => !isSame(a, b, false)),
      deepEqual: isStrict
        ? deepStrictEqual
        : binary('deepEqual', 'Expected values to be loosely deep-equal', '!=', deep(false)),
      notDeepEqual: isStrict
        ? notDeepStrictEqual
        : binary(
            'notDeepEqual',
            'Expected "actual" not to be loosely deep-equal to',
            '',
            (a, b) => !isDeep(a, b, false),
          ),
      match: pattern('match', 'did not match', true),
      doesNotMatch: pattern('doesNotMatch', 'was expected to not match', false),
      throws(run: () => unknown, expected?: unknown, message?: unknown) {
        try {
          run()
        } catch (thrown) {
          checkThrown(thrown, expected, message, 'throws')
          return
        }
        missing('exception', expected, message, 'throws')
      },
      async rejects(given: unknown, expected?: unknown, message?: unknown) {
        try {
          await promiseOf(given)
        } catch (thrown) {
          checkThrown(thrown, expected, message, 'rejects')
          return
        }
        missing('rejection', expected, message, 'rejects')
      },
      doesNotThrow(run: () => unknown, message?: unknown) {
        try {
          run()
        } catch (thrown) {
          unwanted('exception', thrown, message, 'doesNotThrow')
        }
      },
      async doesNotReject(given: unknown, message?: unknown) {
        try {
          await promiseOf(given)
        } catch (thrown) {
          unwanted('rejection', thrown, message, 'doesNotReject')
        }
      },
      ifError(value: unknown) {
        if (value === null || value === undefined) return
        const said = `ifError got unwanted exception: ${(value as Error)?.message ?? inspect(value)}`
        refuse({ message: undefined, said, actual: value, expected: null, operator: 'ifError' })
      },
      fail: (message?: unknown) => refuse({ message, said: 'Failed', operator: 'fail' }),
    }
    return Object.assign((value?: unknown, message?: unknown) => ok(value, message), members)
  }

  const strict = create(true)
  strict.strict = strict
  return Object.assign(create(false), { strict })
}
