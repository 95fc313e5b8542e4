import {
  DEFAULT_LIMITS,
  type EpisodeEnd,
  findNonJson,
  type Json,
  type JsonObject,
  type Limits,
  type Observation,
  type RecordedEvent,
  type SessionSnapshot,
  type Truncation,
  WireError,
} from '@episodic/protocol'
import { eventTexts, formatZodError, parseParams } from '@episodic/protocol/internal'
import { type Played, type SessionRecord, type SessionState, systemClock } from '@episodic/state'
import {
  DEFAULT_EVENTS,
  differences,
  isEndUnreported,
  KeptState,
  recordEvent,
  recordStep,
  turnOf,
} from '@episodic/state/internal'
import type { z } from 'zod'
import { rulesFailed, ServerError } from '../../server-error.ts'
import { containsListed, SHORTEST_SECRET, tooShortSecrets } from '../answer/secrets.ts'
import { absenceOf } from '../definition/absent-action.ts'
import { declaredAction, findUndeclared } from '../definition/declared-action.ts'
import type { EnvironmentDefinition, InputOrJson } from '../definition/environment.ts'
import { type JudgedPart, judgedPart } from '../definition/judged-part.ts'
import { isOffered } from '../definition/offered-tools.ts'
import { partsOf } from '../definition/stored-state.ts'
import { applyEvent, assertEvent } from '../rules/apply-event.ts'
import { evaluateEnd } from '../rules/conclude-step.ts'
import { playAction } from '../rules/play-action.ts'
import { prepareStep, toPrepare } from '../rules/prepare-step.ts'
import { snapshotOf } from '../rules/snapshot-of.ts'
import { beginning, type InitialState, startEnvironment } from '../rules/start-environment.ts'
import { withoutAmbient } from './ambient-guard.ts'

export interface RehearsalOptions<World extends EnvironmentDefinition = EnvironmentDefinition> {
  /** Default: the world's own defaults. */
  readonly params?: InputOrJson<World['params']>
  /** Default `rehearsal`. */
  readonly seed?: string
  /** Replaces the private state that `start` returned. */
  readonly privateState?: OutputOrJson<World['state']['private']>
  /**
   * Throws `rules-failed` for what ordinary play tolerates or does not check: use of the machine's own randomness,
   * time, timers, network, files, programs or environment variables; a key that no schema declares; a state that JSON
   * cannot hold or its schema rejects; a secret that is too short to be searched for; an answer that contains a secret.
   * Costs some ten microseconds a step.
   */
  readonly strict?: boolean
}

type OutputOrJson<Schema extends z.ZodType> = unknown extends z.output<Schema> ? JsonObject : z.output<Schema>

/** The structured answer of a tool: by its own schema, or else what its player sees. */
type AnswerOf<
  World extends EnvironmentDefinition,
  Name extends keyof World['tools'],
> = World['tools'][Name]['output'] extends z.ZodType ? OutputOrJson<World['tools'][Name]['output']> : ViewOf<World>

/** What a player sees as data: the public state. A seat of a game sees more. */
type ViewOf<World extends EnvironmentDefinition> = OutputOrJson<World['state']['public']>

/**
 * A step of a rehearsal.
 *
 * - `Data`: the structured answer of the tool, which a refused step does not have.
 * - `Term`: the names of the reward terms.
 */
export interface RehearsedStep<Data = JsonObject, Term extends string = string>
  extends Omit<Played, 'observation' | 'terms'> {
  /** The value of each reward term. */
  readonly terms: Readonly<Record<Term, number>>
  readonly observation: Omit<Observation, 'structured'> & { readonly structured: Data | null }
  /** What the tool revealed, in order. */
  readonly revealed: readonly Json[]
  /** For each revealed value, the seats that it is meant for; `null` for all. */
  readonly revealedTo: readonly (readonly string[] | null)[]
  /** As the step report of a session says it. */
  readonly stateHash: string
}

