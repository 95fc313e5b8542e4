import type { Json, JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import type { FunctionTool } from '../episode/messages.ts'

const TYPES: readonly Json[] = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']

/**
 * A tool as Inspect reads it. It rejects a whole log for a schema with what it does not know, so only what it knows of
 * a schema is kept.
 */
export function inspectTool({ name, description, parameters }: FunctionTool): object {
  const { properties = {}, required, additionalProperties } = knownOf(parameters)
  return {
    name,
    description,
    parameters: {
      type: 'object',
      properties,
      required: required ?? [],
      ...(additionalProperties !== undefined && { additionalProperties }),
    },
  }
}

/** The keywords of JSON Schema that Inspect knows, with values of the types that it reads. */
function knownOf(schema: JsonObject): JsonObject {
  const known: Record<string, Json> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'const') known.enum = [value]
    const read = READERS[keyword === 'oneOf' ? 'anyOf' : keyword]?.(value)
    if (read !== undefined) known[keyword === 'oneOf' ? 'anyOf' : keyword] = read
  }
  return known
}

type Reader = (value: Json) => Json | undefined

const text: Reader = (value) => (typeof value === 'string' ? value : undefined)
const number: Reader = (value) => (typeof value === 'number' ? value : undefined)
const length: Reader = (value) => (Number.isSafeInteger(value) ? value : undefined)
const list: Reader = (value) => (Array.isArray(value) ? value : undefined)
const schema: Reader = (value) => (isObject(value) ? knownOf(value) : undefined)
const isType = (value: Json) => TYPES.includes(value)

const READERS: Readonly<Record<string, Reader>> = {
  type: (value) => (isType(value) || (Array.isArray(value) && value.every(isType)) ? value : undefined),
  format: text,
  description: text,
  pattern: text,
  minLength: length,
  maxLength: length,
  minimum: number,
  maximum: number,
  default: (value) => value,
  enum: list,
  examples: list,
  items: schema,
  additionalProperties: (value) => (typeof value === 'boolean' ? value : schema(value)),
  required: (value) => (Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : undefined),
  anyOf: (value) => (Array.isArray(value) && value.every(isObject) ? value.map(knownOf) : undefined),
  properties: (value) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, isObject(each) ? knownOf(each) : {}]))
      : undefined,
}
