import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { canonicalJson, type Json, type JsonObject, seedFor } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import type { SessionState } from '@episodic/state'
import { z } from 'zod'
import type { Setting } from '../check-context.ts'
import { readableBy, without } from '../deal.ts'
import { leafDifferences } from '../leaf-differences.ts'
import { eachLeaf, leavesOf, walkSchema } from '../walk-json.ts'
import { commonTo } from './initial-state-leaks.ts'

export const SEEDS = 24
/** The fewest characters of a private value that does not occur in a text by chance. */
const LEAST_TEXT = 4
const LEAST_DIGITS = 4
/** Private numbers from which on one of them is in a text by chance, such as a bound of a schema. */
const MOST_NUMBERS = 100

export interface PrivateLiteral {
  readonly value: Json
  readonly place: string
  /** Whether it may be a coincidence: an ordinary word in a sentence, or a declared choice. */
  readonly doubtful: boolean
}

interface PrivateValue {
  readonly value: Json
  readonly constant: boolean
  /** Whether the schema of the private state enumerates it: that it is a possible value is then no secret. */
  readonly declared: boolean
  /** Whether it is drawn from so few values that they repeat, and not from a wide range. */
  readonly listed: boolean
}

/**
 * Finds private values in the descriptions and schemas that an agent reads before it plays.
 *
 * These texts are the same for all seeds, so they cannot reveal which of several values was drawn. They can reveal a
 * value that all seeds share, and a possible answer that an agent would not guess. So a value in a schema (a constant,
 * a default, or the only private one among the choices) is found if all seeds share it, or if it is drawn from a list
 * of texts or numbers that the private state does not enumerate. In sentences, words that any schema enumerates are
 * ordinary words, and a number from a wide range, or of a table of numbers, is a coincidence. Values that are also
 * public are not secret.
 */
export function privateLiterals(
  environment: EnvironmentDefinition,
  settings: readonly Setting[],
  seed: string,
  seeds = SEEDS,
): readonly PrivateLiteral[] {
  const values = privateValues(environment, settings, seed, seeds)
  const known = new Map(values.map((one) => [one.value, one]))
  const vocabulary = enumeratedBy(environment)
  const isTable = values.filter(({ value }) => typeof value === 'number').length > MOST_NUMBERS
  const distinctive = values.filter(({ value, constant, listed }) => {
    const byChance = vocabulary.has(value) || (typeof value === 'number' && (isTable || (!constant && !listed)))
    return isDistinctive(value) && !byChance
  })
  const literals = foundIn(distinctive, "the world's description", environment.description)
  for (const { name, description, inputSchema, outputSchema } of environment.toolInfos) {
    literals.push(...foundIn(distinctive, `the description of ${name}`, description))
    for (const [kind, schema] of Object.entries({ input: inputSchema, output: outputSchema ?? {} })) {
      const place = `the ${kind} schema of ${name}`
      const given = givenBy(schema, known)
      literals.push(
        ...given.map((one) => ({ value: one.value, place, doubtful: one.declared || !isDistinctive(one.value) })),
      )
      const rest = distinctive.filter((one) => !given.includes(one))
      literals.push(...foundIn(rest, place, canonicalJson(withoutChoices(schema, known))))
    }
  }
  return literals
}

/**
 * The private values of many initial states, each once, without those that are public in the same state. What the
 * states have in common is read once.
 */
function privateValues(
  environment: EnvironmentDefinition,
  settings: readonly Setting[],
  seed: string,
  seeds: number,
): PrivateValue[] {
  const states = settings.flatMap(({ params }) =>
    Array.from({ length: seeds }, (_, i) => rehearse(environment, { params, seed: seedFor(seed, 'hygiene', i) }).state),
  )
  // Who has a tool may read what its texts say of what it reads.
  const readable = environment.seats.flatMap((seat) => readableBy(environment, seat))
  const hidden = states.map(({ own = {}, private: all }) => ({ own, private: without(all, readable) }))
  const open = states.map((state) => new Set([...eachLeaf(state.public), ...heldByAll(state)]))
  const [first = {}] = hidden
  const changes = hidden.map((parts) => leafDifferences(first, parts))
  const varied = new Map(changes.flatMap((each) => [...each].map(([place, { from }]) => [place, from] as const)))
  const columns = [
    ...[...varied].map(([place, from]) => changes.map((each) => (each.has(place) ? each.get(place)?.to : from))),
    ...leavesOf(first).flatMap(({ path, value }) => (varied.has(path.join('.')) ? [] : [hidden.map(() => value)])),
  ]
  const [values, constants, listed] = [new Set<Json>(), new Set<Json>(), new Set<Json>()]
  for (const held of columns) {
    const begun = held.filter((value) => value !== undefined)
    const distinct = new Set(begun)
    for (const value of distinct) {
      if (distinct.size === 1) constants.add(value)
      if (distinct.size * 2 <= begun.length) listed.add(value)
    }
    for (const [i, value] of held.entries()) if (value !== undefined && !open[i]?.has(value)) values.add(value)
  }
  const choices = choicesIn(privateSchemaOf(environment))
  return [...values].map((value) => ({
    value,
    constant: constants.has(value),
    declared: choices.has(value),
    listed: listed.has(value),
  }))
}

