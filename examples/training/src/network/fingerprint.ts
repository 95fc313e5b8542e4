import { createHash } from 'node:crypto'
import type { Parameters } from './network.ts'

/** Returns the SHA-256 of all parameters, bit for bit, in hexadecimal. */
export function fingerprint(parameters: Parameters): string {
  const hash = createHash('sha256')
  for (const values of Object.values(parameters)) hash.update(new Uint8Array(values.buffer))
  return hash.digest('hex')
}
