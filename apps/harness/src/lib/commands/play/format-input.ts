import type { JsonObject } from '@episodic/protocol'

/** Describes the arguments of a tool on one line, with a question mark after each optional one. */
export function formatInput(schema: JsonObject): string {
  const required = new Set(schema.required as readonly string[] | undefined)
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Record<string, unknown>>)
  if (properties.length === 0) return 'no arguments'
  return properties
    .map(([name, property]) => `${name}${required.has(name) ? '' : '?'}: ${formatType(property)}`)
    .join(', ')
}

function formatType(schema: Record<string, unknown>): string {
  const { enum: values, type, description, properties, items } = schema
  const what = Array.isArray(values)
    ? values.map((value) => JSON.stringify(value)).join(' | ')
    : properties
      ? `{ ${formatInput(schema as JsonObject)} }`
      : items
        ? `${formatType(items as Record<string, unknown>)}[]`
        : String(type ?? 'any')
  return typeof description === 'string' ? `${what} (${description})` : what
}
