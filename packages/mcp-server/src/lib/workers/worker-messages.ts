import type { Action, JsonObject, LegalActions, OutsideEvent } from '@episodic/protocol'
import type { Happened, SessionState } from '@episodic/state'
import type { EventTurn } from '../environment/apply-event.ts'
import type { ObservedState, PlayOutcome, RulesTurn } from '../environment/play-action.ts'
import type { EndedEpisode } from '../environment/rules-runner.ts'

/** What a thread is started with. */
export interface ThreadData {
  /** Addresses of the modules that export the environments. */
  readonly modules: readonly string[]
}

/** One call of an environment's rules, as it goes to a thread. */
export type RulesCall = {
  readonly environment: { readonly name: string; readonly version: string }
} & (
  | { readonly kind: 'start'; readonly params: JsonObject; readonly seed: string }
  | { readonly kind: 'observe'; readonly state: SessionState; readonly params: JsonObject }
  // The draft is a copy of the state, so the thread makes it.
  | { readonly kind: 'play'; readonly turn: Omit<RulesTurn, 'draft'>; readonly action: Action }
  | { readonly kind: 'legal'; readonly state: SessionState; readonly params: JsonObject }
  | ({ readonly kind: 'judge' } & EndedEpisode)
  | { readonly kind: 'event'; readonly turn: Omit<EventTurn, 'draft'>; readonly event: OutsideEvent }
)

/** A message of a thread: first that it is ready, then an answer to each call. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | (ThreadAnswer & RulesAnswer & { readonly kind: 'done' })
  | (ThreadAnswer & { readonly kind: 'threw'; readonly error: ThrownError })

/** The result of a call. */
export interface RulesAnswer {
  readonly value: ObservedState | PlayOutcome | Happened | LegalActions | boolean | undefined
  readonly secrets: ListedSecrets
}

/** The secrets that the environment lists for the state after a call, or the error that it threw. */
export type ListedSecrets = { readonly listed: readonly string[] } | { readonly error: ThrownError }

interface ThreadAnswer {
  /**
   * Bytes that the thread keeps outside of its heap, which the heap's limit does not cover: contents of typed arrays.
   */
  readonly outside: number
}

/** An error that was thrown in a thread, as far as it can be sent. */
export interface ThrownError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
}
