import { sha256Of } from './digest.ts'

/**
 * Derives a seed from a root seed and a path of names, for example `seedFor('run-1', 'task', 7, 'attempt', 0)`.
 *
 * Seeds are derived, never drawn in sequence, so neither concurrency nor a new draw elsewhere changes them.
 * The path is length-prefixed, so `('a', 'bc')` and `('ab', 'c')` differ.
 *
 * @returns 24 hexadecimal digits (96 bits).
 */
export function seedFor(root: string, ...path: readonly (string | number)[]): string {
  const text = [root, ...path].map((part) => `${String(part).length}:${part}`).join('/')
  return Array.from(sha256Of(text).subarray(0, 12), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