/**
 * Plays an environment's rules alone: no session, no store, no server. For tests, checks, replays and searches.
 *
 * Its types are those of the environment: tools, arguments, answers, states and reward terms.
 * `rehearse<EnvironmentDefinition>(…)` returns one that takes any call, as an agent may send it.
 */
export interface Rehearsal<World extends EnvironmentDefinition = EnvironmentDefinition> {
  readonly start: InitialState
  readonly state: Omit<SessionState, 'public' | 'private'> & {
    readonly public: OutputOrJson<World['state']['public']>
    readonly private: OutputOrJson<World['state']['private']>
  }
  /** The last observation, of the seat that acted last. */
  readonly observation: Observation
  readonly end: Played['end']
  /** The seats that may act; the only seat, if there is one, and nobody after the end. */
  readonly turn: readonly string[]
  /** Returns what a seat sees now. Default: the only seat. Throws `rules-failed` for a seat that does not play. */
  observe(seat?: string): Observation
  /**
   * Plays one action. There are no budgets; `truncation` plays the step as if a budget cut it short. For a tool that
   * prepares its steps, `prepared` is the prepared input, such as {@link prepare} returns. Throws what the rules throw,
   * and `rules-failed` once the world has ended, and for a seat that is not in turn. If an event ended it, one more
   * step can be played, which reports that end. A recorded step that the server took for an absent seat is played as
   * that.
   */
  play<Name extends keyof World['tools'] & string>(
    tool: Name,
    args: InputOrJson<World['tools'][Name]['input']>,
    options?: {
      /** The seat that acts; needed if there are several. */
      readonly seat?: string
      readonly truncation?: Truncation | null
      readonly prepared?: Json | undefined
    },
  ): RehearsedStep<AnswerOf<World, Name>, World['terms'][number]>
  /**
   * Calls the `prepare` of a tool on the state of now, and resolves with what `play` gets as `prepared`; `undefined`
   * for a tool without one, and for arguments that are refused. Changes nothing. Rejects with `rules-failed`.
   */
  prepare<Name extends keyof World['tools'] & string>(
    tool: Name,
    args: InputOrJson<World['tools'][Name]['input']>,
  ): Promise<Json | undefined>
  /**
   * Applies an outside event before the next step. Throws `rules-failed` once the world has ended, `invalid-params` (a
   * `WireError`) for an event that it does not take, and what the rules throw.
   */
  publish(type: string, data?: JsonObject): Pick<RecordedEvent, 'said' | 'sent' | 'end'>
  /** The hash of the state in the form of a recorded one: older releases hash a large state in another way. */
  stateHashAs(recorded: string | null): string
  /** Returns how the environment judges the episode if it ends so for a seat now. */
  evaluate(end: EpisodeEnd, seat?: string): Pick<Played, 'success' | 'verdicts'>
  /** Restarts every random stream with another seed, as a fork with a seed does. */
  reseed(seed: string): void
  /** Returns what a session with these limits is at this step, see `Environment.restore`. */
  snapshot(limits: Limits): SessionSnapshot
  /** Returns a rehearsal that goes on from here, and shares no changes with this one. Costs no step. */
  fork(): Rehearsal<World>
}

/** Names each rehearsal for what its tools keep outside. */
let rehearsals = 0

/** Starts a rehearsal. Throws `option-invalid` for parameters that the world's schema rejects or does not know. */
export function rehearse<World extends EnvironmentDefinition>(
  environment: World,
  options?: RehearsalOptions<World>,
): Rehearsal<World>
export function rehearse(
  environment: EnvironmentDefinition,
  { params = {}, seed = 'rehearsal', privateState, strict = false }: RehearsalOptions = {},
): Rehearsal {
  const parsed = parsedParams(environment, params)
  const begin = () => startEnvironment(environment, parsed, seed)
  const start = strict ? withoutAmbient(`The start of ${environment.name}`, begin) : begin()
  const kept = KeptState.start({ ...start.state, private: privateState ?? start.state.private }, DEFAULT_LIMITS)
  const record: SessionRecord = {
    id: 'rehearsal',
    owner: null,
    environment: { name: environment.name, version: environment.version },
    params: parsed,
    seed,
    limits: DEFAULT_LIMITS,
    createdAt: 0,
    touchedAt: 0,
    base: null,
    epoch: 1,
    ...beginning(environment, start, kept),
    logBytes: 0,
  }
  return goOn(environment, strict, { start, kept, record, observation: start.observation })
}