/** What every one of several seats holds in the same place is hidden from none of them. */
function heldByAll({ own = {} }: SessionState): Json[] {
  const places = commonTo(Object.values(own), (part) =>
    leavesOf(part).map(({ path, value }) => [path.join('.'), value]),
  )
  return [...places.values()].flatMap(([value = null, ...others]) => (others.every((o) => o === value) ? [value] : []))
}

/** The values that any schema enumerates: the vocabulary of the world's texts. */
function enumeratedBy(environment: EnvironmentDefinition): ReadonlySet<Json> {
  const { toolInfos, paramsSchema } = environment
  const schemas = toolInfos.flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema ?? {}])
  const all = [privateSchemaOf(environment), inputSchemaOf(environment.state.public), paramsSchema, ...schemas]
  return new Set(all.flatMap((schema) => [...choicesIn(schema)]))
}

function privateSchemaOf({ state }: EnvironmentDefinition): JsonObject {
  return inputSchemaOf(state.own ? z.object({ own: state.own, private: state.private }) : state.private)
}

function inputSchemaOf(schema: z.ZodType): JsonObject {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonObject
}

function choicesIn(schema: JsonObject): ReadonlySet<Json> {
  return new Set([...walkSchema(schema)].flatMap((inner) => choicesOf(inner.schema)))
}

function choicesOf({ enum: choice, oneOf, anyOf }: JsonObject): readonly Json[] {
  if (Array.isArray(choice)) return choice.length > 1 ? choice : []
  return alternativesBy([oneOf, anyOf].flatMap((list) => (Array.isArray(list) ? list : [])))
}

/** The constants by which the alternatives of a union differ, such as `kind`: one of several, as in an enumeration. */
function alternativesBy(alternatives: readonly Json[]): Json[] {
  const constants = new Map<string, Set<Json>>()
  for (const alternative of alternatives)
    for (const [name, property] of Object.entries((isObject(alternative) && alternative.properties) || {}))
      if (isObject(property) && property.const !== undefined)
        constants.set(name, (constants.get(name) ?? new Set()).add(property.const as Json))
  return [...constants.values()].flatMap((values) => (values.size > 1 ? [...values] : []))
}

function isDistinctive(value: Json): boolean {
  if (typeof value === 'string') return value.length >= LEAST_TEXT
  return typeof value === 'number' && String(Math.abs(value)).length >= LEAST_DIGITS
}

/** The values in a text. A single ordinary word, or a number that only some seeds have, may be a coincidence. */
function foundIn(values: readonly PrivateValue[], place: string, text: string): PrivateLiteral[] {
  return values
    .filter(({ value }) => holds(text, String(value)))
    .map(({ value, constant }) => ({
      value,
      place,
      doubtful: typeof value === 'number' ? !constant : /^\p{L}+$/u.test(String(value)),
    }))
}

function holds(text: string, value: string): boolean {
  const at = text.toLowerCase().indexOf(value.toLowerCase())
  if (at < 0) return false
  return !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '') && !/[\p{L}\p{N}]/u.test(text[at + value.length] ?? '')
}

/** The private values that a schema gives as a constant or default, or as the only private one of its choices. */
function givenBy(schema: JsonObject, known: ReadonlyMap<Json, PrivateValue>): PrivateValue[] {
  const given = [...walkSchema(schema)].flatMap((inner) => {
    const { const: only, default: usual, enum: choice } = inner.schema
    const chosen = privateIn(choice, known)
    const named = [only, usual].flatMap((value) => (value === undefined ? [] : (known.get(value) ?? [])))
    // An enumeration with several private values reveals none of them; nor does a declared one beside other choices.
    const single = chosen.length === 1 && (!chosen[0]?.declared || (choice as Json[]).length === 1) ? chosen : []
    return [...named, ...single]
  })
  return [...new Set(given)].filter(({ value, constant, declared, listed }) =>
    // Of constants, all but usual initial values, such as 0, an empty text or a boolean.
    constant ? value && value !== true : isDistinctive(value) && !declared && (typeof value === 'string' || listed),
  )
}

function withoutChoices(schema: JsonObject, known: ReadonlyMap<Json, PrivateValue>): JsonObject {
  return JSON.parse(
    JSON.stringify(schema, (key, value) =>
      key === '$schema' || (key === 'enum' && privateIn(value, known).length > 1) ? undefined : value,
    ),
  )
}

function privateIn(choice: unknown, known: ReadonlyMap<Json, PrivateValue>): PrivateValue[] {
  return Array.isArray(choice) ? (choice as Json[]).flatMap((value) => known.get(value) ?? []) : []
}
