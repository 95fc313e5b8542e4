import { crc32 } from 'node:zlib'
import { StateError } from '../state-error.ts'

/*
 * A row's checksum is taken value by value, from {@link START} on. SQLite finds damage to its own structure; a flipped bit
 * in a text or a number it hands out as if nothing had happened. Every change of one number, and every burst of at most
 * 32 flipped bits in one text, gives another checksum. It is computed at each step: hence no list of values, and no
 * text made of numbers.
 */

export const START = 0

const double = new Float64Array(1)
const halves = new Uint32Array(double.buffer)

/** The checksum of what `sum` is the checksum of and then a number: both halves of it, each mixed in so that none is lost. */
export function addNumber(sum: number, value: number): number {
  double[0] = value
  const low = Math.imul(sum ^ (halves[0] as number), 0x9e3779b1)
  const high = Math.imul(low ^ (low >>> 15) ^ (halves[1] as number), 0x85ebca6b)
  return high ^ (high >>> 13)
}

/** The checksum of what `sum` is the checksum of and then a text: its CRC-32, started from there. */
export function addText(sum: number, text: string): number {
  return crc32(text, (sum ^ text.length) >>> 0) | 0
}

/** Throws `store-invalid` where a row's values are not those that its checksum was made of; `what` names the row. */
export function assertIntact(what: string, isIntact: boolean): void {
  if (isIntact) return
  throw new StateError(
    'store-invalid',
    `The store's file is damaged: ${what} is not what was written. Restore the file from a copy, or name a new one.`,
  )
}

/** Whether all are what a sound column of numbers holds; a damaged one can hold anything. */
export function areNumbers(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'number')
}

/** Whether all are what a sound column of texts holds. */
export function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string')
}
