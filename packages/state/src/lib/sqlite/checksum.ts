import { crc32 } from 'node:zlib'
import { storeInvalid } from '../state-error.ts'

/*
 * The checksum of a row, computed value by value from {@link START} on. SQLite finds damage to its own structure, but
 * not a flipped bit in a text or a number. Every change of one number, and every burst of at most 32 flipped bits in
 * one text, changes the checksum. It is computed at each step, so it allocates no list of values and no text of a
 * number.
 */

export const START = 0

const double = new Float64Array(1)
const halves = new Uint32Array(double.buffer)

/** Returns the checksum of `sum` and then a number: both halves of the number are mixed in, so that no bit is lost. */
export function addNumber(sum: number, value: number): number {
  double[0] = value
  const low = Math.imul(sum ^ (halves[0] as number), 0x9e3779b1)
  const high = Math.imul(low ^ (low >>> 15) ^ (halves[1] as number), 0x85ebca6b)
  return high ^ (high >>> 13)
}

export function addText(sum: number, text: string): number {
  return crc32(text, (sum ^ text.length) >>> 0) | 0
}

/** Throws `store-invalid` if a row's values do not match its checksum; `what` names the row. */
export function assertIntact(what: string, isIntact: boolean): void {
  if (isIntact) return
  throw storeInvalid(
    `The store's file is damaged: ${what} is not what was written. Restore the file from a copy, or name a new one.`,
  )
}

/** Returns whether all values are numbers: a damaged column can hold anything. */
export function areNumbers(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'number')
}

export function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string')
}
