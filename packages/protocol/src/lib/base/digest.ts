import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Node's own hash, if there is one: ten times as fast. */
const native = globalThis.process?.getBuiltinModule?.('node:crypto')?.hash

/**
 * Returns the SHA-256 of a text as 64 hexadecimal digits. Synchronous, and the same in Node, a worker and a browser.
 *
 * As text, because Node makes that in an eighth of the time that a buffer takes.
 */
export function sha256Hex(text: string, hash: typeof native | null = native): string {
  return hash ? hash('sha256', text, 'hex') : bytesToHex(sha256(utf8ToBytes(text)))
}

export function sha256OfBase64(base64: string, hash: typeof native | null = native): string {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  return hash ? hash('sha256', bytes, 'hex') : bytesToHex(sha256(bytes))
}

/** Returns the first 128 bits of a text's SHA-256 in hexadecimal, as a short content id. */
export function contentId(text: string): string {
  return sha256Hex(text).slice(0, 32)
}
