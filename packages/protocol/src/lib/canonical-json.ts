import canonicalize from 'canonicalize'
import type { Json } from './json.ts'

/**
 * Writes a JSON value in its one canonical form (RFC 8785: sorted keys, no white space, shortest numbers), so
 * that equal values have equal texts wherever they were written. Used for comparing actions and for content ids.
 */
export function canonicalJson(value: Json): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('canonicalJson needs a JSON value, and got undefined.')
  return text
}
