import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { judgedPart, readsWhatItWrites } from '@episodic/mcp-server/internal'
import { canonicalJson, createRng, DEFAULT_LIMITS, type Json, type JsonObject, seedFor } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { KeptState, partName } from '@episodic/state/internal'
import { z } from 'zod'
import type { Setting } from './check-context.ts'
import { valueAt } from './walk-json.ts'

/** The start of an episode: what everybody sees, what each of several seats holds, and what is private. */
export interface Deal {
  /** The seed that dealt it, or most of it. */
  readonly seed: string
  /** A large one is read-only, and kept in pages: what deals have in common, they share. */
  readonly state: SessionState
}

/** Deals that are drawn however late it is. */
const LEAST = 2

export function drawDeals(
  environment: EnvironmentDefinition,
  { params }: Setting,
  seed: string,
  count: number,
  isLate: () => boolean = () => false,
): readonly Deal[] {
  const deals: Deal[] = []
  while (deals.length < count && (deals.length < LEAST || !isLate())) {
    const own = seedFor(seed, 'beginning', deals.length)
    deals.push({ seed: own, state: rehearse(environment, { params, seed: own }).state })
  }
  return deals
}

export function seatsOfDeal({ seats }: EnvironmentDefinition, { state: { own } }: Deal): readonly string[] {
  return own ? Object.keys(own) : seats
}

/** Returns a text of what a seat can see of a state: equal texts for equal values. */
export function seenBy(state: SessionState, seat: string): string {
  return toText([state.public, state.own?.[seat] ?? {}])
}

/** Returns a state to write into a text that is compared: a large one stands by the name of its pages. */
export function written(state: SessionState): SessionState | string {
  return hasLargePart(state) ? toText(state as unknown as Json) : state
}

/** Returns JSON with sorted keys, in which parts of large states stand by the names of their pages. */
export function toText(value: Json): string {
  return canonicalJson(withNames(value))
}

function withNames(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  const name = partName(value)
  if (name !== null) return { page: name }
  if (Array.isArray(value)) return value.map(withNames)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withNames(inner)]))
}

/** Returns what is hidden from a seat: not what it may read. With no seat, what is hidden from one of them. */
export function hiddenFrom(
  environment: EnvironmentDefinition,
  { own = {}, private: hidden }: SessionState,
  seat: string,
): JsonObject {
  const others = Object.entries(own).filter(([name]) => name !== seat)
  return { own: Object.fromEntries(others) as JsonObject, private: without(hidden, readableBy(environment, seat)) }
}

/** Returns the paths of the private state that a seat may read through tools; with no seat, those that all may. */
export function readableBy({ readable }: EnvironmentDefinition, seat: string): readonly (readonly string[])[] {
  const [first = [], ...others] = Object.values(readable)
  const paths = readable[seat] ?? first.filter((path) => others.every((paths) => paths.includes(path)))
  return paths.map((path) => path.split('.'))
}

export function readIn(environment: EnvironmentDefinition, { private: hidden }: SessionState, seat: string): Json[] {
  return readableBy(environment, seat).map((path) => valueAt(hidden, path) ?? null)
}

export function without(value: Json, paths: readonly (readonly string[])[]): Json {
  if (paths.length === 0 || typeof value !== 'object' || value === null) return value
  const parts = Object.entries(value).flatMap(([key, part]) => {
    const inner = paths.filter(([first]) => first === key).map((path) => path.slice(1))
    return inner.some((path) => path.length === 0) ? [] : [[key, without(part, inner)] as const]
  })
  return Object.fromEntries(parts)
}

/** Returns the name of a hidden place in findings: `own.bob.card` in a game; `card` for `private.card` of one seat. */
export function namePlace({ multiplayer }: EnvironmentDefinition, place: string): string {
  return multiplayer ? place : place.replace(/^private\./, '')
}

/**
 * Returns an environment whose episodes start from a deal. The environment's own `start` runs first, for the draws that
 * it takes from the session's streams, and once more with the seed of the deal, for what it may keep outside the state.
 *
 * @param session - the seed of the sessions, if it is known: `start` runs once if it is that of the deal.
 */
