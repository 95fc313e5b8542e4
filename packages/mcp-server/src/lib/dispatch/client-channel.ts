import { WireError } from '@episodic/protocol'
import type { ToolsView } from '../host/host.ts'
import type { RequestId } from './message.ts'
import type { PendingCalls } from './pending-call.ts'

const SUBSCRIPTIONS = 64
/** Waiting calls of one client that can be cancelled; any further ones are always answered. */
const CALLS = 1_024

export interface ClientChannelOptions {
  /** Sends a message that is not an answer. The next one is sent when the promise has resolved. */
  readonly say: (text: string) => Promise<void>
  readonly onIdle?: () => void
}

export interface Subscription {
  /** One entry for each thing that changes, and the notification to send when it does. */
  readonly changes: readonly { readonly view: ToolsView; readonly text: string }[]
  /** Sent when the server ends the subscription; `null` to send nothing. */
  readonly farewell: string | null
}

/**
 * The state that a server keeps for one client between messages: waiting calls, which the client may cancel, and its
 * subscriptions.
 *
 * A slow reader is sent one notification for all changes of a state that happen before it has read the last one.
 */
export class ClientChannel implements PendingCalls {
  readonly #options: ClientChannelOptions
  readonly #calls = new Map<RequestId, AbortController>()
  readonly #subscriptions = new Map<unknown, { readonly subscription: Subscription; readonly stop: () => void }>()
  readonly #unsent = new Set<string>()
  #sending = false
  #ended = false

  constructor(options: ClientChannelOptions) {
    this.#options = options
  }

  get idle(): boolean {
    return this.#calls.size === 0 && this.#subscriptions.size === 0
  }

  add(id: RequestId, call: AbortController): void {
    // If a client uses an id twice, the id stays with the first call.
    if (this.#calls.size < CALLS && !this.#calls.has(id)) this.#calls.set(id, call)
  }

  delete(id: RequestId, call: AbortController): void {
    if (this.#calls.get(id) !== call) return
    this.#calls.delete(id)
    this.#reportIdle()
  }

  callOff(id: unknown): void {
    this.#calls.get(id as RequestId)?.abort()
    this.unlisten(id)
  }

  /**
   * Subscribes until `unlisten` is called with the same key or the channel ends. Replaces an earlier subscription of
   * the key. Throws `capacity` if the client would have too many.
   */
  listen(key: unknown, subscription: Subscription): void {
    // The client has disconnected meanwhile.
    if (this.#ended) return
    this.#drop(key)
    const { changes } = subscription
    const held = [...this.#subscriptions.values()].reduce((sum, other) => sum + other.subscription.changes.length, 0)
    if (held + changes.length > SUBSCRIPTIONS)
      throw new WireError(
        'capacity',
        `A client may be subscribed to ${SUBSCRIPTIONS} resources at once. End one first.`,
      )
    const stops: (() => void)[] = []
    const stop = () => {
      for (const each of stops) each()
      for (const { text } of changes) this.#unsent.delete(text)
    }
    try {
      for (const { view, text } of changes) stops.push(view.onChange(() => this.say(text)))
    } catch (error) {
      stop()
      this.#reportIdle()
      throw error
    }
    this.#subscriptions.set(key, { subscription, stop })
  }

  listens(key: unknown): boolean {
    return this.#subscriptions.has(key)
  }

  unlisten(key: unknown): void {
    this.#drop(key)
    this.#reportIdle()
  }

  /** Drops all subscriptions, and forgets the waiting calls without cancelling them: the client starts over. */
  forget(): void {
    for (const { stop } of this.#subscriptions.values()) stop()
    this.#subscriptions.clear()
    this.#calls.clear()
  }

  end(): void {
    this.#ended = true
    this.forget()
    this.#options.onIdle?.()
  }

  /** Ends the channel because the server shuts down, and sends the farewell of each subscription that has one. */
  async shutDown(): Promise<void> {
    const farewells = [...this.#subscriptions.values()].map(({ subscription }) => subscription.farewell)
    this.end()
    for (const farewell of farewells) if (farewell !== null) await this.#options.say(farewell)
  }

  #drop(key: unknown): void {
    this.#subscriptions.get(key)?.stop()
    this.#subscriptions.delete(key)
  }

  #reportIdle(): void {
    if (this.idle) this.#options.onIdle?.()
  }

  /** Sends a notification, once if it is still to be sent. */
  async say(text: string): Promise<void> {
    this.#unsent.add(text)
    if (this.#sending) return
    this.#sending = true
    for (const next of this.#unsent) {
      this.#unsent.delete(next)
      await this.#options.say(next)
    }
    this.#sending = false
  }
}
