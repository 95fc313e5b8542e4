import type { Action, JsonObject, LegalActions, OutsideEvent } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import type { Happened } from '@episodic/state/internal'
import type { EventTurn } from '../environment/rules/apply-event.ts'
import type { EndedEpisode, Judgement } from '../environment/rules/conclude-step.ts'
import type { PlayOutcome, RulesTurn } from '../environment/rules/rules-turn.ts'
import type { ObservedState } from '../environment/rules/start-environment.ts'

export interface ThreadData {
  readonly modules: readonly string[]
}

export type RulesCall = AskedCall & { readonly environment: { readonly name: string; readonly version: string } }
export type AskedCall =
  | { readonly kind: 'start'; readonly params: JsonObject; readonly seed: string }
  | {
      readonly kind: 'observe' | 'legal'
      readonly state: SessionState
      readonly params: JsonObject
      readonly seat: string
    }
  // The draft is a copy of the state, so the thread makes it.
  | { readonly kind: 'play'; readonly turn: Omit<RulesTurn, 'draft'>; readonly action: Action }
  | ({ readonly kind: 'judge' } & EndedEpisode)
  | { readonly kind: 'event'; readonly turn: Omit<EventTurn, 'draft'>; readonly event: OutsideEvent }

/** A large state as it goes to or from a thread: its first page, and the pages that the other side lacks. */
export interface SentState {
  readonly page: string
  readonly pages: readonly (readonly [name: string, text: string])[]
  /** The thread has to forget all pages that it was sent before. */
  readonly isFirst: boolean
}

export interface SentCall {
  readonly call: RulesCall
  /** The state of the call if that is large: the call itself has none. */
  readonly sent: SentState | null
}

/** A message of a thread: first that it is ready, then an answer to each call. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | (ThreadAnswer & RulesAnswer & { readonly kind: 'done' })
  | (ThreadAnswer & { readonly kind: 'threw'; readonly error: ThrownError })

export interface RulesAnswer {
  readonly value: ObservedState | PlayOutcome | Happened | LegalActions | Judgement
  readonly secrets: SecretsBySeat
  /** The changed state, if it is large: the change in the value has none. */
  readonly made?: SentState | undefined
}

/** The secrets that the environment lists for each of its seats and the state after a call. */
export type SecretsBySeat = { readonly [seat: string]: ListedSecrets }

/** The secrets for one seat, or the error that the environment threw. */
export type ListedSecrets = { readonly listed: readonly string[] } | { readonly error: ThrownError }

interface ThreadAnswer {
  /** Bytes that the thread keeps outside of its heap, which no limit of it covers: contents of typed arrays. */
  readonly outside: number
}

export interface ThrownError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
}
