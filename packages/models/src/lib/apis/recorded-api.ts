import { type Completion, jsonObjectSchema, type ModelRequest } from '@episodic/protocol'
import { z } from 'zod'
import { type Answer, parseAnswer } from '../answers/parse-answer.ts'
import { createStreamedAnswer } from '../answers/streamed-answer.ts'
import type { Prices } from '../model-options.ts'

export interface RecordedApi {
  readRequest(body: unknown): ReadRequest | null
  createStream(): AnswerBody
  parse(value: unknown, prices: Prices | null): Answer | null
}

export interface ReadRequest extends Pick<Completion, 'temperature'> {
  readonly asked: string
  readonly request: ModelRequest
}

export function temperatureOf({ temperature }: Readonly<Record<string, unknown>>): Pick<Completion, 'temperature'> {
  return typeof temperature === 'number' && temperature >= 0 ? { temperature } : {}
}

export interface AnswerBody {
  add(text: string): void
  /** Returns the answer, or `null` if its end is missing or the server reported an error in it. */
  whole(): unknown
  part(): unknown
}

const requestSchema = z.object({
  model: z.string().catch('unknown'),
  messages: z.array(jsonObjectSchema),
  tools: z.array(jsonObjectSchema).nullish().catch(null),
  temperature: z.unknown().optional(),
})

export const chatCompletions: RecordedApi = {
  readRequest(body) {
    const parsed = requestSchema.safeParse(body)
    if (!parsed.success) return null
    const { model, messages, tools } = parsed.data
    return { asked: model, request: { messages, tools: tools ?? [] }, ...temperatureOf(parsed.data) }
  },
  createStream() {
    const stream = createStreamedAnswer()
    return {
      add: (part) => stream.add(part),
      whole: () => (stream.isComplete && !stream.failure ? stream.value : null),
      part: () => (stream.hasBegun && !stream.failure ? stream.value : null),
    }
  },
  parse: parseAnswer,
}
