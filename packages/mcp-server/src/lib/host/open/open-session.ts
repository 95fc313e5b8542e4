import {
  canonicalJson,
  DEFAULT_LIMITS,
  type EnvironmentInfo,
  type JsonObject,
  type Limits,
  type LimitsRequest,
  type OpenResult,
  WireError,
} from '@episodic/protocol'
import { copyPlain, invalidParams, parseParams } from '@episodic/protocol/internal'
import type { SessionState, SessionStore } from '@episodic/state'
import { type HeldSession, KeptState, readState, type SessionBase } from '@episodic/state/internal'
import { judgesLeft } from '../../environment/definition/absent-action.ts'
import type { EnvironmentDefinition } from '../../environment/definition/environment.ts'
import { namesOf } from '../../environment/definition/offered-tools.ts'
import { environmentRules } from '../../environment/rules/environment-rules.ts'
import { beginning, type InitialState, type ObservedState } from '../../environment/rules/start-environment.ts'
import type { Principal } from '../access/caller.ts'
import { randomText } from '../access/session-tokens.ts'
import type { OpenRequest } from '../host.ts'
import type { CachedSession } from '../sessions/session-cache.ts'

/** Returns the environment that a request names. Throws `unknown-environment`, also for another version. */
export function chooseEnvironment(
  environments: ReadonlyMap<string, EnvironmentDefinition>,
  { environment: name, version }: Pick<OpenRequest, 'environment' | 'version'>,
): EnvironmentDefinition {
  const environment = environments.get(name)
  if (!environment) throw unknownEnvironment(name, environments.keys())
  if (version !== undefined && version !== environment.version)
    throw new WireError(
      'unknown-environment',
      `${name} is served in version ${environment.version}, and version ${version} was asked for. Make the tasks anew, or serve that version.`,
    )
  return environment
}

export function unknownEnvironment(name: string, served: Iterable<string>): WireError {
  return new WireError(
    'unknown-environment',
    `There is no environment "${name}" here. There is: ${[...served].join(', ')}.`,
  )
}

/** What each seat of an episode observes first, and who may act. Shares parts with the record of the session. */
export interface SeenAtStart {
  readonly seats: { readonly [seat: string]: ObservedState }
  readonly turn: readonly string[] | undefined
}

/** Returns the record of a new session. Throws, or rejects with, `invalid-params`. */
export async function startRecord(
  environment: EnvironmentDefinition,
  identity: { readonly id: string; readonly owner: Principal; readonly now: number },
  { params: given = {}, seed = randomText(), limits = {} }: OpenRequest,
): Promise<Omit<HeldSession, 'pools'> & { readonly seen: SeenAtStart }> {
  const params = parseParams(environment, given)
  const { id, owner, now } = identity
  const started = environmentRules.start(environment, params, seed)
  const allowed = mergeLimits(environment.limitsFor(params), limits)
  const kept = KeptState.start(started.state, allowed)
  const record = {
    id,
    owner,
    environment: { name: environment.name, version: environment.version },
    params,
    seed,
    limits: allowed,
    createdAt: now,
    touchedAt: now,
    base: null,
    epoch: 1,
    ...beginning(environment, started, kept),
    logBytes: 0,
  }
  return { record, kept, seen: seenIn(environment, started) }
}

function seenIn({ seats: [seat] }: EnvironmentDefinition, start: InitialState): SeenAtStart {
  return { seats: start.seats ?? { [seat as string]: start }, turn: start.turn }
}

/** Throws `invalid-params` if a request key has opened a session by a different request. */
export function assertSameOpening(
  { environment, session }: CachedSession,
  { params: given, seed, limits }: OpenRequest,
): void {
  const { record } = session
  const params = parseParams(environment, given ?? {})
  const asked = { params, seed: seed ?? record.seed, limits: mergeLimits(environment.limitsFor(params), limits ?? {}) }
  const opened = { params: record.params, seed: record.seed, limits: record.limits }
  if (!record.base && canonicalJson(toJson(asked)) === canonicalJson(toJson(opened))) return
  throw invalidParams(
    'This request key has opened a session with other parameters, another seed or other limits, or from a snapshot. Make a new key.',
  )
}

