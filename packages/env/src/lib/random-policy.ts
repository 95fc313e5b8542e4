import { createRng, type Json, type JsonObject, type Rng } from '@episodic/protocol'
import { definePolicy, type Policy } from './policy.ts'

/** Range of whole numbers that a schema leaves open. */
const OPEN_RANGE = { low: 0, high: 100 }

/**
 * A policy that picks a tool and arguments at random from the tools' own schemas: the floor that others are held
 * against. Numbers without bounds of their own are drawn from 0 to 100, free text is one short word.
 */
export function randomPolicy(): Policy {
  return definePolicy({
    name: 'random',
    begin({ tools, seed }) {
      const rng = createRng(seed)
      return () => {
        const tool = rng.pick(tools)
        return { tool: tool.name, arguments: sampleJson(tool.inputSchema, rng) as JsonObject }
      }
    },
  })
}

/** Draws a value that a JSON Schema allows, as far as types, bounds, enumerations and object shapes say it. */
export function sampleJson(schema: JsonObject, rng: Rng): Json {
  if (schema.const !== undefined) return schema.const as Json
  if (Array.isArray(schema.enum)) return rng.pick(schema.enum as readonly Json[])
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices)) return sampleJson(rng.pick(choices as readonly JsonObject[]), rng)
  const type = Array.isArray(schema.type) ? rng.pick(schema.type as readonly string[]) : schema.type
  switch (type) {
    case 'object':
      return sampleObject(schema, rng)
    case 'array': {
      const { low, high } = bounds(schema.minItems, schema.maxItems, { low: 0, high: 3 })
      return Array.from({ length: rng.int(low, high) }, () => sampleJson((schema.items ?? {}) as JsonObject, rng))
    }
    case 'integer': {
      const { low, high } = numberBounds(schema)
      return rng.int(Math.ceil(low), Math.floor(high))
    }
    case 'number': {
      const { low, high } = numberBounds(schema)
      return low + rng.float() * (high - low)
    }
    case 'boolean':
      return rng.chance()
    case 'null':
      return null
    default:
      return rng.pick(['alpha', 'beta', 'gamma', 'delta'])
  }
}

function sampleObject(schema: JsonObject, rng: Rng): JsonObject {
  const required = new Set((schema.required ?? []) as readonly string[])
  const sampled: Record<string, Json> = {}
  for (const [name, property] of Object.entries((schema.properties ?? {}) as JsonObject))
    if (required.has(name) || rng.chance()) sampled[name] = sampleJson(property as JsonObject, rng)
  return sampled
}

function numberBounds({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, type }: JsonObject): {
  low: number
  high: number
} {
  const step = type === 'integer' ? 1 : 0
  const low = minimum ?? (typeof exclusiveMinimum === 'number' ? exclusiveMinimum + step : undefined)
  const high = maximum ?? (typeof exclusiveMaximum === 'number' ? exclusiveMaximum - step : undefined)
  // A schema of whole numbers that names the largest ones there are names no bounds.
  return bounds(
    low === Number.MIN_SAFE_INTEGER ? undefined : low,
    high === Number.MAX_SAFE_INTEGER ? undefined : high,
    OPEN_RANGE,
  )
}

/** Fills in what is open, keeping the width of the open range where only one side is given. */
function bounds(
  low: Json | undefined,
  high: Json | undefined,
  open: { low: number; high: number },
): { low: number; high: number } {
  const width = open.high - open.low
  if (typeof low === 'number') return { low, high: typeof high === 'number' ? high : low + width }
  return typeof high === 'number' ? { low: Math.min(open.low, high - width), high } : open
}
