import {
  DEFAULT_LIMITS,
  DEFAULT_SEAT,
  findNonJson,
  type Json,
  type JsonObject,
  type Observation,
  type RecordedEvent,
  type Truncation,
} from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/extend'
import {
  DEFAULT_EVENTS,
  isEndUnreported,
  type Played,
  recordEvent,
  recordStep,
  type SessionRecord,
  type SessionState,
  stateHash,
  turnOf,
} from '@episodic/state'
import { ServerError } from '../server-error.ts'
import { withoutAmbient } from './ambient-guard.ts'
import { applyEvent, assertEvent } from './apply-event.ts'
import { declaredAction, findUndeclared } from './declared-action.ts'
import type { EnvironmentDefinition } from './environment.ts'
import { type InitialState, playAction, startEnvironment } from './play-action.ts'
import { containsListed, SHORTEST_SECRET, tooShortSecrets } from './secrets.ts'

export interface RehearsalOptions {
  /** Default: the world's own defaults. */
  readonly params?: JsonObject
  /** Default `rehearsal`. */
  readonly seed?: string
  /** Replaces the private state that `start` returned. */
  readonly privateState?: JsonObject
  /**
   * Throws `rules-failed` for what ordinary play tolerates or does not check: use of the machine's own randomness,
   * time, timers or network; a key that no schema declares; a state that JSON cannot hold or its schema rejects; a
   * secret that is too short to be searched for; an answer that contains a secret. Costs some ten microseconds a step.
   */
  readonly strict?: boolean
}

/** A step of a rehearsal. */
export interface RehearsedStep extends Played {
  /** What the tool revealed, in order. */
  readonly revealed: readonly Json[]
  /** As the step report of a session says it. */
  readonly stateHash: string
}

/** Plays an environment's rules alone: no session, no store, no server. For tests, checks, replays and searches. */
export interface Rehearsal {
  readonly start: InitialState
  readonly state: SessionState
  readonly observation: Observation
  readonly end: Played['end']
  /**
   * Plays one action. There are no budgets; `truncation` plays the step as if a budget cut it short. For a tool that
   * prepares its steps, `prepared` is the prepared input: `prepare` is not called. Throws what the rules throw, and
   * `rules-failed` once the world has ended. If an event ended it, one more step can be played, which reports that end.
   */
  play(
    tool: string,
    args: JsonObject,
    options?: { readonly truncation?: Truncation | null; readonly prepared?: Json | undefined },
  ): RehearsedStep
  /**
   * Applies an outside event before the next step. Throws `rules-failed` once the world has ended, `invalid-params` (a
   * `WireError`) for an event that it does not take, and what the rules throw.
   */
  publish(type: string, data?: JsonObject): Pick<RecordedEvent, 'said' | 'end'>
  /** Restarts every random stream with another seed, as a fork with a seed does. */
  reseed(seed: string): void
}

