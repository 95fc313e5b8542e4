import type { IncomingHttpHeaders } from 'node:http'
import { isObject } from '@episodic/protocol/internal'

export interface KeyedRequest {
  readonly headers: IncomingHttpHeaders
  /** With its question mark, or empty. */
  readonly query: string
  readonly body: unknown
}

export type SentKeys = ReturnType<typeof createSentKeys>

/** Minimum length of a key that may be a word: shorter ones are placeholders such as `EMPTY`. */
const KEY_LENGTH = 16
/**
 * Minimum length of a key with letters and digits, and of a password of HTTP Basic authentication, which people choose.
 */
const SHORT_LENGTH = 8
/** Most keys that are known. A program has few, unless it signs each request. */
const MOST_KEYS = 500

/** Last letters of a word in the name of a header, parameter or field that has a key. */
const SECRET_WORD =
  /(?:key|token|secret|password|passwd|passphrase|pwd|credential|cookie|auth|authorization|bearer|jwt|sig|signature)s?$/
/** Fields and headers whose names are like those of keys, and which are no secrets. */
const NO_SECRETS = new Set(['prompt_cache_key', 'idempotency-key', 'x-idempotency-key', 'sec-websocket-key'])

/**
 * Creates an empty set of the keys with which a program shows its models who it is. It keeps up to 500, each of 16
 * characters or more; passwords, and keys with letters and digits, of 8.
 */
export function createSentKeys() {
  const keys = new Set<string>()
  let longestFirst: readonly string[] = []
  return {
    add(request: KeyedRequest): void {
      const known = keys.size
      for (const key of listKeys(request)) if (keys.size < MOST_KEYS) keys.add(key)
      // A key may contain another one.
      if (keys.size > known) longestFirst = [...new Set([...keys].flatMap(formsOf))].sort((a, b) => b.length - a.length)
    },
    redact: (text: string) => longestFirst.reduce((rest, key) => rest.replaceAll(key, '[key]'), text),
  }
}

/**
 * Returns a key as it is, escaped in JSON as in the arguments of a call, and in the encodings in which servers and
 * models quote it.
 */
export function formsOf(key: string): string[] {
  const bytes = Buffer.from(key)
  return [
    key,
    JSON.stringify(key).slice(1, -1),
    encodeURIComponent(key.toWellFormed()),
    bytes.toString('hex'),
    bytes.toString('base64url'),
    bytes.toString('base64').replace(/=+$/, ''),
    ...[0, 1, 2].map((before) => base64Within(bytes, before)),
  ]
}

/** Returns the letters of base64 that depend on these bytes alone, where others stand before and after them. */
function base64Within(bytes: Buffer, before: number): string {
  const letters = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/.=+$/, '')
  return letters.slice(before && before + 1)
}

function* listKeys({ headers, query, body }: KeyedRequest): Generator<string> {
  for (const [name, value] of Object.entries(headers))
    if (hasKey(name)) for (const each of [value ?? []].flat()) yield* keysOfValue(name, each)
  for (const [name, value] of new URLSearchParams(query)) if (hasKey(name)) yield* keysOfValue(name, value)
  // A server that quotes the address quotes them as they were written.
  for (const [, name = '', value = ''] of query.matchAll(/[?&]([^=&]*)=([^&]*)/g))
    if (hasKey(name)) yield* keysOfValue(name, value)
  yield* keysOfBody(body)
}

function* keysOfBody(body: unknown): Generator<string> {
  // A body may be nested deeper than the stack of calls.
  const left: (readonly [name: string, value: unknown])[] = [['', body]]
  for (let next = left.pop(); next; next = left.pop()) {
    const [name, value] = next
    // A shorter one may be an argument of a tool that is called so.
    if (typeof value === 'string' && hasKey(name)) yield* keysOfValue(name, value).filter(isLong)
    else if (Array.isArray(value)) for (const each of value) left.push([name, each])
    else if (isObject(value)) for (const field of Object.entries(value)) left.push(field)
  }
}

function hasKey(name: string): boolean {
  if (NO_SECRETS.has(name.toLowerCase())) return false
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z]+/)
  return words.some((word) => SECRET_WORD.test(word))
}

/** Returns the keys of a value: itself without the scheme of its authorization, and what it lists, as cookies are. */
function* keysOfValue(name: string, value: string): Generator<string> {
  const [, scheme = '', rest = ''] = /^([\w-]+) +(.*)$/s.exec(value) ?? []
  const whole = /auth/i.test(name) && scheme ? rest : value
  const listed = whole.split(/[\s,;]+/).flatMap((part) => [part, part.slice(part.indexOf('=') + 1)])
  const credentials = /^basic$/i.test(scheme) ? Buffer.from(rest, 'base64').toString() : ''
  const [user = '', ...password] = credentials.split(':')
  if (password.join(':').length >= SHORT_LENGTH) yield password.join(':')
  const unquoted = listed.map((part) => part.replaceAll(/^"|"$/g, ''))
  if (whole.length >= SHORT_LENGTH && /\d/.test(whole) && /[a-z]/i.test(whole)) yield whole
  yield* [whole, ...unquoted, credentials, user].filter(isLong)
}

function isLong(key: string): boolean {
  return key.length >= KEY_LENGTH
}
