import type { JsonObject } from '@episodic/protocol'
import type { CallOptions } from '../environment/call-options.ts'

/** An id of a request, unique among those of one client that are not answered. */
export type RequestId = string | number

/** Where a client looks that calls off a request of its own. */
export interface PendingCalls {
  /** Takes note of a call that waits, until it is answered. */
  add(id: RequestId, call: AbortController): void
  delete(id: RequestId, call: AbortController): void
}

/** What an endpoint can do while a call waits. */
export interface PendingCallOptions {
  /** Aborted when the caller is gone. */
  readonly gone?: (() => AbortSignal) | undefined
  /** The calls of the same client; left out where it has no way to call one off. */
  readonly channel?: (() => PendingCalls) | undefined
  /** Says something on the way to the answer. */
  readonly say?: ((text: string) => void) | undefined
}

/**
 * One call as its client sees it wait. It can be called off only where it waits: what the rules have begun is answered, and
 * a call that never waits pays for nothing of this.
 */
export class PendingCall implements CallOptions {
  readonly #request: { readonly id: RequestId; readonly params: JsonObject }
  readonly #modern: boolean
  readonly #options: PendingCallOptions
  #call: AbortController | null = null
  #calls: PendingCalls | undefined
  #progress = 0

  /** In the modern era, a client that is gone has called off what it asked. */
  constructor(
    request: { readonly id: RequestId; readonly params: JsonObject },
    modern: boolean,
    options: PendingCallOptions,
  ) {
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

  get report(): CallOptions['report'] {
    const { progressToken } = (this.#request.params._meta ?? {}) as JsonObject
    const { say } = isToken(progressToken) ? this.#options : {}
    if (!say) return undefined
    return (message) => {
      // How long there is still to wait nobody knows, so there is no total.
      const params = { progressToken, progress: this.#progress++, message }
      say(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }))
    }
  }

  /** Whether it was called off. */
  get calledOff(): boolean {
    return this.#call?.signal.aborted ?? false
  }

  /** Is called once it is answered. */
  end(): void {
    if (this.#call) this.#calls?.delete(this.#request.id, this.#call)
  }
}

function isToken(token: unknown): token is RequestId {
  return typeof token === 'string' ? token.length <= MAX_TOKEN : Number.isSafeInteger(token)
}

/** Characters of a token: each time that progress is told, it is said again. */
const MAX_TOKEN = 256
