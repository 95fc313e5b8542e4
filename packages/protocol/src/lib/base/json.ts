import { z } from 'zod'

/** A value that survives JSON unchanged: no `undefined`, functions, dates, NaN or infinities. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** An object of JSON values: state, parameters, tool arguments and structured answers are all one. */
export type JsonObject = { readonly [key: string]: Json }

/** Accepts any {@link Json} value. Drops keys named `__proto__`, which no plain object carries safely. */
export const jsonSchema: z.ZodType<Json> = z.json() as z.ZodType<Json>

/** Accepts a JSON object, not an array and not a bare value. */
export const jsonObjectSchema: z.ZodType<JsonObject> = z.record(z.string(), jsonSchema)

/**
 * Accepts an object, not an array and not a bare value, and does not look inside: for what was parsed from JSON, or was
 * checked before. Looking at each value would cost more than the rest of a step.
 */
export const parsedObjectSchema: z.ZodType<JsonObject> = z.custom<JsonObject>(isObject, 'expected an object')

/**
 * Returns where `value` stops being plain JSON and why; `null` if all of it is JSON.
 *
 * State has to survive a store and a replay unchanged, and `JSON.stringify` silently drops or rewrites what it
 * cannot say (`undefined`, `NaN`, `-0`, a `Date`, a `Map`), so the host checks before it commits.
 *
 * @param most - objects and arrays that are read. A few that contain each other twice can stand for more than there is
 *   time to read. Throws a `RangeError` for more, as for a value that contains itself. Default: no limit.
 */
export function findNonJson(value: unknown, path = '$', most = Number.MAX_SAFE_INTEGER): string | null {
  room = most
  const found = findProblem(value, false)
  return found && path + found
}

/** The same but for lone surrogates, which its text shows. Finding nothing, it returns what parsing that text would. */
export function copyJson(value: unknown, path: string, most: number): { readonly copy: Json } | string {
  room = most
  const found = findProblem(value, true)
  return found ? path + found : { copy: copied as Json }
}

/** How many more objects and arrays may be read, and the copy of what was read last. */
let room = 0
let copied: unknown = null
const OWN = { enumerable: true, configurable: true, writable: true }

/** The path to the problem and what it is. Nearly always there is none, so no path is written before one is found. */
function findProblem(value: unknown, copies: boolean): string | null {
  copied = value
  switch (typeof value) {
    case 'string':
      return copies || value.isWellFormed() ? null : ' holds a lone surrogate'
    case 'boolean':
      return null
    case 'number':
      if (!Number.isFinite(value)) return ` is ${value}`
      return Object.is(value, -0) ? ' is -0' : null
    case 'object':
      return value === null ? null : findInObject(value, copies)
    default:
      return ` is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`
  }
}

function findInObject(value: object, copies: boolean): string | null {
  room -= 1
  if (room < 0) throw new RangeError('The value has too many parts.')
  if (Array.isArray(value)) {
    const items: unknown[] | null = copies ? [] : null
    for (let i = 0; i < value.length; i++) {
      const found = findProblem(value[i], copies)
      if (found) return `[${i}]${found}`
      items?.push(copied)
    }
    copied = items
    return null
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    return ` is a ${value.constructor?.name ?? 'class instance'}`
  const members: Record<string, unknown> | null = copies ? {} : null
  for (const key in value) {
    if (!copies && !key.isWellFormed()) return ' has a key with a lone surrogate'
    const found = findProblem((value as Record<string, unknown>)[key], copies)
    if (found) return `.${key}${found}`
    if (members && key !== '__proto__') members[key] = copied
    else if (members) Object.defineProperty(members, key, { value: copied, ...OWN })
  }
  copied = members
  return null
}

/** Returns whether a parsed JSON value is an object, not an array and not a bare value. Does not look inside. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns a copy of a value of this program that holds plain objects, arrays and bare values, such as `undefined`.
 * Drops keys named `__proto__`, as {@link jsonSchema} does.
 */
export function copyPlain<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyPlain) as T
  const copy: Record<string, unknown> = {}
  for (const key in value) if (key !== '__proto__') copy[key] = copyPlain(value[key])
  return copy as T
}

/**
 * Returns a copy of a JSON value with every text replaced by what `change` returns for it, the keys of objects
 * included.
 */
export function mapTexts<T extends Json>(value: T, change: (text: string) => string): T
export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), mapTexts(each, change)]))
}

/**
 * Returns a text as it is, nothing for `null` and `undefined`, and the JSON of any other value. `String` throws for an
 * object whose `toString` is not a function, which anybody can send.
 */
export function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
}

/**
 * Returns a JSON value with U+FFFD in place of each half of a surrogate pair, in keys too, as decoders of UTF-8 write
 * it; the value itself if it holds none. A program outside may send one: a model that is cut in the middle of an emoji
 * writes it as an escape, which is valid JSON. It is no character, so it can be neither hashed nor written as UTF-8.
 */
export function wellFormed<T>(value: T): T {
  return isWellFormed(value) ? value : (mapTexts(value as Json, (text) => text.toWellFormed()) as T)
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) {
    // Lists of thousands of tokens are common, and a loop takes a fraction of the time of `every`.
    for (const each of value) if (typeof each !== 'number' && !isWellFormed(each)) return false
    return true
  }
  for (const key in value)
    if (!key.isWellFormed() || !isWellFormed((value as Record<string, unknown>)[key])) return false
  return true
}
