const BYTES = 16

/**
 * Random bytes of the platform that no text has used yet: drawn many at a time, because a draw takes longer than all
 * else.
 */
const pool = new Uint8Array(BYTES * 256)
let used = pool.length

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Returns 128 random bits as 16 bytes, which are the caller's own. */
export function drawSecret(): Uint8Array {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  const bytes = pool.slice(used, used + BYTES)
  // What was given away is kept nowhere.
  pool.fill(0, used, used + BYTES)
  used += BYTES
  return bytes
}

/** Returns 128 random bits as 32 hexadecimal digits, for request keys, default seeds and references to errors. */
export function randomText(): string {
  let text = ''
  for (const byte of drawSecret()) text += DIGITS[byte]
  return text
}
