import { type Environment, rehearse } from '@episodic/mcp-server'
import { canonicalJson, type Json, type JsonObject, seedFor } from '@episodic/protocol'
import { z } from 'zod'
import { leavesOf } from './json-leaves.ts'
import { walkSchema } from './schema-walk.ts'
import type { Setting } from './subject.ts'

const SEEDS = 24
/** The fewest characters of a private value that do not stand in a text by chance. */
const LEAST_TEXT = 4
const LEAST_DIGITS = 4

/** A private value, and where every player reads it. */
export interface PrivateLiteral {
  readonly value: Json
  readonly place: string
}

/** A private value, as it is over all worlds that were begun. */
interface PrivateValue {
  readonly value: Json
  /** Whether every world has it in the same place. */
  readonly constant: boolean
}

/**
 * Finds private values in the descriptions and schemas that a player reads before it plays: long ones wherever they
 * stand, and short ones that every world has where a schema names nothing else of what is private. What is public as
 * well, such as the name of a place, is no secret by itself; nor is one of the choices that the private state declares
 * and worlds differ in: everybody may know that it is one of them, and what is the same for all worlds does not tell which.
 */
export function privateLiterals(
  environment: Environment,
  settings: readonly Setting[],
  seed: string,
): readonly PrivateLiteral[] {
  const values = privateValues(environment, settings, seed)
  const long = values.filter(({ value }) => tellsItselfApart(value))
  const short = values.filter((one) => one.constant && !long.includes(one) && !isBlank(one.value))
  const known = new Set(values.map(({ value }) => value))
  const literals = heldBy(long, "the world's description", environment.description)
  for (const { name, description, inputSchema, outputSchema } of environment.toolInfos) {
    literals.push(...heldBy(long, `the description of ${name}`, description))
    for (const [kind, schema] of Object.entries({ input: inputSchema, output: outputSchema ?? {} })) {
      const place = `the ${kind} schema of ${name}`
      const named = new Set([...walkSchema(schema)].flatMap((inner) => namesOf(inner.schema, known)))
      literals.push(...heldBy(long, place, canonicalJson(withoutChoices(schema, known))))
      literals.push(...short.flatMap(({ value }) => (named.has(value) ? [{ value, place }] : [])))
    }
  }
  return literals
}

/** The private values of many beginnings, each once, but for those that are public in the same world, or a declared choice. */
function privateValues(environment: Environment, settings: readonly Setting[], seed: string): PrivateValue[] {
  const places = new Map<string, Set<Json>>()
  const values = new Set<Json>()
  for (const { params } of settings)
    for (let i = 0; i < SEEDS; i++) {
      const { state } = rehearse(environment, { params, seed: seedFor(seed, 'hygiene', i) }).start
      const open = new Set(leavesOf(state.public).map(({ value }) => value))
      for (const { path, value } of leavesOf(state.private)) {
        const place = path.join('.')
        places.set(place, (places.get(place) ?? new Set()).add(value))
        if (!open.has(value)) values.add(value)
      }
    }
  const constants = new Set([...places.values()].flatMap((held) => (held.size === 1 ? [...held] : [])))
  const choices = declaredChoices(environment)
  return [...values]
    .map((value) => ({ value, constant: constants.has(value) }))
    .filter(({ value, constant }) => constant || !choices.has(value))
}

/** What the private state's own schema enumerates. */
function declaredChoices({ state }: Environment): ReadonlySet<Json> {
  const schema = z.toJSONSchema(state.private, { io: 'input', unrepresentable: 'any' }) as JsonObject
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

function heldBy(values: readonly PrivateValue[], place: string, text: string): PrivateLiteral[] {
  return values.flatMap(({ value }) => (holds(text, String(value)) ? [{ value, place }] : []))
}

/** Whether a text holds a value as a word of its own. */
function holds(text: string, value: string): boolean {
  const at = text.toLowerCase().indexOf(value.toLowerCase())
  if (at < 0) return false
  return !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '') && !/[\p{L}\p{N}]/u.test(text[at + value.length] ?? '')
}

/** The values that a schema names; an enumeration of several that are private is a choice, and names none of them. */
function namesOf({ const: only, default: usual, enum: choice }: JsonObject, known: ReadonlySet<Json>): Json[] {
  const chosen = privateIn(choice, known)
  return [only ?? null, usual ?? null, ...(chosen.length === 1 ? chosen : [])]
}

/** A schema without those enumerations that are choices. */
function withoutChoices(schema: JsonObject, known: ReadonlySet<Json>): JsonObject {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (key === 'enum' && privateIn(value, known).length > 1 ? undefined : value)),
  )
}

function privateIn(choice: unknown, known: ReadonlySet<Json>): Json[] {
  return Array.isArray(choice) ? (choice as Json[]).filter((value) => known.has(value)) : []
}