function goOn(
  environment: EnvironmentDefinition,
  strict: boolean,
  from: Pick<Rehearsal, 'start' | 'observation'> & { readonly kept: KeptState; readonly record: SessionRecord },
): Rehearsal {
  let { start, kept, record, observation } = from
  const closely = <T>(what: string, run: () => T): T =>
    strict ? withoutAmbient(`${what} of ${environment.name}`, run) : run()
  const session = `rehearsal ${++rehearsals}`
  const seats = Object.keys(record.seats)
  const seatNamed = (named: string | undefined): string => {
    const seat = named ?? (seats.length === 1 ? seats[0] : undefined)
    if (seat !== undefined && seats.includes(seat)) return seat
    throw rulesFailed(
      `${named === undefined ? 'No seat is named' : `There is no seat "${named}"`}. The seats are: ${seats.join(', ')}.`,
    )
  }
  /** Throws for a secret that is too short: it would be found by chance. */
  const secretsOf = (of: readonly string[]) => {
    const list = () => of.flatMap((seat) => environment.secrets?.(record.state, record.params, seat) ?? [])
    const secrets = closely('The secrets', list)
    const [short] = tooShortSecrets(secrets)
    if (short === undefined) return secrets
    throw rulesFailed(
      `The secrets of ${environment.name} have one of ${short.length} characters, which would turn up by chance and is not searched for. List texts of ${SHORTEST_SECRET} or more.`,
    )
  }
  if (strict) secretsOf(seats)
  const assertSecretsKept = (what: string, seat: string, text: { readonly shown: string; readonly said: string }) => {
    if (containsListed(secretsOf([seat]), text.shown, text.said))
      throw new ServerError(
        'secret-leaked',
        `${what} of ${environment.name} says what \`secrets\` lists, so that its answer would be withheld. Leave it out of the answer, or do not list it once it has been revealed.`,
      )
  }
  /** Keeps the state that rules have left. Of a large one, a strict rehearsal checks what has changed. */
  const keep = (left: SessionState) => {
    const before = kept
    if (strict && left !== before.state && !before.isLarge) assertSound(environment, left)
    kept = before.next(left, DEFAULT_LIMITS)
    if (strict && before.isLarge) assertSound(environment, kept.state, before.state)
  }
  return {
    start,
    get state() {
      return record.state
    },
    get observation() {
      return observation
    },
    get end() {
      return record.end
    },
    get turn() {
      return record.end ? [] : (record.turn ?? seats)
    },
    observe: (named) => environment.observe(record.state, record.params, seatNamed(named)),
    async prepare(tool, args) {
      const needed = record.end ? null : toPrepare(environment, { tool, arguments: args })
      if (!needed || (seats.length === 1 && !isOffered(environment, record, seats[0] as string, tool))) return undefined
      const named = { ...record, id: session }
      return prepareStep(tool, needed, named, { clock: systemClock, isLast: false, signal: undefined })
    },
    publish(type, data = {}) {
      if (record.end) throw rulesFailed(`The world has ended (${record.end.reason}); rehearse it anew.`)
      assertEvent(environment, { type, data })
      const event = { id: String(record.revision), type, data }
      const turn = { record, draft: kept.draft() }
      const happened = closely(`Event ${type}`, () => applyEvent(environment, turn, event))
      keep(happened.change.state)
      record = { ...recordEvent(record, event, happened, { bound: DEFAULT_EVENTS, now: 0 }), state: kept.state }
      const { said, sent, end } = happened
      if (strict)
        for (const seat of seats)
          assertSecretsKept(`Event ${type}`, seat, { shown: eventTexts({ said, sent }, seat).join('\n'), said: '' })
      return { said, end, ...(sent && { sent }) }
    },
    play(tool, args, { seat: named, truncation = null, prepared } = {}) {
      const seat = seatNamed(named)
      if (record.end && !isEndUnreported(record))
        throw rulesFailed(`The world has ended (${record.end.reason}); rehearse it anew.`)
      if (record.turn && !record.turn.includes(seat))
        throw rulesFailed(`It is the turn of ${record.turn.join(', ')}, and not of ${seat}.`)
      const given = { tool, arguments: args }
      const action = absenceOf(given, environment) ? given : declaredAction(environment, given)
      const revealed: Json[] = []
      const revealedTo: (readonly string[] | null)[] = []
      const onReveal = (value: Json, to: readonly string[] | null) => {
        revealed.push(value)
        revealedTo.push(to)
      }
      const scrutiny = { strict, onReveal }
      const setting = { seat, action, now: 0, history: environment.history, prepared }
      const played = closely(`Tool ${tool}`, () =>
        playAction(environment, { ...turnOf(record, kept.draft(), setting), truncation }, action, scrutiny),
      )
      keep(played.change ? played.change.state : record.state)
      const { next, step: logged } = recordStep(record, setting, played, kept)
      record = next
      if (strict) {
        const { text, structured, attachments = [] } = played.observation
        assertSecretsKept(`Tool ${tool}`, seat, {
          shown: [text, JSON.stringify(structured), ...attachments.map(({ data = '' }) => atob(data))].join('\n'),
          said: JSON.stringify([tool, args]),
        })
      }
      observation = played.observation
      return { ...played, revealed, revealedTo, stateHash: logged.report.stateHash }
    },
    stateHashAs: (recorded) => kept.hashAs(recorded, record),
    evaluate: (end, named) => evaluateEnd(environment, { ...record, end, seat: seatNamed(named) }),
    reseed(seed) {
      record = { ...record, seed, rng: {} }
    },
    snapshot: (limits) => snapshotOf({ record: { ...record, limits }, kept }),
    fork: () => goOn(environment, strict, { start, kept, record, observation }),
  }
}

