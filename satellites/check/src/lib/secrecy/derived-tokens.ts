import { createHash, getHashes } from 'node:crypto'
import { canonicalJson, type Json, type JsonObject } from '@episodic/protocol'
import { leavesOf } from '../walk-json.ts'
import { formsOf } from './encodings.ts'
import { commonTo, type StartParts } from './initial-state-leaks.ts'

const STATES = 16
/** The fewest characters of a token that does not agree by chance. */
const LEAST = 6
/** The fewest different private values from which a relation between numbers follows. */
const LEAST_VALUES = 6

export interface DerivedToken {
  readonly feature: string
  readonly private: string
  readonly how: string
}

const HASHES = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'].filter((name) => getHashes().includes(name))

/**
 * Finds public texts that contain an encoding or a hash of a private value, whole or cut off, and public numbers that
 * differ from a private one by a constant, a factor, a sum or an exclusive or. A player who knows the world computes
 * the private value from it, or tries all values. Where values repeat between seeds, any function is found by
 * `findInitialStateLeaks`.
 */
export function findDerivedTokens(starts: readonly StartParts[]): DerivedToken[] {
  const states = starts.slice(0, STATES)
  const open = varyingIn(states.map((start) => start.public))
  return varyingIn(states.map((start) => start.private)).flatMap(([path, hidden]) => {
    for (const [place, seen] of open) {
      const how = relationOf(seen, hidden)
      if (how) return [{ feature: `public.${place}`, private: path, how }]
    }
    return []
  })
}

function varyingIn(parts: readonly JsonObject[]): (readonly [string, readonly Json[]])[] {
  const columns = commonTo(parts, (part) => leavesOf(part).map(({ path, value }) => [path.join('.'), value]))
  return [...columns].filter(([, values]) => new Set(values).size >= LEAST_VALUES)
}

function relationOf(open: readonly Json[], hidden: readonly Json[]): string | null {
  const numbers = [open, hidden].map((column) => column.map(wholeNumberIn))
  const [tokens, values] = numbers as [(bigint | null)[], (bigint | null)[]]
  if (!tokens.includes(null) && !values.includes(null)) return numericRelation(tokens as bigint[], values as bigint[])
  const texts = open.map(String)
  if (texts.some((text) => text.length < LEAST)) return null
  const [token = '', value = null] = [texts[0], hidden[0]]
  const candidates = derivedFrom(value as Json).filter(([, form]) => sharesForm(token, form))
  const [how] =
    candidates.find(([name]) =>
      texts.every((text, i) =>
        derivedFrom(hidden[i] as Json).some(([form, made]) => form === name && sharesForm(text, made)),
      ),
    ) ?? []
  return how ?? null
}

function sharesForm(token: string, form: string): boolean {
  const [one, other] = [token.toLowerCase(), form.toLowerCase()]
  return form.length >= LEAST && (one.includes(other) || other.startsWith(one))
}

function derivedFrom(value: Json): (readonly [string, string])[] {
  const texts = [...new Set([String(value), canonicalJson(value)])]
  return texts.flatMap((text) => [
    ...formsOf(text, LEAST).map((form) => ['an encoding of', form.text] as const),
    ...HASHES.flatMap((hash) =>
      (['hex', 'base64', 'base64url'] as const).map(
        (encoding) => [`the ${hash} of`, createHash(hash).update(text).digest(encoding)] as const,
      ),
    ),
  ])
}

function wholeNumberIn(value: Json): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null
  return typeof value === 'string' && /^-?\d{1,18}$/.test(value) ? BigInt(value) : null
}

function numericRelation(tokens: readonly bigint[], values: readonly bigint[]): string | null {
  const isSame = (relate: (token: bigint, value: bigint) => bigint) =>
    new Set(tokens.map((token, i) => relate(token, values[i] as bigint))).size === 1
  if (isSame((token, value) => token - value)) return 'a constant away from'
  if (isSame((token, value) => token + value)) return 'a constant minus'
  if (isSame((token, value) => token ^ value)) return 'an exclusive or of'
  // A line through two points that all others lie on.
  const [t0, v0] = [tokens[0] as bigint, values[0] as bigint]
  const at = values.findIndex((value) => value !== v0)
  const [t1, v1] = [tokens[at] as bigint, values[at] as bigint]
  const isLine = tokens.every((token, i) => (token - t0) * (v1 - v0) === (t1 - t0) * ((values[i] as bigint) - v0))
  return isLine && t1 !== t0 ? 'a linear function of' : null
}