/** Starts a rehearsal. Throws `option-invalid` for parameters that the environment's schema rejects. */
export function rehearse(
  environment: EnvironmentDefinition,
  { params = {}, seed = 'rehearsal', privateState, strict = false }: RehearsalOptions = {},
): Rehearsal {
  const parsed = environment.params.safeParse(params)
  if (!parsed.success)
    throw new ServerError(
      'option-invalid',
      `Wrong parameters for ${environment.name}: ${formatZodError(parsed.error)}.`,
    )
  const closely = <T>(what: string, run: () => T): T =>
    strict ? withoutAmbient(`${what} of ${environment.name}`, run) : run()
  const start = closely('The start', () => startEnvironment(environment, parsed.data as JsonObject, seed))
  let record: SessionRecord = {
    id: 'rehearsal',
    owner: null,
    environment: { name: environment.name, version: environment.version },
    params: parsed.data as JsonObject,
    seed,
    limits: DEFAULT_LIMITS,
    createdAt: 0,
    touchedAt: 0,
    base: null,
    revision: 0,
    epoch: 1,
    rng: start.rng,
    now: 0,
    state: { public: start.state.public, private: privateState ?? start.state.private },
    end: null,
    seats: { [DEFAULT_SEAT]: { seq: 0, last: null } },
    history: [],
    logBytes: 0,
  }
  const listSecrets = () => environment.secrets(record.state, record.params)
  if (strict) assertSearchable(environment, closely('The secrets', listSecrets))
  const assertSecretsKept = (what: string, texts: { readonly shown: string; readonly said: string }) => {
    const listed = closely('The secrets', listSecrets)
    assertSearchable(environment, listed)
    assertNotShown(`${what} of ${environment.name}`, listed, texts)
  }
  let stateText = JSON.stringify(record.state)
  let observation = start.observation
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
    publish(type, data = {}) {
      if (record.end)
        throw new ServerError('rules-failed', `The world has ended (${record.end.reason}); rehearse it anew.`)
      assertEvent(environment, { type, data })
      const event = { id: String(record.revision), type, data }
      const turn = { record, draft: JSON.parse(stateText) }
      const happened = closely(`Event ${type}`, () => applyEvent(environment, turn, event))
      if (strict) assertSound(environment, happened.change.state)
      record = recordEvent(record, event, happened, { bound: DEFAULT_EVENTS, now: 0 })
      if (strict) assertSecretsKept(`Event ${type}`, { shown: happened.said ?? '', said: '' })
      stateText = JSON.stringify(record.state)
      return { said: happened.said, end: happened.end }
    },
    play(tool, args, { truncation = null, prepared } = {}) {
      if (record.end && !isEndUnreported(record))
        throw new ServerError('rules-failed', `The world has ended (${record.end.reason}); rehearse it anew.`)
      const action = declaredAction(environment, { tool, arguments: args })
      const revealed: Json[] = []
      const scrutiny = { strict, onReveal: (value: Json) => revealed.push(value) }
      const setting = {
        seat: DEFAULT_SEAT,
        action,
        now: 0,
        history: environment.history,
        prepared,
      }
      const turn = { ...turnOf(record, JSON.parse(stateText), setting), truncation }
      const played = closely(`Tool ${tool}`, () => playAction(environment, turn, action, scrutiny))
      const { next } = recordStep(record, setting, played)
      if (strict && played.change) assertSound(environment, next.state)
      record = next
      if (strict) {
        const { text, structured } = played.observation
        assertSecretsKept(`Tool ${tool}`, {
          shown: `${text}\n${JSON.stringify(structured)}`,
          said: JSON.stringify([tool, args]),
        })
      }
      if (played.change) stateText = JSON.stringify(next.state)
      const step = { ...played, revealed, stateHash: stateHash(stateText, next) }
      observation = step.observation
      return step
    },
    reseed(seed) {
      record = { ...record, seed, rng: {} }
    },
  }
}

/** Throws `rules-failed` for a secret that is too short to be searched for in answers. */
function assertSearchable({ name }: EnvironmentDefinition, secrets: readonly string[]): void {
  const [short] = tooShortSecrets(secrets)
  if (short !== undefined)
    throw new ServerError(
      'rules-failed',
      `The secrets of ${name} have one of ${short.length} characters, which would turn up by chance and is not searched for. List texts of ${SHORTEST_SECRET} or more.`,
    )
}

/**
 * Throws `rules-failed` for a shown text that contains a listed secret which the player did not say: a host would
 * withhold the answer.
 */
function assertNotShown(
  what: string,
  listed: readonly string[],
  { shown, said }: { readonly shown: string; readonly said: string },
): void {
  if (containsListed(listed, shown, said))
    throw new ServerError(
      'rules-failed',
      `${what} says what \`secrets\` lists, so that its answer would be withheld. Leave it out of the answer, or do not list it once it has been revealed.`,
    )
}

/** Throws `rules-failed` for a state that its schemas reject or do not declare, or that JSON cannot hold. */
function assertSound({ name, state: schemas }: EnvironmentDefinition, state: SessionState): void {
  for (const part of ['public', 'private'] as const) {
    const parsed = schemas[part].safeParse(state[part])
    const undeclared = parsed.success && findUndeclared(state[part], parsed.data)
    const problem = parsed.success
      ? undeclared
        ? `"${undeclared}" is not declared`
        : findNonJson(state[part], part)
      : formatZodError(parsed.error)
    if (problem) throw new ServerError('rules-failed', `The rules of ${name} left a wrong ${part} state: ${problem}.`)
  }
}
