import { createParser } from 'eventsource-parser'
import { z } from 'zod'
import { weightFields, weightVersionOf } from './weight-version.ts'

/** Puts the answer of a model together from the events of a stream. */
export interface StreamedAnswer {
  /** Takes the next part of the stream, which may end anywhere. */
  add(text: string): void
  /** Whether the answer is complete: the server gave a reason for its end, or ended the stream. */
  readonly isComplete: boolean
  /** Whether some of the answer has come. */
  readonly hasBegun: boolean
  /** Whether the server reported an error within the stream. */
  readonly hasFailed: boolean
  /** The answer so far, in the shape of one that is not streamed. */
  readonly value: object
}

const text = z.string().nullish().catch(null)
const deltaSchema = z.object({
  content: text,
  reasoning: text,
  reasoning_content: text,
  tool_calls: z
    .array(
      z.object({
        index: z.int().min(0).nullish().catch(null),
        id: text,
        function: z.object({ name: text, arguments: text }).nullish().catch(null),
      }),
    )
    .nullish()
    .catch(null),
})
const ids = z.array(z.int()).nullish().catch(null)
const chunkSchema = z.object({
  error: z.unknown().optional(),
  id: text,
  model: text,
  usage: z.unknown().optional(),
  prompt_token_ids: ids,
  ...weightFields,
  choices: z
    .array(
      z.object({
        index: z.int().catch(0),
        delta: deltaSchema.nullish().catch(null),
        finish_reason: text,
        token_ids: ids,
        logprobs: z
          .object({ content: z.array(z.unknown()).nullish() })
          .nullish()
          .catch(null),
      }),
    )
    .nullish()
    .catch(null),
})
type Chunk = z.infer<typeof chunkSchema>

interface StreamedCall {
  readonly index: number | null
  id: string
  readonly function: { name: string; arguments: string }
}

/** Creates an empty answer. Of several choices the first is kept. */
export function createStreamedAnswer(): StreamedAnswer {
  const message = { content: '', reasoning: '', reasoning_content: '', tool_calls: [] as StreamedCall[] }
  const tokenIds: number[] = []
  const logProbabilities: unknown[] = []
  let head: Pick<Chunk, 'id' | 'model' | 'usage' | 'prompt_token_ids'> = {
    id: null,
    model: null,
    prompt_token_ids: null,
  }
  let weightVersion: string | null = null
  let finish: string | null = null
  let isDone = false
  let hasFailed = false

  const parser = createParser({
    onEvent({ data }) {
      if (data === '[DONE]') {
        isDone = true
        return
      }
      const chunk = chunkSchema.safeParse(jsonOf(data))
      if (chunk.success) take(chunk.data)
    },
  })

  function take(chunk: Chunk): void {
    if (chunk.error) hasFailed = true
    head = {
      id: head.id ?? chunk.id,
      model: head.model ?? chunk.model,
      usage: chunk.usage ?? head.usage,
      prompt_token_ids: head.prompt_token_ids ?? chunk.prompt_token_ids,
    }
    // The first part that names one: the weights may have changed before the next.
    weightVersion ??= weightVersionOf(chunk)
    const choice = chunk.choices?.find(({ index }) => index === 0)
    if (!choice) return
    const { delta } = choice
    message.content += delta?.content ?? ''
    message.reasoning += delta?.reasoning ?? ''
    message.reasoning_content += delta?.reasoning_content ?? ''
    for (const part of delta?.tool_calls ?? []) {
      const call = callOf(message.tool_calls, part.index ?? null, part.id ?? null)
      call.id ||= part.id ?? ''
      call.function.name += part.function?.name ?? ''
      call.function.arguments += part.function?.arguments ?? ''
    }
    tokenIds.push(...(choice.token_ids ?? []))
    logProbabilities.push(...(choice.logprobs?.content ?? []))
    finish = choice.finish_reason ?? finish
  }

  return {
    add: (part) => parser.feed(part),
    get isComplete() {
      return isDone || finish !== null
    },
    get hasBegun() {
      const { content, reasoning, reasoning_content, tool_calls } = message
      return content + reasoning + reasoning_content !== '' || tool_calls.length > 0
    },
    get hasFailed() {
      return hasFailed
    },
    get value() {
      const choice = {
        index: 0,
        message,
        finish_reason: finish,
        ...(tokenIds.length > 0 && { token_ids: tokenIds }),
        ...(logProbabilities.length > 0 && { logprobs: { content: logProbabilities } }),
      }
      return { ...head, ...(weightVersion && { metadata: { weight_version: weightVersion } }), choices: [choice] }
    },
  }
}

/** Returns the call that a part continues, by its index; servers that number no calls begin each with its id. */
function callOf(calls: StreamedCall[], index: number | null, id: string | null): StreamedCall {
  const known = index === null ? (id ? undefined : calls.at(-1)) : calls.find((call) => call.index === index)
  if (known) return known
  const begun = { index, id: '', function: { name: '', arguments: '' } }
  calls.push(begun)
  return begun
}

function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return null
  }
}
