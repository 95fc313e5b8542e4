import { WireError } from '@episodic/protocol'
import { afterThisTurn } from '@episodic/protocol/internal'

export interface JsonBounds {
  /** How deep it may nest: the code that reads it later is recursive. */
  readonly nesting: number
  /** How many values it may hold: a schema takes a few microseconds for each, and other requests wait. */
  readonly values: number
  /** How many of them may be arrays and objects, each of which costs as much as ten numbers. Default: all. */
  readonly containers?: number
  /** How many members its objects may have: names that differ cost much more than numbers. Default: all. */
  readonly members?: number
}

/** A member of an object of which nothing reads each value, so that it may be larger than the rest. */
export interface LongMember {
  readonly name: string
  readonly bounds: JsonBounds
}

export const MESSAGE_BOUNDS: JsonBounds = { nesting: 64, values: 10_000 }

/** The bounds for trainers, who have the server's token and may restore a snapshot with a large state. */
export const TRAINER_BOUNDS: JsonBounds = { nesting: 560, values: 8_000_000 }

/** Bytes of a message of a trainer: a state of 64 MiB, and what stands around it in its snapshot. */
export const TRAINER_BYTES = 68_157_440

/** Characters up to which a text is parsed at once: it cannot hold enough to take long. */
const SHORT = 4_096
/** Levels and values that a text may hold beside what is bounded: a message wraps them around its parameters. */
const WRAPPING = 8

/**
 * Parses a JSON text. A long one is scanned first: parsing one that nests half a million deep blocks the process for a
 * tenth of a second.
 *
 * Throws `parse-error`, and `invalid-request` for a text that nests too deep or holds too many values. `what` names the
 * text in the error.
 */
export function parseBounded(text: string, what: string, bounds: JsonBounds): unknown {
  const problem = isLong(text) ? findExcess(text, bounds) : null
  if (problem !== null) throw new WireError('invalid-request', `The ${what} ${problem}. Send less at once.`)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new WireError('parse-error', `The ${what} is not JSON.`, { cause })
  }
}

/** The same, and rejects values of which `findProblem` returns why they are not accepted, except those of `long`. */
export function parseAccepted(
  text: string,
  what: string,
  bounds: JsonBounds = MESSAGE_BOUNDS,
  long?: LongMember,
): unknown {
  const value = parseBounded(text, what, long?.bounds ?? bounds)
  const problem = findProblem(long ? { ...Object(value), [long.name]: null } : value, bounds)
  if (problem !== null) throw new WireError('invalid-request', `The values of the ${what} ${problem}.`)
  return value
}

export function isLong(text: string): boolean {
  return text.length > SHORT
}

/** Grants long parses a turn of the event loop each, in order, so that short messages wait for one of them at most. */
export class ParseQueue {
  #last: Promise<void> = Promise.resolve()

  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise(afterThisTurn))
    return this.#last
  }
}

/** Counts brackets and commas outside of strings. For a text that is not JSON, the result means nothing. */
function findExcess(text: string, bounds: JsonBounds): string | null {
  const { nesting, containers: mostContainers = bounds.values, members: mostMembers = bounds.values } = bounds
  let depth = 0
  let members = 0
  let containers = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values += 1
        containers += 1
        depth += 1
        if (depth > nesting + WRAPPING) return `nests more than ${nesting} deep`
        if (containers > mostContainers + WRAPPING) return `holds more than ${mostContainers} arrays and objects`
        break
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1
        break
      case COLON:
        members += 1
        if (members > mostMembers + WRAPPING) return `holds more than ${mostMembers} members of objects`
        break
      case COMMA:
        values += 1
    }
    if (values > bounds.values + WRAPPING) return `holds more than ${bounds.values} values`
  }
  return null
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
  }
  return text.length
}

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c]
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Returns why a parsed value is not accepted, as the end of a sentence about several values ("hold …"); `null` if it
 * is.
 *
 * An accepted value is small enough to be checked in a few milliseconds, and means the same to all code that reads it.
 * JSON text can spell numbers out of range and invalid characters, and keys that set the prototype of an object in code
 * that merges it into another. Reads no more than the bounds allow, so any value is safe to pass, even a circular one
 * of this process.
 */
export function findProblem(value: unknown, { nesting, values }: JsonBounds): string | null {
  return findWithin(value, nesting, { nesting, values, left: values })
}

interface Budget extends JsonBounds {
  left: number
}

function findWithin(value: unknown, levels: number, budget: Budget): string | null {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? null : HALF_PAIR
    case 'number':
      return Number.isFinite(value) ? null : 'hold a number that is out of range or none'
    case 'bigint':
    case 'function':
    case 'symbol':
      return `hold a ${typeof value}, which JSON has not`
    case 'object':
      if (value === null) return null
      if (levels === 0) return `are nested more than ${budget.nesting} deep`
      return Array.isArray(value) ? findInArray(value, levels - 1, budget) : findInObject(value, levels - 1, budget)
    default:
      return null
  }
}

function findInArray(array: readonly unknown[], levels: number, budget: Budget): string | null {
  budget.left -= array.length
  if (budget.left < 0) return tooMany(budget)
  for (const value of array) {
    const problem = findWithin(value, levels, budget)
    if (problem !== null) return problem
  }
  return null
}

function findInObject(object: object, levels: number, budget: Budget): string | null {
  const prototype = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) return 'hold an instance of a class, which JSON has not'
  for (const key in object) {
    if (--budget.left < 0) return tooMany(budget)
    const value = (object as Record<string, unknown>)[key]
    // The same two as secure-json-parse. A key `constructor` or `prototype` by itself may be an argument of a tool.
    if (key === '__proto__' || (key === 'constructor' && hasPrototype(value)))
      return `hold the key ${key}, which no plain object carries safely`
    if (!key.isWellFormed()) return HALF_PAIR
    const problem = findWithin(value, levels, budget)
    if (problem !== null) return problem
  }
  return null
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

const HALF_PAIR = 'hold half of a surrogate pair, which is no character'

function tooMany({ values }: Budget): string {
  return `hold more than ${values} values`
}
