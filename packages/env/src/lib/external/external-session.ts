import type { Action, EpisodeEnd, JsonObject, Observation, Refusal, Truncation } from '@episodic/protocol'
import type { CallOptions } from '../session/call-options.ts'

/** A session of an external server, which keeps the state of one episode. */
export interface ExternalSession {
  readonly params: JsonObject
  readonly observation: Observation
  /** Plays one turn, and sends no action twice. Not called again after it rejects, or answers with an end. */
  play(turn: ExternalTurn, options: CallOptions): Promise<ExternalStep>
  close(): Promise<void>
}

export interface ExternalTurn {
  readonly action: Action
  /** The limit that ends the episode with this step; `null` if none does. */
  readonly truncation: Truncation | null
  /** The time has run out, so nothing is sent. */
  readonly late: boolean
}

export interface ExternalStep {
  readonly observation: Observation
  readonly refused: Refusal | null
  /** No term for a step for which the server gives no reward. */
  readonly terms: Readonly<Record<string, number>>
  /** How the server ends the episode; `null` if it goes on. */
  readonly end: EpisodeEnd | null
  readonly success?: boolean
}

export function refusal(refused: Refusal, text: string): ExternalStep {
  return { observation: { text, structured: null }, refused, terms: {}, end: null }
}

export const LATE_STEP = refusal('time', 'The time of this episode has run out. The call was not made.')
