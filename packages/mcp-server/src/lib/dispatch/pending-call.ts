import type { JsonObject } from '@episodic/protocol'
import type { CallOptions } from '../environment/rules/call-options.ts'
import type { RequestId } from './message.ts'

export interface PendingCalls {
  add(id: RequestId, call: AbortController): void
  delete(id: RequestId, call: AbortController): void
}

export interface PendingCallOptions {
  /** Aborted when the caller disconnects. Used if that cancels a request, as in the stateless version over HTTP. */
  readonly gone?: (() => AbortSignal) | undefined
  /** Omitted if the client has no way to cancel a call. */
  readonly channel?: (() => PendingCalls) | undefined
  /** Aborted when a waiting request should stop: a client gone, or a shutdown. May be a getter. */
  readonly signal?: AbortSignal | undefined
  /** Sends a message before the answer. Without it, only the answer is sent. */
  readonly say?: ((text: string) => void) | undefined
}

interface PendingRequest {
  readonly id: RequestId
  readonly meta: JsonObject | null
}

/**
 * Cancellation and progress of one call. A call can be cancelled only while it waits: once the rules have started, it
 * is answered. The getters do their work on first use, so a call that never waits costs nothing.
 */
export class PendingCall implements CallOptions {
  readonly #request: PendingRequest
  readonly #modern: boolean
  readonly #options: PendingCallOptions
  #call: AbortController | null = null
  #calls: PendingCalls | undefined
  #progress = 0

  /** In the stateless version (`modern`), a client that disconnects cancels its calls. */
  constructor(request: PendingRequest, modern: boolean, options: PendingCallOptions) {
    this.#request = request
    this.#modern = modern
    this.#options = options
  }

  get signal(): AbortSignal {
    if (!this.#call) {
      const { channel, gone } = this.#options
      const call = new AbortController()
      this.#call = call
      this.#calls = channel?.()
      this.#calls?.add(this.#request.id, call)
      const left = this.#modern ? gone?.() : undefined
      if (left?.aborted) call.abort(left.reason)
      else left?.addEventListener('abort', () => call.abort(left.reason), { once: true })
    }
    return this.#call.signal
  }

  get stopping(): AbortSignal | undefined {
    return this.#options.signal
  }

  get report(): CallOptions['report'] {
    const { progressToken } = this.#request.meta ?? {}
    const { say } = isToken(progressToken) ? this.#options : {}
    if (!say) return undefined
    return (message) => {
      // There is no total, because the remaining time is unknown.
      const params = { progressToken, progress: this.#progress++, message }
      say(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }))
    }
  }

  get calledOff(): boolean {
    return this.#call?.signal.aborted ?? false
  }

  end(): void {
    if (this.#call) this.#calls?.delete(this.#request.id, this.#call)
  }
}

function isToken(token: unknown): token is RequestId {
  return typeof token === 'string' ? token.length <= MAX_TOKEN : Number.isSafeInteger(token)
}

/** Characters of a progress token, which is repeated in each progress notification. */
const MAX_TOKEN = 256
