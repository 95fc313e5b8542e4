import type { JsonObject } from '../base/json.ts'
import type { Completion, PoolRanges, RecordedCall } from './completion.ts'
import type { EpisodeRecord, RecordedStep } from './episode-record.ts'
import type { MessageReference } from './transcript-schema.ts'

/** What a language model was sent for one answer: messages and tools in the shape of its API. */
export interface ModelRequest {
  readonly messages: readonly JsonObject[]
  readonly tools: readonly JsonObject[]
}

type AnsweredStep = Pick<RecordedStep, 'observation' | 'speech' | 'completions'>

type AnsweredEpisode = Pick<EpisodeRecord, 'undecided' | 'transcript'> & { readonly steps: readonly AnsweredStep[] }

/**
 * Returns what a language model was sent for each completion of an episode, of its steps and then of `undecided`;
 * `null` where that was not recorded. Messages and tools are exactly those of the request, except what was redacted or
 * cut. A message that several requests have is the same object in all of them.
 */
export function requestsOf({ steps, undecided = [], transcript }: AnsweredEpisode): (ModelRequest | null)[] {
  const completions = [...steps.flatMap(({ completions = [] }) => completions), ...undecided]
  const calls = playedCalls(steps)
  const messageOf = (message: JsonObject | MessageReference): JsonObject => {
    if (!isReference(message)) return message
    const { from, index } = message
    const completion = completions[index]
    const step = steps[index]
    const found =
      from === 'completion' ? completion && answerMessage(completion) : step && resultMessage(step, calls[index])
    return found ?? (message as unknown as JsonObject)
  }
  const pool = transcript?.messages.map(messageOf) ?? []
  return completions.map(({ prompt }) => {
    if (!prompt || !transcript) return null
    return { messages: within(pool, prompt.messages), tools: within(transcript.tools, prompt.tools) }
  })
}

function within<T>(pool: readonly T[], ranges: PoolRanges): T[] {
  return ranges.flatMap(([from, to]) => pool.slice(from, to))
}

function isReference(message: JsonObject | MessageReference): message is MessageReference {
  return 'from' in message && !('role' in message)
}

/** A call that was played as a step, and the answer that it is of. */
interface PlayedCall {
  readonly call: RecordedCall
  readonly answer: Completion
}

/**
 * Returns for each step the call of a language model that it played; `null` for none. One answer may have several
 * calls, each of which is a step: the answer is recorded with the first of them.
 */
export function playedCalls(
  steps: readonly (Pick<AnsweredStep, 'completions'> & { readonly seat?: string })[],
): (PlayedCall | null)[] {
  const left = new Map<string | undefined, readonly PlayedCall[]>()
  return steps.map(({ completions = [], seat }) => {
    const answer = completions.at(-1)
    const made = answer?.calls?.flatMap((call) => (call.played ? [{ call, answer }] : []))
    const [next = null, ...rest] = answer ? (made ?? []) : (left.get(seat) ?? [])
    left.set(seat, rest)
    return next
  })
}

/** Returns an answer as the message in which it is sent back to the model: with the calls that were played, if any. */
export function answerMessage({ text, calls = [] }: Completion): JsonObject {
  const played = calls.filter((call) => call.played)
  if (played.length === 0) return { role: 'assistant', content: text ?? '' }
  return {
    role: 'assistant',
    content: text,
    tool_calls: played.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    })),
  }
}

/** Returns what the environment answered to a step as the message to the model; `null` if it played nothing of it. */
export function resultMessage(
  { observation: { text: content }, speech }: AnsweredStep,
  played: PlayedCall | null = null,
): JsonObject | null {
  if (played) return { role: 'tool', tool_call_id: played.call.id, content }
  return speech ? { role: 'user', content } : null
}
