import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { canonicalJson, type Json, type JsonObject, seedFor } from '@episodic/protocol'
import { z } from 'zod'
import { leavesOf } from '../json-leaves.ts'
import { walkSchema } from '../schema-walk.ts'
import type { Setting } from '../subject.ts'

const SEEDS = 24
/** The fewest characters of a private value that do not stand in a text by chance. */
const LEAST_TEXT = 4
const LEAST_DIGITS = 4

/** A private value, and where every player reads it. */
export interface PrivateLiteral {
  readonly value: Json
  readonly place: string
  /** Whether it may well stand there by chance: an ordinary word in a sentence, or a choice that is known to be one. */
  readonly doubtful: boolean
}

/** A private value, as it is over all worlds that were begun. */
interface PrivateValue {
  readonly value: Json
  /** Whether every world has it in the same place. */
  readonly constant: boolean
  /** Whether the private state's schema enumerates it: everybody may know then that it is one of the choices. */
  readonly declared: boolean
  /** Whether it is drawn from so few that worlds repeat them, and not out of a wide range. */
  readonly listed: boolean
}

/**
 * Finds private values in the descriptions and schemas that a player reads before it plays.
 *
 * These texts are the same for all seeds, so they cannot tell which of several values was drawn. They can tell a value that all
 * worlds have, and name a possible answer that nobody would guess. So a value that a schema gives (a constant, a default, the only
 * private one among its choices) is found where all worlds have it, or where it is drawn from a list of texts or numbers that the
 * private state does not enumerate. In sentences, words that any schema of the world enumerates are ordinary words of that world, and a number out of a
 * wide range is there by chance. What is public in the same world is no secret by itself.
 */
export function privateLiterals(
  environment: EnvironmentDefinition,
  settings: readonly Setting[],
  seed: string,
): readonly PrivateLiteral[] {
  const values = privateValues(environment, settings, seed)
  const known = new Map(values.map((one) => [one.value, one]))
  const vocabulary = enumeratedBy(environment)
  const telling = values.filter(({ value, constant, listed }) => {
    const byChance = vocabulary.has(value) || (typeof value === 'number' && !constant && !listed)
    return tellsItselfApart(value) && !byChance
  })
  const literals = heldBy(telling, "the world's description", environment.description)
  for (const { name, description, inputSchema, outputSchema } of environment.toolInfos) {
    literals.push(...heldBy(telling, `the description of ${name}`, description))
    for (const [kind, schema] of Object.entries({ input: inputSchema, output: outputSchema ?? {} })) {
      const place = `the ${kind} schema of ${name}`
      const given = givenBy(schema, known)
      literals.push(
        ...given.map((one) => ({ value: one.value, place, doubtful: one.declared || !tellsItselfApart(one.value) })),
      )
      const rest = telling.filter((one) => !given.includes(one))
      literals.push(...heldBy(rest, place, canonicalJson(withoutChoices(schema, known))))
    }
  }
  return literals
}

/** The private values of many beginnings, each once, but for those that are public in the same world. */
function privateValues(environment: EnvironmentDefinition, settings: readonly Setting[], seed: string): PrivateValue[] {
  const places = new Map<string, Map<Json, number>>()
  const values = new Set<Json>()
  for (const { params } of settings)
    for (let i = 0; i < SEEDS; i++) {
      const { state } = rehearse(environment, { params, seed: seedFor(seed, 'hygiene', i) }).start
      const open = new Set(leavesOf(state.public).map(({ value }) => value))
      for (const { path, value } of leavesOf(state.private)) {
        const place = path.join('.')
        const held = places.get(place) ?? new Map<Json, number>()
        places.set(place, held.set(value, (held.get(value) ?? 0) + 1))
        if (!open.has(value)) values.add(value)
      }
    }
  const constants = new Set<Json>()
  const listed = new Set<Json>()
  for (const held of places.values()) {
    const begun = [...held.values()].reduce((sum, count) => sum + count, 0)
    for (const value of held.keys()) {
      if (held.size === 1) constants.add(value)
      if (held.size * 2 <= begun) listed.add(value)
    }
  }
  const choices = choicesIn(privateSchemaOf(environment))
  return [...values].map((value) => ({
    value,
    constant: constants.has(value),
    declared: choices.has(value),
    listed: listed.has(value),
  }))
}

