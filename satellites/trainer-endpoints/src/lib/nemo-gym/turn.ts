import type { EpisodeEnd } from '@episodic/protocol'
import type { FunctionCall } from './function-calls.ts'
import type { Terms } from './tally.ts'

export interface Turn {
  /** Names the request, which is repeated with the same one; `null` from a client that does not. */
  readonly id: string | null
  readonly calls: readonly FunctionCall[]
  readonly sent: number
}

export interface TurnAnswer {
  /** `null` if the outputs of the tools say it all. */
  readonly observation: string | null
  readonly reward: number
  readonly terminated: boolean
  readonly truncated: boolean
  readonly info: {
    readonly tool_outputs: readonly { readonly call_id: string; readonly output: string }[]
    readonly terms: Terms
    readonly end: EpisodeEnd | null
    readonly success?: boolean | undefined
  }
}

/** A turn that has begun: it is played from the same step on when it is repeated. */
export interface BegunTurn {
  readonly id: string
  readonly calls: string
  readonly first: number
  /** `null` if it was not answered, because a step failed. */
  answer: TurnAnswer | null
}
