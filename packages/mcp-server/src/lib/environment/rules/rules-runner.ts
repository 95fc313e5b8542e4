import type { Action, JsonObject, LegalActions, OutsideEvent } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import type { Happened } from '@episodic/state/internal'
import { rulesFailed, ServerError } from '../../server-error.ts'
import { faultOf } from '../definition/authored.ts'
import type { EnvironmentDefinition } from '../definition/environment.ts'
import { applyEvent, type EventTurn } from './apply-event.ts'
import type { CallOptions } from './call-options.ts'
import { type EndedEpisode, evaluateEnd, type Judgement } from './conclude-step.ts'
import { playAction } from './play-action.ts'
import type { PlayOutcome, RulesTurn } from './rules-turn.ts'
import { type InitialState, type ObservedState, observeState, startEnvironment } from './start-environment.ts'

/**
 * Plays the rules of environments, in this thread or in another one. The same call has the same result in each.
 * The calls throw, or reject with, what the rules throw.
 *
 * A promise costs a turn of the event loop for each step, so a runner that has the result at once returns it directly.
 */
export interface RulesRunner {
  start(environment: EnvironmentDefinition, params: JsonObject, seed: string): InitialState | Promise<InitialState>
  observe(
    environment: EnvironmentDefinition,
    state: SessionState,
    params: JsonObject,
    seat: string,
  ): ObservedState | Promise<ObservedState>
  /** Plays one declared action on a turn. If the result is a promise, the abort of `waiting` rejects it. */
  play(
    environment: EnvironmentDefinition,
    turn: RulesTurn,
    action: Action,
    waiting?: CallOptions,
  ): PlayOutcome | Promise<PlayOutcome>
  apply(environment: EnvironmentDefinition, turn: EventTurn, event: OutsideEvent): Happened | Promise<Happened>
  legal(
    environment: EnvironmentDefinition,
    state: SessionState,
    params: JsonObject,
    seat: string,
  ): LegalActions | Promise<LegalActions>
  evaluate(environment: EnvironmentDefinition, ended: EndedEpisode): Judgement | Promise<Judgement>
  /** Whether tools may prepare steps. `prepare` runs in the host's thread, where some runners want no such code. */
  readonly prepares: boolean
  /**
   * Returns the texts that the environment lists as secret for a seat in a state. Throws what its code throws.
   * Synchronous, because answers are searched as they are sent: a runner in another thread keeps the list of the call
   * that led to this state.
   */
  secrets(environment: EnvironmentDefinition, state: SessionState, params: JsonObject, seat: string): readonly string[]
}

/** Plays the rules in the calling thread. Rules that never return block the whole process. */
export const directRules = {
  start: (environment, ...given) => asFault(environment, () => startEnvironment(environment, ...given)),
  observe: (environment, ...given) => asFault(environment, () => observeState(environment, ...given)),
  play: (environment, turn, action) => asFault(environment, () => playAction(environment, turn, action)),
  apply: (environment, turn, event) => asFault(environment, () => applyEvent(environment, turn, event)),
  legal: (environment, ...given) => asFault(environment, () => environment.legal(...given)),
  evaluate: (environment, ended) => asFault(environment, () => evaluateEnd(environment, ended)),
  prepares: true,
  secrets: (environment, ...given) => environment.secrets?.(...given) ?? NONE,
} satisfies RulesRunner

/** Turns whatever an author's code throws into a fault: the caller would receive the message of a `WireError`. */
function asFault<T>({ name }: EnvironmentDefinition, run: () => T): T {
  try {
    return run()
  } catch (thrown) {
    // Code of a schema is outside the functions that the definition names.
    throw ServerError.is(thrown) ? thrown : faultOf(`The rules of ${name}`, thrown)
  } finally {
    assertPrototypeUntouched(name)
  }
}

/**
 * Removes keys that the code of `who` added to `Object.prototype` and throws `rules-failed` if there were any: every
 * object of the process would have them, and every strict schema would reject its input. Finds the keys that `for…in`
 * finds, and costs almost nothing if there are none.
 */
export function assertPrototypeUntouched(who: string): void {
  for (const key in EMPTY) throw shared(who, key)
}

const EMPTY = {}
const NONE: readonly never[] = []

function shared(who: string, key: string): ServerError {
  for (const added of Object.keys(Object.prototype)) Reflect.deleteProperty(Object.prototype, added)
  return rulesFailed(
    `The code of ${who} added "${key}" to Object.prototype, which all environments of this process share. It was taken away again. Keep it in the state.`,
  )
}
