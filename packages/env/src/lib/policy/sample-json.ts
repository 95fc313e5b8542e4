import type { Json, JsonObject, Rng } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

const WORDS = ['alpha', 'beta', 'gamma', 'delta']
const OPEN_NUMBERS = { low: 0, high: 100 }
/** The most items or keys beyond the minimum, for lists and records without a maximum. */
const SPARE_ITEMS = 3
/** The depth at which optional parts of a recursive schema are left out. */
const DEPTH = 4

/**
 * Returns a random value that satisfies the types, bounds, enumerations, alternatives, internal references, and the
 * object and array keywords of a JSON Schema. It ignores patterns, formats and dependencies between fields.
 *
 * Numbers without bounds are drawn from 0 to 100, free text is one short word, and lists and records of open length get
 * up to three entries.
 */
export function sampleJson(schema: JsonObject, rng: Rng): Json {
  return new Sampler(schema, rng).draw(schema, 0)
}

class Sampler {
  readonly #root: JsonObject
  readonly #rng: Rng

  constructor(root: JsonObject, rng: Rng) {
    this.#root = root
    this.#rng = rng
  }

  draw(schema: JsonObject, depth: number): Json {
    const rng = this.#rng
    if (typeof schema.$ref === 'string') return this.draw(this.#resolve(schema.$ref), depth + 1)
    if (schema.const !== undefined) return schema.const
    if (isList(schema.enum)) return rng.pick(schema.enum)
    const choices = schema.anyOf ?? schema.oneOf
    if (isList(choices)) return this.draw(this.#choose(choices as readonly JsonObject[], depth), depth)
    if (isList(schema.allOf)) return this.draw(mergeAll(schema, schema.allOf as readonly JsonObject[]), depth)
    switch (isList(schema.type) ? rng.pick(schema.type) : schema.type) {
      case 'object':
        return this.#object(schema, depth)
      case 'array':
        return this.#array(schema, depth)
      case 'integer':
        return this.#integer(schema)
      case 'number':
        return this.#number(schema)
      case 'boolean':
        return rng.chance()
      case 'null':
        return null
      default:
        return this.#text(schema)
    }
  }

  #object({ properties = {}, required = [], additionalProperties, propertyNames }: JsonObject, depth: number): Json {
    const sampled: Record<string, Json> = {}
    for (const [name, property] of Object.entries(properties as JsonObject))
      if ((required as readonly Json[]).includes(name) || (depth < DEPTH && this.#rng.chance()))
        sampled[name] = this.draw(property as JsonObject, depth + 1)
    // What an object has besides its own properties is of no use to draw; a record has nothing else.
    if (!isObject(additionalProperties) || Object.keys(properties as JsonObject).length > 0) return sampled
    const keys = isObject(propertyNames) && isList(propertyNames.enum) ? (propertyNames.enum as string[]) : null
    // A record whose keys are listed has all of them, unless its schema says less; one of open keys has a few.
    for (const name of keys ?? WORDS.slice(0, depth < DEPTH ? this.#rng.int(0, SPARE_ITEMS) : 0))
      sampled[name] ??= this.draw(additionalProperties, depth + 1)
    return sampled
  }

  #array({ items, prefixItems, minItems, maxItems }: JsonObject, depth: number): Json {
    const first = (isList(prefixItems) ? prefixItems : isList(items) ? items : []) as readonly JsonObject[]
    const rest = isObject(items) ? items : null
    const low = Math.max(numberOr(minItems, 0), first.length)
    const spare = rest && depth < DEPTH ? SPARE_ITEMS : 0
    const high = Math.max(low, Math.min(numberOr(maxItems, Number.POSITIVE_INFINITY), low + spare))
    return Array.from({ length: this.#rng.int(low, high) }, (_, i) => this.draw(first[i] ?? rest ?? {}, depth + 1))
  }

  #integer(schema: JsonObject): number {
    const { low, high } = boundsOf(schema)
    const step = numberOr(schema.multipleOf, 1)
    return this.#rng.int(Math.ceil(low / step), Math.floor(high / step)) * step
  }

  #number(schema: JsonObject): number {
    if (typeof schema.multipleOf === 'number') return this.#integer(schema)
    const { low, high } = boundsOf(schema)
    // Never the lower end itself, which may be excluded, nor the upper one.
    return low === high ? low : low + (this.#rng.float() || 0.5) * (high - low)
  }

  #text({ minLength, maxLength }: JsonObject): string {
    const word = this.#rng.pick(WORDS)
    return word.padEnd(numberOr(minLength, 0), word).slice(0, numberOr(maxLength, Number.POSITIVE_INFINITY))
  }

  /** Past the depth, the alternative that says the least: it is the likeliest to end. */
  #choose(choices: readonly JsonObject[], depth: number): JsonObject {
    if (depth < DEPTH) return this.#rng.pick(choices)
    const sizes = choices.map((choice) => JSON.stringify(choice).length + (choice.$ref ? 1_000_000 : 0))
    return choices[sizes.indexOf(Math.min(...sizes))] as JsonObject
  }

  /** Follows a reference such as `#`, `#/$defs/node` or `#/definitions/node`. */
  #resolve(reference: string): JsonObject {
    let found: Json | undefined = this.#root
    for (const part of reference.split('/').slice(1))
      found = (found as JsonObject | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')]
    return isObject(found) ? found : {}
  }
}

/** The bounds of a number, what is open filled in: the open range, or one as wide beside the bound that is given. */
function boundsOf({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, type }: JsonObject) {
  const step = type === 'integer' ? 1 : 0
  const lows = [minimum, typeof exclusiveMinimum === 'number' ? exclusiveMinimum + step : undefined]
  const highs = [maximum, typeof exclusiveMaximum === 'number' ? exclusiveMaximum - step : undefined]
  // A schema of whole numbers that names the largest ones there are names no bounds.
  const low = Math.max(...lows.filter(isNumber).filter((bound) => bound > Number.MIN_SAFE_INTEGER))
  const high = Math.min(...highs.filter(isNumber).filter((bound) => bound < Number.MAX_SAFE_INTEGER))
  const width = OPEN_NUMBERS.high - OPEN_NUMBERS.low
  if (Number.isFinite(low)) return { low, high: Number.isFinite(high) ? high : low + width }
  return Number.isFinite(high) ? { low: Math.min(OPEN_NUMBERS.low, high - width), high } : OPEN_NUMBERS
}

/** One schema of several that all hold: properties and what is required are joined, the rest is the last one's. */
function mergeAll(schema: JsonObject, parts: readonly JsonObject[]): JsonObject {
  const { allOf: _, ...own } = schema
  const all = [own, ...parts]
  return {
    ...Object.assign({}, ...all),
    properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    required: all.flatMap(({ required }) => (required ?? []) as readonly Json[]),
  }
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

function isNumber(value: Json | undefined): value is number {
  return typeof value === 'number'
}

function numberOr(value: Json | undefined, fallback: number): number {
  return isNumber(value) ? value : fallback
}
