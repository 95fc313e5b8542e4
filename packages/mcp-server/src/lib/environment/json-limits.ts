import type { JsonObject } from '@episodic/protocol'

/** How deep the parameters of a request may nest: the code that reads them later is recursive. */
export const MAX_NESTING = 64

/** How many values a request may hold: a schema takes a few microseconds for each, and other requests wait. */
export const MAX_VALUES = 10_000

/**
 * Returns why the parameters of a request are rejected at the endpoint; `null` if they are accepted.
 *
 * Accepted parameters are small enough to be checked in a few milliseconds, and mean the same to all code that reads
 * them. JSON text can spell numbers out of range and invalid characters, and keys that set the prototype of an object
 * in code that merges it into another. Reads at most {@link MAX_VALUES} values, at most {@link MAX_NESTING} deep, so
 * any value is safe to pass, even a circular one of this process.
 */
export function checkParams(params: JsonObject): string | null {
  return findProblem(params, MAX_NESTING, { left: MAX_VALUES })
}

function findProblem(value: unknown, levels: number, values: { left: number }): string | null {
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
      if (levels === 0) return `are nested more than ${MAX_NESTING} deep`
      return Array.isArray(value) ? findInArray(value, levels - 1, values) : findInObject(value, levels - 1, values)
    default:
      return null
  }
}

function findInArray(array: readonly unknown[], levels: number, values: { left: number }): string | null {
  values.left -= array.length
  if (values.left < 0) return TOO_MANY
  for (const value of array) {
    const problem = findProblem(value, levels, values)
    if (problem !== null) return problem
  }
  return null
}

function findInObject(object: object, levels: number, values: { left: number }): string | null {
  const prototype = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) return 'hold an instance of a class, which JSON has not'
  for (const key in object) {
    if (--values.left < 0) return TOO_MANY
    const value = (object as Record<string, unknown>)[key]
    // The same two as secure-json-parse. A key `constructor` or `prototype` by itself may be an argument of a tool.
    if (key === '__proto__' || (key === 'constructor' && hasPrototype(value)))
      return `hold the key ${key}, which no plain object carries safely`
    if (!key.isWellFormed()) return HALF_PAIR
    const problem = findProblem(value, levels, values)
    if (problem !== null) return problem
  }
  return null
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

const HALF_PAIR = 'hold half of a surrogate pair, which is no character'
const TOO_MANY = `hold more than ${MAX_VALUES} values`
