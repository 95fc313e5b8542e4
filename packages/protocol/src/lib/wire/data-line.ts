import type { JsonObject } from '../base/json.ts'

/**
 * Returns the text of an answer with its data as one more line, as JSON: a model reads the text alone. Returns the text
 * itself if the data is empty, or if the text has that very JSON already.
 */
export function withDataLine(text: string, data: JsonObject): string {
  let line: string
  try {
    line = JSON.stringify(data)
  } catch {
    // It contains itself, or nests without end: no step is written with it.
    return text
  }
  if (line === '{}' || text.includes(line)) return text
  return text === '' ? line : `${text}\n${line}`
}

/**
 * Returns a text without the line of data that {@link withDataLine} gave it; the text itself if it has none. For
 * answers that carry the data beside their text.
 */
export function withoutDataLine(text: string, data: JsonObject | null): string {
  if (data === null) return text
  for (let start = 0, next = 0; next >= 0; start = next + 1) {
    const end = text.indexOf('\n', start)
    const rest = end < 0 ? '' : text.slice(end)
    if (isPartOf(end < 0 ? text.slice(start) : text.slice(start, end), data))
      return start === 0 ? rest.slice(1) : text.slice(0, start - 1) + rest
    next = text.indexOf('\n{"', start)
  }
  return text
}

/**
 * Returns a text without all such lines. Two texts of one answer that are equal then differ in which fields of its data
 * they repeat at most: releases have had other rules for that, and the data itself is kept beside the text.
 */
export function withoutDataLines(text: string, data: JsonObject | null): string {
  const left = withoutDataLine(text, data)
  return left === text ? text : withoutDataLines(left, data)
}

/** Whether a line is the JSON of some fields of the data. */
function isPartOf(line: string, data: JsonObject): boolean {
  if (!line.startsWith('{"')) return false
  // Most data is one line in full, which needs no parsing.
  if (line === JSON.stringify(data)) return true
  try {
    const fields = Object.keys(JSON.parse(line) as JsonObject)
    return line === JSON.stringify(Object.fromEntries(fields.map((field) => [field, data[field]])))
  } catch {
    return false
  }
}
