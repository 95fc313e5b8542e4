import { WireError } from '@episodic/protocol'
import type { StateView } from '../host/host.ts'
import type { PendingCalls, RequestId } from './pending-call.ts'

/** Resources that one client may be subscribed to at once. */
const SUBSCRIPTIONS = 64
/** Calls of one client that may be called off while they wait; those beyond are answered whatever comes. */
const CALLS = 1_024

export interface ClientChannelOptions {
  /** Says something that is no answer. Resolves once there is room for more: until then nothing further is said. */
  readonly say: (text: string) => Promise<void>
  /** Hears when it gets idle. */
  readonly onIdle?: () => void
}

/** What a client listens to by one request, and what it hears. */
export interface Subscription {
  /** Of each change that it hears of: the state that changes, and how it is told. */
  readonly changes: readonly { readonly view: StateView; readonly text: string }[]
  /** Said where the server ends it. `null` where nothing is. */
  readonly farewell: string | null
}

/**
 * What goes on between a server and one client besides single answers: calls that wait and may be called off, and what the
 * client is subscribed to.
 *
 * A client that is behind with reading is told of a change once, however often it happens meanwhile.
 */
export class ClientChannel implements PendingCalls {
  readonly #options: ClientChannelOptions
  readonly #calls = new Map<RequestId, AbortController>()
  readonly #listenings = new Map<unknown, { readonly listening: Subscription; readonly stop: () => void }>()
  /** What has changed and was not told yet. */
  readonly #news = new Set<string>()
  #telling = false
  #ended = false

  constructor(options: ClientChannelOptions) {
    this.#options = options
  }

  /** Whether nothing is left of it: no call that waits, and no subscription. */
  get idle(): boolean {
    return this.#calls.size === 0 && this.#listenings.size === 0
  }

  add(id: RequestId, call: AbortController): void {
    // An id that is in use already is a client's mistake, and the first call keeps it.
    if (this.#calls.size < CALLS && !this.#calls.has(id)) this.#calls.set(id, call)
  }

  delete(id: RequestId, call: AbortController): void {
    if (this.#calls.get(id) !== call) return
    this.#calls.delete(id)
    this.#tellIdle()
  }

  /** Calls off a call that waits, or ends what was listened to by the request of that id. */
  callOff(id: unknown): void {
    this.#calls.get(id as RequestId)?.abort()
    this.unlisten(id)
  }

  /**
   * Listens, until `unlisten` of the same key or the end. What is listened to by a key that is there already is replaced.
   * Throws `capacity` where it would be too much.
   */
  listen(key: unknown, listening: Subscription): void {
    // Who is gone by now hears of nothing.
    if (this.#ended) return
    this.#drop(key)
    const { changes } = listening
    const held = [...this.#listenings.values()].reduce((sum, other) => sum + other.listening.changes.length, 0)
    if (held + changes.length > SUBSCRIPTIONS)
      throw new WireError(
        'capacity',
        `A client may be subscribed to ${SUBSCRIPTIONS} resources at once. End one first.`,
      )
    const stops: (() => void)[] = []
    const stop = () => {
      for (const each of stops) each()
      for (const { text } of changes) this.#news.delete(text)
    }
    try {
      for (const { view, text } of changes) stops.push(view.onChange(() => this.#tell(text)))
    } catch (error) {
      stop()
      this.#tellIdle()
      throw error
    }
    this.#listenings.set(key, { listening, stop })
  }

  unlisten(key: unknown): void {
    this.#drop(key)
    this.#tellIdle()
  }

  /** Listens to nothing any more, and calls off nothing of what was asked before: the client starts over. */
  forget(): void {
    for (const { stop } of this.#listenings.values()) stop()
    this.#listenings.clear()
    this.#calls.clear()
  }

  /** Ends it for good: the client is gone. */
  end(): void {
    this.#ended = true
    this.forget()
    this.#options.onIdle?.()
  }

  /** Ends it because the server goes, and says so where the client is to hear of it. */
  async takeLeave(): Promise<void> {
    const farewells = [...this.#listenings.values()].map(({ listening }) => listening.farewell)
    this.end()
    for (const farewell of farewells) if (farewell !== null) await this.#options.say(farewell)
  }

  #drop(key: unknown): void {
    this.#listenings.get(key)?.stop()
    this.#listenings.delete(key)
  }

  #tellIdle(): void {
    if (this.idle) this.#options.onIdle?.()
  }

  async #tell(text: string): Promise<void> {
    this.#news.add(text)
    if (this.#telling) return
    this.#telling = true
    for (const next of this.#news) {
      this.#news.delete(next)
      await this.#options.say(next)
    }
    this.#telling = false
  }
}