/** Throws `rules-failed` for a state that its schemas or JSON reject; of a changed one, for what was changed. */
function assertSound(environment: EnvironmentDefinition, state: SessionState, before?: SessionState): void {
  const known = new Map(before && partsOf(environment, before).map(({ part, value }) => [part, value]))
  for (const { part, schema, value } of partsOf(environment, state))
    for (const { path } of before ? differences(known.get(part), value) : [{ path: [] }]) {
      const judged = judgedPart(schema, value, path)
      const problem = judged && problemOf(judged, path, part)
      if (problem) throw rulesFailed(`The rules of ${environment.name} left a wrong ${part} state: ${problem}.`)
    }
}

function problemOf({ schema, value, rest }: JudgedPart, path: readonly string[], part: string): string | null {
  const parsed = (schema as z.ZodType).safeParse(value)
  const keys = path.slice(0, path.length - rest.length)
  const place = keys.map((key) => `${key}.`).join('')
  if (!parsed.success) return `${place}${formatZodError(parsed.error)}`
  const undeclared = findUndeclared(value, parsed.data)
  return undeclared ? `"${place}${undeclared}" is not declared` : findNonJson(value, part)
}

function parsedParams(environment: EnvironmentDefinition, params: JsonObject): JsonObject {
  try {
    return parseParams(environment, params)
  } catch (error) {
    throw WireError.is(error) ? new ServerError('option-invalid', error.message) : error
  }
}
