import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { pause } from '@episodic/protocol/internal'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { z } from 'zod'
import { EnvError } from '../env-error.ts'
import { fetchFrom, refusedWith, type SystemTarget } from '../external/system-target.ts'
import type { CallOptions } from '../session/call-options.ts'

const blocksSchema = z.array(z.object({ type: z.string(), text: z.string().optional() }))
/** A type that is not one of the standard's counts as a test, since nothing is to be learned from it. */
const splitSchema = z.object({ name: z.string(), type: z.enum(['train', 'validation', 'test']).catch('test') })
const toolSchema = z.object({
  name: z.string(),
  description: z.string().nullish(),
  input_schema: jsonObjectSchema.nullish(),
})
const toolsSchema = z.object({ tools: z.array(toolSchema) })
const callSchema = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    output: z.object({
      blocks: blocksSchema,
      metadata: jsonObjectSchema.nullish(),
      reward: z.number().nullish(),
      finished: z.boolean().default(false),
    }),
  }),
  z.object({ ok: z.literal(false), error: z.string(), reason: z.string().nullish() }),
])

export type OrsAnswer = z.infer<typeof callSchema>

/** Milliseconds before each further attempt to resume a call. */
const RESUME_AFTER = [100, 500, 1_000, 2_000, 4_000]

interface SessionCall {
  readonly environment: string
  readonly session: string
}

/**
 * The requests of one client. They reject with `connection-failed`, and with `reply-malformed` for an unexpected
 * answer.
 */
export class OrsClient {
  readonly #target: SystemTarget

  constructor(target: SystemTarget) {
    this.#target = target
  }

  environments(options: CallOptions): Promise<string[]> {
    return this.#read('GET', '/list_environments', z.array(z.string()), options)
  }

  splits(environment: string, options: CallOptions) {
    return this.#read('GET', pathOf(environment, 'splits'), z.array(splitSchema), options)
  }

  async countTasks(environment: string, split: string, options: CallOptions): Promise<number> {
    const schema = z.object({ num_tasks: z.int().min(0) })
    const body = { split }
    return (await this.#read('POST', pathOf(environment, 'num_tasks'), schema, { ...options, body })).num_tasks
  }

  async tools(environment: string, options: CallOptions) {
    return (await this.#read('GET', pathOf(environment, 'tools'), toolsSchema, options)).tools
  }

  async open(creation: JsonObject, options: CallOptions): Promise<string> {
    const events = await this.#events('/create_session', {}, null, options)
    const session = events.find(({ event }) => event === 'task_id')?.data
    if (!session) throw malformed('/create_session')
    await this.#read('POST', '/create', z.unknown(), { ...options, session, body: creation })
    return session
  }

  async prompt({ environment, session }: SessionCall, options: CallOptions): Promise<string> {
    return joinTexts(await this.#read('GET', pathOf(environment, 'prompt'), blocksSchema, { ...options, session }))
  }

  async ping(session: string): Promise<void> {
    await this.#read('POST', '/ping', z.unknown(), { session, body: {} })
  }

  async delete(session: string): Promise<void> {
    for (const path of ['/delete', '/delete_session'])
      await this.#read('POST', path, z.unknown(), { session, body: {} })
  }

  /**
   * Calls a tool. A stream that is cut is resumed by the id of its first event. Rejects with `outcome-unknown` if it is
   * cut before that, or cannot be resumed, and with `rules-failed` if the server says that the call failed.
   */
  async call({ environment, session }: SessionCall, input: JsonObject, options: CallOptions): Promise<OrsAnswer> {
    const path = pathOf(environment, 'call')
    let taskId: string | null = null
    for (const wait of [0, ...RESUME_AFTER]) {
      if (wait > 0) await pause(wait, options.signal)
      const body: JsonObject = taskId === null ? input : { ...input, task_id: taskId }
      let events: readonly OrsEvent[]
      try {
        events = await this.#events(path, body, session, options)
      } catch (error) {
        options.signal?.throwIfAborted()
        if (!EnvError.is(error, 'connection-failed') || error.details?.retryable === false) throw error
        if (taskId === null) break
        continue
      }
      const failure = events.find(({ event }) => event === 'error')
      if (failure) throw new EnvError('rules-failed', `The server failed to call a tool: ${failure.data}`)
      if (events.at(-1)?.event === 'end') return parse(callSchema, jsonIn(events, path), path)
      taskId ??= events.find(({ event }) => event === 'task_id')?.data ?? null
      if (taskId === null) break
    }
    throw new EnvError('outcome-unknown', 'The answer of a call was lost, and whether it took effect is not known.')
  }

  async #read<T>(
    method: 'GET' | 'POST',
    path: string,
    schema: z.ZodType<T>,
    asked: CallOptions & { readonly session?: string; readonly body?: JsonObject },
  ): Promise<T> {
    const response = await this.#request(method, path, asked)
    const text = await response.text()
    try {
      return parse(schema, JSON.parse(text), path)
    } catch (cause) {
      throw EnvError.is(cause) ? cause : malformed(path, cause)
    }
  }

  /** Returns the events of a stream up to its end, or up to where it was cut. */
  async #events(path: string, body: JsonObject, session: string | null, options: CallOptions): Promise<OrsEvent[]> {
    const response = await this.#request('POST', path, { ...options, body, ...(session !== null && { session }) })
    const events: OrsEvent[] = []
    try {
      for await (const event of readEvents(response)) {
        events.push(event)
        if (event.event === 'end' || event.event === 'error') break
      }
    } catch {
      options.signal?.throwIfAborted()
    }
    return events
  }

  async #request(
    method: string,
    path: string,
    { signal, session, body }: CallOptions & { readonly session?: string; readonly body?: JsonObject },
  ): Promise<Response> {
    const { url, token, headers } = this.#target
    const init = {
      method,
      headers: {
        ...headers,
        ...(body && { 'Content-Type': 'application/json' }),
        ...(token !== null && { 'X-API-Key': token }),
        ...(session !== undefined && { 'X-Session-ID': session }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }
    const response = await fetchFrom(this.#target, path, init, signal)
    if (response.ok) return response
    throw refusedWith(response.status, `${url}${path}`, `: ${(await response.text()).slice(0, 500)}`)
  }
}

export function joinTexts(blocks: z.infer<typeof blocksSchema>): string {
  return blocks.map(({ type, text }) => text ?? `[${type}]`).join('\n')
}

function pathOf(environment: string, name: string): string {
  return `/${encodeURIComponent(environment)}/${name}`
}

function jsonIn(events: readonly OrsEvent[], path: string): unknown {
  const parts = events.filter(({ event }) => event === 'chunk' || event === 'end').map(({ data }) => data)
  try {
    return JSON.parse(parts.join(''))
  } catch (cause) {
    throw malformed(path, cause)
  }
}

function parse<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw malformed(path, parsed.error)
}

function malformed(path: string, cause?: unknown): EnvError {
  return new EnvError('reply-malformed', `The answer to ${path} is not one of the Open Reward Standard.`, { cause })
}

interface OrsEvent {
  readonly event: string
  readonly data: string
}

/** Yields the events of a response as they come. Rejects if the stream is cut. */
async function* readEvents({ body }: Response): AsyncGenerator<OrsEvent, void, undefined> {
  const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const { event, data } of events ?? []) if (event !== undefined) yield { event, data }
}
