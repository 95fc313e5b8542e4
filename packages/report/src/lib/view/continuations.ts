import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'

/** What is changed where an episode is continued, as the configuration of a run keeps it. */
interface Changes {
  readonly call?: { readonly tool: string; readonly arguments: JsonObject; readonly seat?: string }
  readonly answer?: string
  readonly prompt?: string
  readonly describe?: { readonly [tool: string]: string }
  readonly seed?: string
}

export interface AskedContinuation {
  readonly row: number
  readonly step: number
  readonly changes: Changes
  /** Who plays in place of the player of the run, or of a seat. */
  readonly policy?: string
  readonly seat?: string
  readonly systemPrompt?: string
  readonly rollouts: number
  /** Searches for the step at which it was lost, with so many continuations at most; left out to continue from one. */
  readonly budget?: number
  /** In the currency of the prices; left out for no limit. */
  readonly costLimit?: number
  /** What it costs was shown, and is agreed to. */
  readonly confirmed: boolean
}

export interface Offer {
  readonly tools: readonly { readonly name: string; readonly description: string; readonly inputSchema: JsonObject }[]
  /** Who may play, those of the run first. */
  readonly players: readonly string[]
  /** What language models are sent before the task; `null` for the usual words. */
  readonly systemPrompt: string | null
  /** What the dearest episode of the run has cost; `null` if it is not known of any. */
  readonly cost: number | null
}

export interface Continuation {
  readonly name: string
  readonly seal: string
  readonly step: number
  readonly changed: string
  /** The ids of the runs that are there; without a change there is no control. */
  readonly runs: { readonly changed?: string; readonly control?: string }
  readonly isPlaying: boolean
  readonly problem: string | null
  readonly loss: LossCurve | null
}

/** The value of steps of an episode: the share of success, or of what can be earned, of continuations. */
export const lossCurveSchema = z.object({
  /** The step at which most was lost, from 1; `null` if that is not known. */
  step: z.int().nullable(),
  said: z.string(),
  /** By how many steps come before. */
  values: z.array(z.object({ step: z.int(), count: z.int(), rate: z.number(), low: z.number(), high: z.number() })),
})
export type LossCurve = z.infer<typeof lossCurveSchema>

export interface ContinuationAnswers {
  readonly offer: [asked: object, answered: Offer]
  /** Without an agreement to what it costs, that is answered, and nothing is played. */
  readonly start: [asked: AskedContinuation, answered: { readonly name: string } | { readonly cost: string }]
  readonly save: [asked: AskedContinuation & { readonly file: string }, answered: { readonly files: readonly string[] }]
  readonly list: [asked: object, answered: readonly Continuation[]]
  readonly stop: [asked: { readonly name: string }, answered: object]
}

export type AskToPlay = <A extends keyof ContinuationAnswers>(
  action: A,
  run: string,
  asked: ContinuationAnswers[A][0],
) => Promise<ContinuationAnswers[A][1]>
