import { WireError } from '@episodic/protocol'

/**
 * Returns a seed as the text that a host takes: a text as it is, a number or a boolean as JSON, and `undefined` for
 * none (`null` or left out). Throws `invalid-params` for anything else.
 */
export function seedText(seed: unknown): string | undefined {
  if (seed === undefined || seed === null) return undefined
  if (typeof seed === 'string' && seed !== '') return seed
  if (typeof seed === 'number' || typeof seed === 'boolean') return JSON.stringify(seed)
  throw new WireError('invalid-params', `A seed is a text that is not empty, or a number; got ${JSON.stringify(seed)}.`)
}
