import type { Json, JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

/**
 * Returns the fields of an answer's data that its text does not say; `null` if it says all of them.
 *
 * A text says a field if it contains every value in it at least as often as the data does: texts as whole words in
 * either case, numbers by their value (`1,200` and `12.50` are numbers), and `true` and `false` as words. Nothing says
 * `null`, an empty text, an empty list or an empty object. A key that `declared` lacks, as in a record, is a value too.
 * A text also says what it contains as JSON.
 *
 * @param declared - the keys that the schema of the data names. Default: all.
 */
export function unsaidFields(text: string, data: JsonObject, declared?: ReadonlySet<string>): JsonObject | null {
  const words = new Words(text)
  const json = text.includes('{') || text.includes('[') ? compact(text) : ''
  const unsaid = Object.entries(data).filter(
    ([key, value]) =>
      value !== undefined && !hasJson(json, key, value) && !words.take(valuesOf({ [key]: value }, declared)),
  )
  return unsaid.length > 0 ? Object.fromEntries(unsaid) : null
}

function hasJson(text: string, key: string, value: Json): boolean {
  if (text === '') return false
  const json = compact(JSON.stringify(value))
  const isComposite = typeof value === 'object' && value !== null && json.length > '[]'.length
  return (isComposite && text.includes(json)) || text.includes(`${compact(JSON.stringify(key))}:${json}`)
}

function compact(text: string): string {
  return text.replace(/\s+/g, '')
}

type Value = Exclude<Json, object | null> | typeof EMPTY
/** What no words say: `null`, or an empty text, list or object. */
const EMPTY = Symbol('empty')

function valuesOf(value: Json | undefined, declared: ReadonlySet<string> | undefined): Value[] {
  if (value === undefined) return []
  if (value === null || value === '') return [EMPTY]
  if (typeof value !== 'object') return [value]
  if (!isObject(value)) return value.length === 0 ? [EMPTY] : value.flatMap((inner) => valuesOf(inner, declared))
  const entries = Object.entries(value)
  if (entries.length === 0) return [EMPTY]
  return entries.flatMap(([key, inner]) => [
    ...(declared && !declared.has(key) ? [key] : []),
    ...valuesOf(inner as Json, declared),
  ])
}

/** A number as texts write it. A minus sign after a digit or letter is a dash. */
const NUMBER = /(?<![\p{L}\p{N}]|\d\.)(?:(?<![\p{L}\p{N}])-)?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?![\p{L}\p{N}])/giu

class Words {
  readonly #text: string
  #numbers: ReadonlyMap<number, number> | null = null
  readonly #taken = new Map<Value, number>()

  constructor(text: string) {
    this.#text = normal(text)
  }

  /** Takes all of these values; returns `false` and takes none if the text does not have one as often. */
  take(values: readonly Value[]): boolean {
    const taken = new Map(this.#taken)
    for (const given of values) {
      if (given === EMPTY) return false
      const value = typeof given === 'string' ? normal(given) : given
      const count = (taken.get(value) ?? 0) + 1
      if (this.#count(value) < count) return false
      taken.set(value, count)
    }
    for (const [value, count] of taken) this.#taken.set(value, count)
    return true
  }

  #count(value: string | number | boolean): number {
    if (typeof value !== 'number') return countWords(this.#text, String(value))
    this.#numbers ??= numbersIn(this.#text)
    return this.#numbers.get(value) ?? 0
  }
}

function numbersIn(text: string): ReadonlyMap<number, number> {
  const found = new Map<number, number>()
  for (const [written] of text.matchAll(NUMBER)) {
    const number = Number(written.replaceAll(',', ''))
    found.set(number, (found.get(number) ?? 0) + 1)
  }
  return found
}

function normal(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ').trim()
}

const WORD = /[\p{L}\p{N}]/u

function countWords(text: string, words: string): number {
  if (words === '') return text === '' ? 0 : 1
  const [first, last] = [WORD.test(words.charAt(0)), WORD.test(words.charAt(words.length - 1))]
  let count = 0
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
    const within = (first && WORD.test(text.charAt(at - 1))) || (last && WORD.test(text.charAt(at + words.length)))
    if (!within) count += 1
  }
  return count
}
