/** Returns 128 random bits as 32 hexadecimal digits, for request keys, default seeds and references to errors. */
export function randomText(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
