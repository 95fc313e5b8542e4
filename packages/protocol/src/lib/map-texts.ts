import type { Json } from './json.ts'

/** Returns a copy of a JSON value with every text in it replaced by what `change` returns for it, keys of objects included. */
export function mapTexts<T extends Json>(value: T, change: (text: string) => string): T
export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), mapTexts(each, change)]))
}