function toJson(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value))
}

/**
 * Returns the answer to an open. `seen` is what the seats observe first, of a session that was started just now; of any
 * other, it is computed from the session's start, so that a repeated request gets the same answer.
 */
export async function toOpenResult(
  { store }: { readonly store: SessionStore },
  { environment, control, capabilities, seatHandles, session }: CachedSession,
  seen: SeenAtStart | null,
): Promise<OpenResult> {
  const { id, epoch, params, seed, limits, base, revision, state } = session.record
  const { seats, turn } = seen ?? (await seenFirst())
  const opened: Record<string, OpenResult['seats'][string]> = {}
  for (const seat in seats) {
    const { observation, potential } = seats[seat] as ObservedState
    const place = environment.seats.indexOf(seat)
    const handle = seatHandles[place]
    opened[seat] = {
      capability: capabilities[place] as string,
      ...(handle !== undefined && { handle }),
      // A caller in this process may keep and change what it gets; the record must not change with it.
      observation: copyPlain(observation),
      seq: base?.seats[seat]?.seq ?? 0,
      ...(environment.multiplayer && potential !== null && { potential }),
    }
  }
  const [first] = environment.seats
  return {
    id,
    session: control,
    epoch,
    environment: { name: environment.name, version: environment.version },
    params,
    seed,
    limits,
    seats: opened,
    ...(turn && { turn }),
    potential: environment.multiplayer ? null : ((seats[first as string] as ObservedState).potential ?? null),
  }

  async function seenFirst(): Promise<SeenAtStart> {
    if (!base) return seenIn(environment, environmentRules.start(environment, params, seed))
    // A session that nothing has changed, such as a new fork, holds that state: reading it would cost its size.
    const first = revision === 0 ? state : (await readState(store, id, base.state)).state
    return seenAtBase(environment, base, params, first)
  }
}

function seenAtBase(
  environment: EnvironmentDefinition,
  base: SessionBase,
  params: JsonObject,
  state: SessionState,
): SeenAtStart {
  const seats = Object.keys(base.seats).map((seat) => [
    seat,
    environmentRules.observe(environment, state, params, seat),
  ])
  return { seats: Object.fromEntries(seats), turn: base.turn }
}

export function toEnvironmentInfo(environment: EnvironmentDefinition): EnvironmentInfo {
  const { name, version, description, handle, paramsSchema, toolInfos: tools, eventInfos: events } = environment
  const { terms, viewSchema, parallelToolCalls, greetings } = environment
  const potential = environment.hasPotential
  const defaults = environment.params.safeParse({})
  const limits = mergeLimits(defaults.success ? environment.limitsFor(defaults.data) : {}, {})
  return {
    name,
    version,
    description,
    paramsSchema,
    tools,
    terms,
    potential,
    ...(environment.hasSuccess && { success: true }),
    ...(environment.verdictNames.length > 0 && { verdicts: [...environment.verdictNames] }),
    ...(judgesLeft(environment) && { judgesLeft: true as const }),
    ...(environment.hasLegal && { legal: true }),
    ...(environment.offers && { offers: true as const }),
    ...(parallelToolCalls !== undefined && { parallelToolCalls }),
    ...(greetings && { greetings }),
    forkable: environment.forkable,
    ...(handle !== null && { handle }),
    ...(viewSchema && {
      seats: environment.seats.map((seat) => ({ name: seat, tools: namesOf(environment.tools, seat) })),
      viewSchema,
    }),
    ...(events.length > 0 && { events }),
    limits,
  }
}

/** Merges limits: a request can lower a limit of the environment, and set one that the environment leaves open. */
export function mergeLimits(own: LimitsRequest, requested: LimitsRequest): Limits {
  const turnSeconds = smaller(requested.turnSeconds, own.turnSeconds)
  return {
    steps: smaller(requested.steps, own.steps) ?? DEFAULT_LIMITS.steps,
    seconds: smaller(requested.seconds, own.seconds) ?? DEFAULT_LIMITS.seconds,
    bytes: smaller(requested.bytes, own.bytes) ?? DEFAULT_LIMITS.bytes,
    ...(turnSeconds !== undefined && { turnSeconds }),
  }
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}
