import type { Json } from './json.ts'

/**
 * Returns a JSON value in its canonical form (RFC 8785: sorted keys, no white space, shortest numbers), so
 * that equal values have equal texts. Used for comparing actions and for content ids.
 *
 * Throws a `TypeError` for a value that is not JSON.
 */
export function canonicalJson(value: Json): string {
  // Every step of a run is written twice in this form. A library, or the engine's own writer on a sorted copy, takes
  // twice as long as this does.
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number' && Number.isFinite(value)) return `${value}`
  if (value === null || typeof value === 'boolean') return `${value}`
  if (typeof value !== 'object') throw notJson(value)
  if (Array.isArray(value)) {
    let items = ''
    for (let i = 0; i < value.length; i++) items += (i === 0 ? '' : ',') + canonicalJson(value[i] as Json)
    return `[${items}]`
  }
  let members = ''
  for (const key of inOrder(Object.keys(value))) {
    const member = (value as Record<string, Json>)[key] as Json
    if (!isLeftOut(member)) members += (members === '' ? '' : ',') + quotedKey(key) + canonicalJson(member)
  }
  return `{${members}}`
}

function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol'
}

/**
 * All but the characters that a string in JSON contains as they are: quotes, backslashes, control characters,
 * surrogates.
 */
const SPECIAL = /[^ !#-[\]-\ud7ff\ue000-\uffff]/

/** The engine writes longer texts faster than they are searched. */
const LONGEST_SEARCHED = 200

function quoted(text: string): string {
  if (text.length <= LONGEST_SEARCHED && !SPECIAL.test(text)) return `"${text}"`
  const known = text.length >= SHORTEST_REMEMBERED ? quotedTexts.get(text) : undefined
  if (known !== undefined) return known
  if (!text.isWellFormed()) throw notJson(text)
  const written = JSON.stringify(text)
  if (text.length >= SHORTEST_REMEMBERED) {
    if (quotedTexts.size === MOST_REMEMBERED) quotedTexts.clear()
    quotedTexts.set(text, written)
  }
  return written
}

/** Long texts with their quotes. The lines of a run have the same prompts. */
const quotedTexts = new Map<string, string>()
const MOST_REMEMBERED = 16
const SHORTEST_REMEMBERED = 4_096

/** Keys with their quotes and colon. Records have few different ones, again and again. */
const quotedKeys = new Map<string, string>()
const MOST_KEYS = 1_000
const LONGEST_KEY = 64

function quotedKey(key: string): string {
  const known = quotedKeys.get(key)
  if (known !== undefined) return known
  const text = `${quoted(key)}:`
  if (quotedKeys.size < MOST_KEYS && key.length <= LONGEST_KEY) quotedKeys.set(key, text)
  return text
}

function notJson(value: unknown): TypeError {
  const shown = typeof value === 'string' ? 'a text with half a surrogate pair' : String(value)
  return new TypeError(`canonicalJson needs a JSON value, and got ${shown}.`)
}

/**
 * Sorts keys by their UTF-16 code units, in place. Insertion takes half the time of `sort` for the few keys that
 * objects of records have, most of them in order.
 */
function inOrder(keys: string[]): string[] {
  if (keys.length > MOST_INSERTED) return keys.sort()
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string
    let place = i
    for (; place > 0 && (keys[place - 1] as string) > key; place--) keys[place] = keys[place - 1] as string
    keys[place] = key
  }
  return keys
}

/** More keys than these are sorted by the engine: insertion takes time by the square of their number. */
const MOST_INSERTED = 24
