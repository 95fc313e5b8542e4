import {
  type Action,
  type EpisodeEnd,
  type JsonObject,
  type LegalActions,
  type OutsideEvent,
  WireError,
} from '@episodic/protocol'
import type { Happened, SessionState } from '@episodic/state'
import { ServerError } from '../server-error.ts'
import { applyEvent, type EventTurn } from './apply-event.ts'
import type { CallOptions } from './call-options.ts'
import type { EnvironmentDefinition } from './environment.ts'
import {
  type InitialState,
  type ObservedState,
  observeState,
  type PlayOutcome,
  playAction,
  type RulesTurn,
  startEnvironment,
} from './play-action.ts'
import { assertPrototypeUntouched } from './shared-prototype.ts'
import { asError } from './thrown-value.ts'

/** An episode that has ended. */
export interface EndedEpisode {
  readonly end: EpisodeEnd
  readonly state: SessionState
  readonly params: JsonObject
}

/**
 * Where the rules of environments are played.
 *
 * Wherever that is, the same call comes to the same thing. A promise costs a step a turn of the event loop, so a runner
 * that has its answer at once gives it at once.
 */
export interface RulesRunner {
  /** Returns the initial state for parsed parameters. Throws, or rejects with, what the rules throw. */
  start(environment: EnvironmentDefinition, params: JsonObject, seed: string): InitialState | Promise<InitialState>
  /** Returns the observation and the potential of a state. Throws, or rejects with, what the rules throw. */
  observe(
    environment: EnvironmentDefinition,
    state: SessionState,
    params: JsonObject,
  ): ObservedState | Promise<ObservedState>
  /**
   * Plays one action on a turn. Throws, or rejects with, what the rules throw. A runner that does not answer at once
   * gives up where `waiting` says so, and rejects with the reason of the abort.
   */
  play(
    environment: EnvironmentDefinition,
    turn: RulesTurn,
    action: Action,
    waiting?: CallOptions,
  ): PlayOutcome | Promise<PlayOutcome>
  /** Applies a valid outside event. Throws, or rejects with, what the rules throw. */
  apply(environment: EnvironmentDefinition, turn: EventTurn, event: OutsideEvent): Happened | Promise<Happened>
  /** Returns the legal actions in a state. Throws, or rejects with, what the rules throw. */
  legal(
    environment: EnvironmentDefinition,
    state: SessionState,
    params: JsonObject,
  ): LegalActions | Promise<LegalActions>
  /**
   * Judges an episode that ended in a state; `undefined` where the world defines no success. Throws, or rejects with,
   * what the rules throw.
   */
  judge(environment: EnvironmentDefinition, final: EndedEpisode): boolean | undefined | Promise<boolean | undefined>
  /**
   * Whether worlds may be played whose tools prepare their steps: that code runs where the host does, which is no place
   * for it where the rules are played elsewhere to keep them out of there.
   */
  readonly prepares: boolean
  /**
   * Lists what the world declares to be secret in a state. Throws what the world throws. Answers are searched as they
   * leave, so this is asked at once: a runner that plays elsewhere has it from the call that came to this very state.
   */
  secrets(environment: EnvironmentDefinition, state: SessionState, params: JsonObject): readonly string[]
}

/** Plays the rules at once, where they are called. Rules that never return hold everything. */
export const directRules = {
  start: (environment, ...given) => asFault(environment, () => startEnvironment(environment, ...given)),
  observe: (environment, ...given) => asFault(environment, () => observeState(environment, ...given)),
  play: (environment, turn, action) => asFault(environment, () => playAction(environment, turn, action)),
  apply: (environment, turn, event) => asFault(environment, () => applyEvent(environment, turn, event)),
  legal: (environment, state, params) => asFault(environment, () => environment.legal(state.public, params)),
  judge: (environment, final) => asFault(environment, () => environment.success(final)),
  prepares: true,
  secrets: (environment, state, params) => environment.secrets(state, params),
} satisfies RulesRunner

/** A world that throws a refusal of the wire has failed like any other: its words would reach whoever called. */
function asFault<T>({ name }: EnvironmentDefinition, run: () => T): T {
  try {
    return run()
  } catch (thrown) {
    const cause = asError(thrown)
    throw WireError.is(cause) ? new ServerError('rules-failed', 'The rules threw a WireError.', { cause }) : cause
  } finally {
    assertPrototypeUntouched(name)
  }
}
