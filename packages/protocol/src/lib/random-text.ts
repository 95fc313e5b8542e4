/** 128 random bits as 32 hexadecimal digits: request keys that nobody guesses, seeds where none was asked for, and references to what failed. */
export function randomText(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
