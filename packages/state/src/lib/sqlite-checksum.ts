import { crc32 } from 'node:zlib'
import { StateError } from './state-error.ts'

type Value = string | number

/**
 * The CRC-32 of a row's values. SQLite finds damage to its own structure; a flipped bit in a text or a number it hands out
 * as if nothing had happened. A CRC-32 differs for every burst of at most 32 flipped bits.
 */
export function checksumOf(...values: readonly Value[]): number {
  return crc32(values.join('\u0000'))
}

/** Throws `store-invalid` where a row's values are not those that its checksum was made of; `what` names the row. */
export function assertIntact(what: string, checksum: unknown, ...values: readonly Value[]): void {
  if (checksum === checksumOf(...values)) return
  throw new StateError(
    'store-invalid',
    `The store's file is damaged: ${what} is not what was written. Restore the file from a copy, or name a new one.`,
  )
}
