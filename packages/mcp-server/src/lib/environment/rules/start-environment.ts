import { createRng, findNonJson, type JsonObject, type Observation, type RngState } from '@episodic/protocol'
import { formatZodError, isObject } from '@episodic/protocol/internal'
import type { SessionState } from '@episodic/state'
import { freezeAll, isFrozenWhole, type KeptState, partName } from '@episodic/state/internal'
import { z } from 'zod'
import { rulesFailed } from '../../server-error.ts'
import { withPlace } from '../definition/authored.ts'
import type { EnvironmentDefinition } from '../definition/environment.ts'
import { ignoreRejection } from '../definition/thrown-value.ts'
import { bySeat } from './rules-turn.ts'

export interface ObservedState {
  readonly observation: Observation
  readonly potential: number | null
}

/** The state, random streams and observation before the first step. With several seats, that of the first one. */
export interface InitialState extends ObservedState {
  readonly state: SessionState
  readonly rng: RngState
  /** What each seat of the episode observes; left out if there is one seat. */
  readonly seats?: { readonly [seat: string]: ObservedState }
  /** The seats that may act first; left out if there is one seat. */
  readonly turn?: readonly string[]
}

export function beginning(
  { seats: only }: Pick<EnvironmentDefinition, 'seats'>,
  { rng, seats, turn }: Pick<InitialState, 'rng' | 'seats' | 'turn'>,
  { state }: KeptState,
) {
  return {
    revision: 0,
    rng,
    now: 0,
    state,
    end: null,
    seats: bySeat(seats ? Object.keys(seats) : only, () => ({ seq: 0, last: null })),
    ...(turn && { turn }),
    history: [],
  }
}

export function observeState(
  environment: EnvironmentDefinition,
  state: SessionState,
  params: JsonObject,
  seat: string,
): ObservedState {
  return {
    observation: environment.observe(state, params, seat),
    potential: environment.potential(state, params, seat),
  }
}

/** Starts a world from checked parameters. The same ones and seed give the same start, at any time. */
export function startEnvironment(environment: EnvironmentDefinition, params: JsonObject, seed: string): InitialState {
  const rng = createRng(seed)
  const started = environment.start({ params, rng })
  ignoreRejection(started)
  if (!isObject(started))
    throw rulesFailed(
      `\`start\` of ${environment.name} returned ${started === null ? 'null' : typeof started}, and has to return the state that the episode begins with.`,
    )
  const { own } = environment.state
  const present = environment.present(params)
  const state = {
    public: startedPart('public', environment.state.public, started.public),
    ...(own && { own: bySeat(present, (seat) => startedPart(`own state of ${seat}`, own, started.own?.[seat])) }),
    private: startedPart('private', environment.state.private, started.private),
  }
  const observe = (seat: string) => observeState(environment, state, params, seat)
  const start = { state, rng: rng.save(), ...observe(present[0] as string) }
  if (!environment.multiplayer) return start
  const turn = environment.turn(state, params).filter((seat) => present.includes(seat))
  if (turn.length > 0) return { ...start, seats: bySeat(present, observe), turn }
  throw rulesFailed(
    `At the start of ${environment.name} no seat that plays is in turn, so that the episode would never go on. Let \`turn\` name one of ${present.join(', ')}.`,
  )

  function startedPart(part: string, schema: z.ZodType, value: unknown): JsonObject {
    const parsed = parseStartPart(schema, value)
    if (typeof parsed !== 'string') return parsed
    const problem = `The start of ${environment.name} gave a ${part} state that cannot be kept: ${parsed}.`
    throw rulesFailed(withPlace(problem, environment))
  }
}

/** Parsed values that are frozen at every depth, by what was parsed and its schema. */
const parsedOnce = new WeakMap<object, Map<z.ZodType, object>>()

/** Schemas of parts, without the fields that were parsed before, by the names of these. */
const schemasOfRest = new WeakMap<z.ZodType, Map<string, z.ZodType>>()

/**
 * Returns a part of an initial state as its schema parses it, so without undeclared keys; or the problem, as a text.
 *
 * A field whose value is frozen at every depth, such as a database that a module has read, is parsed once: sessions
 * that begin with the same one get the same object. What is a part of another state was parsed when that began.
 */
function parseStartPart(schema: z.ZodType, value: unknown): JsonObject | string {
  if (partName(value) !== null) return value as JsonObject
  const fields = frozenFields(schema, value)
  if (fields.length === 0) return parse(schema, value)
  const known: Record<string, object> = {}
  for (const [field, fieldSchema, frozen] of fields) {
    const parsed = parseOnce(fieldSchema, frozen)
    // The whole part says where in it the problem is.
    if (typeof parsed === 'string') return parse(schema, value)
    known[field] = parsed
  }
  const names = Object.keys(known)
  const nothing = Object.fromEntries(names.map((name) => [name, null]))
  const rest = parse(schemaOfRest(schema as z.ZodObject, names), { ...(value as object), ...nothing })
  return typeof rest === 'string' ? rest : ({ ...rest, ...known } as JsonObject)
}

function parse(schema: z.ZodType, value: unknown): JsonObject | string {
  const parsed = schema.safeParse(value)
  if (!parsed.success) return formatZodError(parsed.error, value)
  return findNonJson(parsed.data) ?? (parsed.data as JsonObject)
}

/** Returns the fields with frozen values. A schema that checks its fields together has to see all of them. */
function frozenFields(schema: z.ZodType, value: unknown): (readonly [string, z.ZodType, object])[] {
  if (!(schema instanceof z.ZodObject) || !isObject(value) || schema.def.checks?.length) return []
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([field, fieldSchema]) => {
    const frozen: unknown = value[field]
    return isFrozenWhole(frozen) ? [[field, fieldSchema, frozen] as const] : []
  })
}

function parseOnce(schema: z.ZodType, value: object): object | string {
  if (partName(value) !== null) return value
  const known = parsedOnce.get(value) ?? new Map<z.ZodType, object>()
  parsedOnce.set(value, known)
  const before = known.get(schema)
  if (before) return before
  const parsed = parse(schema, value)
  if (typeof parsed === 'object') known.set(schema, freezeAll(parsed))
  return parsed
}

function schemaOfRest(schema: z.ZodObject, names: readonly string[]): z.ZodType {
  const known = schemasOfRest.get(schema) ?? new Map<string, z.ZodType>()
  schemasOfRest.set(schema, known)
  const key = JSON.stringify(names)
  const rest = known.get(key) ?? schema.extend(Object.fromEntries(names.map((name) => [name, z.null()])))
  known.set(key, rest)
  return rest
}
