import { type Wire, webSocketWire } from '@episodic/mcp-client/channel'
import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { abortable, pause } from '@episodic/protocol/internal'
import { z } from 'zod'
import { EnvError } from '../env-error.ts'
import type { SystemTarget } from '../external/system-target.ts'
import type { CallOptions } from '../session/call-options.ts'
import { parseReply } from '../session/reply.ts'
import { asOurs, toEnvError } from '../transport/open-channel.ts'

const resultSchema = z.object({
  observation: jsonObjectSchema,
  // A reward may be a truth value. Without a reward, it is `null` or left out.
  reward: z.union([z.number(), z.boolean().transform(Number)]).nullish(),
  done: z.boolean().default(false),
  metadata: jsonObjectSchema.nullish(),
})
const frameSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('observation'), data: resultSchema }),
  z.object({
    type: z.literal('error'),
    data: z.looseObject({ message: z.string().default('It gave no reason.'), code: z.string() }),
  }),
])

export type OpenEnvResult = z.output<typeof resultSchema>

/** An answer of a server. Its codes are those of OpenEnv, such as `VALIDATION_ERROR`. */
export type OpenEnvFrame = z.output<typeof frameSchema>

export interface OpenEnvRequest {
  readonly type: 'reset' | 'step'
  readonly data: JsonObject
}

/** Milliseconds that a server has to end a session that was closed. */
const CLOSING = 5_000

/** One connection to `/ws`, which is one session of the server. It takes one request at a time. */
export class OpenEnvSocket {
  #wire: Wire | null = null
  readonly #closed = Promise.withResolvers<unknown>()
  /** Answers that no request has asked for, such as an error in place of a session. */
  readonly #early: string[] = []
  #onAnswer: ((text: string) => void) | null = null

  /** Rejects with `connection-failed`. */
  static async open({ url, token, headers }: SystemTarget): Promise<OpenEnvSocket> {
    const socket = new OpenEnvSocket()
    const address = `${url.replace(/^http/, 'ws')}/ws`
    const openWire = await webSocketWire({ url: address, token, headers, protocol: null })
    const listener = {
      onMessage: (text: string) => socket.#receive(text),
      onClose: ({ error }: { readonly error: Error }) => socket.#closed.resolve(toEnvError(error)),
    }
    socket.#wire = await asOurs(openWire(listener))
    return socket
  }

  /**
   * Sends a request. Rejects with `connection-failed` if the connection is lost, with the signal's reason after an
   * abort, and with `reply-malformed`. After any of them, no further request has a meaning.
   */
  async request(request: OpenEnvRequest, { signal }: CallOptions): Promise<OpenEnvFrame> {
    signal?.throwIfAborted()
    const early = this.#early.shift()
    if (early !== undefined) return parseFrame(early)
    const answer = Promise.withResolvers<string>()
    this.#onAnswer = answer.resolve
    this.#wire?.send([JSON.stringify(request)])
    const lost = this.#closed.promise.then((error) => Promise.reject(error))
    try {
      return parseFrame(await abortable(Promise.race([answer.promise, lost]), signal))
    } finally {
      this.#onAnswer = null
    }
  }

  /** Ends the session, and waits until the server has ended it too, so that it has room for another one. */
  async close(): Promise<void> {
    const waited = new AbortController()
    this.#wire?.send([JSON.stringify({ type: 'close' })])
    await Promise.race([this.#closed.promise, pause(CLOSING, waited.signal).catch(() => {})])
    waited.abort()
    this.#wire?.close()
  }

  #receive(text: string): void {
    if (this.#onAnswer) this.#onAnswer(text)
    else this.#early.push(text)
  }
}

function parseFrame(text: string): OpenEnvFrame {
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch (cause) {
    throw new EnvError('reply-malformed', 'The server sent a frame that is not JSON.', { cause })
  }
  return parseReply(frameSchema, frame, 'a request of OpenEnv')
}
