import type { JsonObject } from '@episodic/protocol'

/** How deep the parameters of a request may nest. What reads them further in is recursive, and a stack has an end. */
export const MAX_NESTING = 64

/** How many values a request may hold in all. A schema needs a few microseconds for each, and others wait meanwhile. */
export const MAX_VALUES = 10_000

/**
 * Says why the parameters of a request get no further than the endpoint, or `null` where nothing speaks against them.
 *
 * What passes is small enough to be checked in a few milliseconds and means the same to whoever reads it: JSON text
 * can spell numbers and characters that there are not, and keys that mean the prototype of an object to code that
 * merges it into another. Looks at no more than {@link MAX_VALUES} values, no deeper than {@link MAX_NESTING}, so
 * that it may be handed anything, a value of this process that contains itself included.
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
    // The same two as secure-json-parse. A key `constructor` or `prototype` by itself may well be what a tool takes.
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
