import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'

/** Returns the SHA-256 of a text, as 32 bytes. Synchronous, and the same in Node, a worker and a browser. */
export function sha256Of(text: string): Uint8Array {
  return sha256(utf8ToBytes(text))
}

/** Node's own hash, if there is one: ten times as fast. */
const native = globalThis.process?.getBuiltinModule?.('node:crypto')?.hash

/** Returns the first 128 bits of a text's SHA-256 in hexadecimal, as a short content id. */
export function contentId(text: string): string {
  if (native) return native('sha256', text, 'hex').slice(0, 32)
  return Array.from(sha256Of(text).subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
