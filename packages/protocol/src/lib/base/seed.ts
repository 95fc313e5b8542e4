import { sha256Hex } from './digest.ts'

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
  return sha256Hex(text).slice(0, 24)
}
