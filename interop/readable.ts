import type { Json, JsonObject } from '@episodic/protocol'

/** Structured content as lines of `path: value`, with the line breaks of its texts as they are. */
export function readable(structured: JsonObject): string {
  return linesOf(structured, '').join('\n')
}

function linesOf(value: Json, path: string): string[] {
  if (value === null || typeof value !== 'object') return [`${path}: ${value}`.replace(/: (?=[^\n]*\n)/, ':\n')]
  return Object.entries(value).flatMap(([key, inner]) => linesOf(inner as Json, path === '' ? key : `${path}.${key}`))
}
