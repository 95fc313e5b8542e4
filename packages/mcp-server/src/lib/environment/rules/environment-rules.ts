import type { Action, JsonObject, OutsideEvent } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { rulesFailed, ServerError } from '../../server-error.ts'
import { faultOf } from '../definition/authored.ts'
import type { EnvironmentDefinition } from '../definition/environment.ts'
import { applyEvent, type EventTurn } from './apply-event.ts'
import { type EndedEpisode, evaluateEnd } from './conclude-step.ts'
import { playAction } from './play-action.ts'
import type { RulesTurn } from './rules-turn.ts'
import { observeState, startEnvironment } from './start-environment.ts'

/** Plays the rules of environments. Rules that never return block the whole process. */
export const environmentRules = {
  start: (environment: EnvironmentDefinition, params: JsonObject, seed: string) =>
    asFault(environment, () => startEnvironment(environment, params, seed)),
  observe: (environment: EnvironmentDefinition, state: SessionState, params: JsonObject, seat: string) =>
    asFault(environment, () => observeState(environment, state, params, seat)),
  play: (environment: EnvironmentDefinition, turn: RulesTurn, action: Action) =>
    asFault(environment, () => playAction(environment, turn, action)),
  apply: (environment: EnvironmentDefinition, turn: EventTurn, event: OutsideEvent) =>
    asFault(environment, () => applyEvent(environment, turn, event)),
  legal: (environment: EnvironmentDefinition, state: SessionState, params: JsonObject, seat: string) =>
    asFault(environment, () => environment.legal(state, params, seat)),
  evaluate: (environment: EnvironmentDefinition, ended: EndedEpisode) =>
    asFault(environment, () => evaluateEnd(environment, ended)),
}

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

function shared(who: string, key: string): ServerError {
  for (const added of Object.keys(Object.prototype)) Reflect.deleteProperty(Object.prototype, added)
  return rulesFailed(
    `The code of ${who} added "${key}" to Object.prototype, which all environments of this process share. It was taken away again. Keep it in the state.`,
  )
}