/** What any schema of a world enumerates: words that belong to it, and that its texts are written with. */
function enumeratedBy(environment: EnvironmentDefinition): ReadonlySet<Json> {
  const { toolInfos, paramsSchema } = environment
  const schemas = toolInfos.flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema ?? {}])
  const all = [privateSchemaOf(environment), publicSchemaOf(environment), paramsSchema, ...schemas]
  return new Set(all.flatMap((schema) => [...choicesIn(schema)]))
}

function privateSchemaOf({ state }: EnvironmentDefinition): JsonObject {
  return z.toJSONSchema(state.private, { io: 'input', unrepresentable: 'any' }) as JsonObject
}

function publicSchemaOf({ state }: EnvironmentDefinition): JsonObject {
  return z.toJSONSchema(state.public, { io: 'input', unrepresentable: 'any' }) as JsonObject
}

function choicesIn(schema: JsonObject): ReadonlySet<Json> {
  return new Set([...walkSchema(schema)].flatMap((inner) => choicesOf(inner.schema)))
}

function choicesOf({ enum: choice }: JsonObject): readonly Json[] {
  return Array.isArray(choice) && choice.length > 1 ? choice : []
}

function tellsItselfApart(value: Json): boolean {
  if (typeof value === 'string') return value.length >= LEAST_TEXT
  return typeof value === 'number' && String(Math.abs(value)).length >= LEAST_DIGITS
}

/** Whether a value is what states begin with before anything is in them. */
function isBlank(value: Json): boolean {
  return !value || value === true
}

/** The values that stand in a text. One ordinary word, or a number that only some worlds have, may do so by chance. */
function heldBy(values: readonly PrivateValue[], place: string, text: string): PrivateLiteral[] {
  return values
    .filter(({ value }) => holds(text, String(value)))
    .map(({ value, constant }) => ({
      value,
      place,
      doubtful: typeof value === 'number' ? !constant : /^\p{L}+$/u.test(String(value)),
    }))
}

/** Whether a text holds a value as a word of its own. */
function holds(text: string, value: string): boolean {
  const at = text.toLowerCase().indexOf(value.toLowerCase())
  if (at < 0) return false
  return !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '') && !/[\p{L}\p{N}]/u.test(text[at + value.length] ?? '')
}

/** The private values that a schema gives, and that are no mere choice. */
function givenBy(schema: JsonObject, known: ReadonlyMap<Json, PrivateValue>): PrivateValue[] {
  const given = [...walkSchema(schema)].flatMap((inner) => {
    const { const: only, default: usual, enum: choice } = inner.schema
    const chosen = privateIn(choice, known)
    const named = [only, usual].flatMap((value) => (value === undefined ? [] : (known.get(value) ?? [])))
    // An enumeration of several that are private is a choice, and names none of them; nor does one beside other choices that are known.
    const single = chosen.length === 1 && (!chosen[0]?.declared || (choice as Json[]).length === 1) ? chosen : []
    return [...named, ...single]
  })
  return [...new Set(given)].filter(({ value, constant, declared, listed }) =>
    constant ? !isBlank(value) : tellsItselfApart(value) && !declared && (typeof value === 'string' || listed),
  )
}

/** A schema without those enumerations that are choices. */
function withoutChoices(schema: JsonObject, known: ReadonlyMap<Json, PrivateValue>): JsonObject {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (key === 'enum' && privateIn(value, known).length > 1 ? undefined : value)),
  )
}

function privateIn(choice: unknown, known: ReadonlyMap<Json, PrivateValue>): PrivateValue[] {
  return Array.isArray(choice) ? (choice as Json[]).flatMap((value) => known.get(value) ?? []) : []
}
