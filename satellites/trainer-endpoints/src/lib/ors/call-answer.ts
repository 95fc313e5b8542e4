import type { EpisodeEnd, JsonObject, LoggedStep, Refusal } from '@episodic/protocol'
import { withAttachmentNotes } from '@episodic/protocol/internal'
import { type TextBlock, textBlock } from './blocks.ts'

export type CallAnswer =
  | { readonly ok: true; readonly output: ToolOutput }
  | { readonly ok: false; readonly error: string; readonly reason: 'not_found' | 'episode_finished' }

export interface ToolOutput {
  readonly blocks: readonly TextBlock[]
  readonly metadata: StepMetadata
  /** `null` for a step whose reward comes later. */
  readonly reward: number | null
  readonly finished: boolean
}

/** What the protocol has no field for. */
export interface StepMetadata {
  readonly structured: JsonObject | null
  /** Raw reward of each named term, for this step alone. */
  readonly terms: Readonly<Record<string, number>>
  readonly return: number
  readonly seq: number
  readonly end: EpisodeEnd | null
  readonly refused: Refusal | null
  /** Whether the episode succeeded: with `end`, if the environment defines success. */
  readonly success?: boolean | undefined
}

/** `total` is the sum of the raw terms up to it. */
export function answerOf(
  { observation, report }: LoggedStep,
  { reward, total }: { readonly reward: number | null; readonly total: number },
): CallAnswer {
  const { text, structured, attachments } = observation
  const { terms, seq, end, refused, success } = report
  const blocks = [textBlock(withAttachmentNotes(text, attachments))]
  const judged = { end, refused, ...(success !== undefined && { success }) }
  const metadata = { structured, terms, return: total, seq, ...judged }
  return { ok: true, output: { blocks, metadata, reward, finished: end !== null } }
}

export function unknownTool(name: string, known: readonly string[]): CallAnswer {
  return { ok: false, error: `There is no tool "${name}". There is: ${known.join(', ')}.`, reason: 'not_found' }
}

export function episodeFinished(): CallAnswer {
  return { ok: false, error: 'The episode has ended. Open another session to play again.', reason: 'episode_finished' }
}