export function dealtEnvironment(environment: EnvironmentDefinition, deal: Deal, session?: string) {
  const { seed, state } = deal
  return {
    ...environment,
    start(context: Parameters<EnvironmentDefinition['start']>[0]) {
      environment.start(context)
      if (session !== seed) environment.start({ params: context.params, rng: createRng(seed) })
      return hasLargePart(state) ? unpacked(environment, state) : structuredClone(state)
    },
  }
}

/** Whether something in a state is kept in pages, so that it is read-only and not to be walked for each episode. */
export function hasLargePart({ public: open, own, private: hidden }: SessionState): boolean {
  return [open, hidden, own, ...Object.values(own ?? {})].some((part) => partName(part) !== null)
}

/**
 * Returns a large state as `start` returns it. Sessions that begin with it share the large values of its fields, as far
 * as its schemas tell one field from another.
 */
function unpacked({ state: schemas }: EnvironmentDefinition, state: SessionState): SessionState {
  const fieldsOf = (schema: z.ZodType, part: JsonObject): JsonObject =>
    schema instanceof z.ZodObject && !schema.def.checks?.length ? { ...part } : part
  const own = Object.entries(state.own ?? {}).map(([seat, part]) => [
    seat,
    schemas.own ? fieldsOf(schemas.own, part) : part,
  ])
  return {
    public: fieldsOf(schemas.public, state.public),
    ...(state.own && { own: Object.fromEntries(own) }),
    private: fieldsOf(schemas.private, state.private),
  }
}

/** Whether the schemas accept the hidden parts of a state and keep all of them. */
export function keepsHidden({ state: schemas }: EnvironmentDefinition, state: SessionState): boolean {
  const { own: schema } = schemas
  // A schema has accepted a large part when its state began: all of it is not read once more.
  const keeps = (schema: z.ZodType, part: JsonObject) =>
    partName(part) === null ? keepsAll(schema, part) : readsWhatItWrites(schema)
  const own = schema ? Object.values(state.own ?? {}).every((part) => keeps(schema, part)) : true
  return own && keeps(schemas.private, state.private)
}

function keepsPlace(
  { state: schemas }: EnvironmentDefinition,
  state: SessionState,
  [part, ...path]: readonly string[],
): boolean {
  const [schema, value, place] =
    part === 'own'
      ? [schemas.own, state.own?.[path[0] as string], path.slice(1)]
      : [schemas[part as 'public' | 'private'], state[part as 'public' | 'private'], path]
  if (!schema) return false
  const judged = judgedPart(schema, value, place)
  return judged === null || keepsAll(judged.schema as z.ZodType, judged.value)
}

function keepsAll(schema: z.ZodType, value: unknown): boolean {
  const parsed = schema.safeParse(value)
  return parsed.success && JSON.stringify(parsed.data) === JSON.stringify(value)
}

export interface Replacement {
  /** Begins with `private`, or with `own` and a seat. */
  readonly path: readonly string[]
  readonly value: Json
}

/**
 * Returns a state with other values at some places, as far as the schemas accept them there, at the cost of what is
 * replaced; and the places that have their new value.
 */
export function withReplaced(
  environment: EnvironmentDefinition,
  state: SessionState,
  replacements: Iterable<Replacement>,
): { readonly state: SessionState; readonly replaced: ReadonlySet<Replacement> } {
  const kept = KeptState.start(state, DEFAULT_LIMITS)
  const draft = kept.draft()
  const replaced = new Set<Replacement>()
  for (const replacement of replacements) {
    const { path, value } = replacement
    const holder = valueAt(draft as unknown as JsonObject, path.slice(0, -1)) as { [key: string]: Json }
    const key = path.at(-1) as string
    const before = holder[key] as Json
    holder[key] = value
    if (keepsPlace(environment, draft, path)) replaced.add(replacement)
    else holder[key] = before
  }
  return { state: kept.next(draft, DEFAULT_LIMITS).state, replaced }
}
