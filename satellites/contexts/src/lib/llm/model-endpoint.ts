import { type Clock, systemClock } from '@episodic/state'
import type { OpenAI } from 'openai'
import { loadPackage } from '../model/load-package.ts'

/** How to reach a model. */
export interface ModelEndpoint {
  readonly model: string
  /** An endpoint with OpenAI's chat completions, for example `http://127.0.0.1:8000/v1`. Default: OpenAI's own. */
  readonly baseUrl?: string
  /** Default: the environment variable `OPENAI_API_KEY`. Endpoints without keys accept any value. */
  readonly apiKey?: string
  /** How long the model may take for its whole answer, in milliseconds. Default 4,000. */
  readonly milliseconds?: number
  /** Measures the time limit. Default: the machine's. */
  readonly clock?: Clock
}

export interface ModelRequest
  extends Pick<OpenAI.ChatCompletionCreateParamsNonStreaming, 'temperature' | 'response_format'> {
  readonly instructions: string
  /** What the model is asked about: plain JSON. */
  readonly situation: object
  readonly signal: AbortSignal
}

/** Asks a model once for its text. Rejects with the signal's reason, and if it fails, is late or has no text. */
export type AskModel = (request: ModelRequest) => Promise<string>

/** The longest answer that is read, in bytes. */
const MAX_BYTES = 256 * 1024

/** The latest history entries that a model receives. */
export const HISTORY_SENT = 8

/** Creates a client of a model, without retries. Throws without a key, and `package-missing` without `openai`. */
export function createModelEndpoint(options: ModelEndpoint): AskModel {
  const { model, baseUrl, apiKey, milliseconds = 4_000, clock = systemClock } = options
  const { OpenAI } = loadPackage<typeof import('openai')>('openai', 'A model', 'openai@7')
  const client = new OpenAI({
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
    ...(apiKey !== undefined && { apiKey }),
    maxRetries: 0,
    fetch: boundedFetch,
  })
  return async ({ instructions, situation, signal, ...asked }) => {
    const messages = [
      { role: 'system' as const, content: instructions },
      { role: 'user' as const, content: JSON.stringify(situation) },
    ]
    const limit = new AbortController()
    const stop = clock.after(milliseconds, () =>
      limit.abort(new Error(`The model ${model} had not answered after ${milliseconds} ms.`)),
    )
    try {
      const completion = await client.chat.completions.create(
        { model, messages, ...asked },
        { signal: AbortSignal.any([signal, limit.signal]) },
      )
      const text = completion.choices[0]?.message.content
      if (typeof text !== 'string') throw new Error('The model answered with no text.')
      return text
    } catch (error) {
      signal.throwIfAborted()
      throw limit.signal.aborted ? limit.signal.reason : error
    } finally {
      stop()
    }
  }
}

async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init)
  let bytes = 0
  const counted = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes > MAX_BYTES) controller.error(new Error(`The model's answer is longer than ${MAX_BYTES} bytes.`))
        else controller.enqueue(chunk)
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(counted ?? null, { status, statusText, headers })
}
