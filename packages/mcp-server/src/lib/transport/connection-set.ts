import type { MessagePipe } from './message-pipe.ts'

/** A connection that stays, with a conversation on it. */
export interface Connection {
  readonly conversation: MessagePipe
  /** Reads no more, answers what was read, and resolves when it has hung up. */
  leave(): Promise<void>
  /** Hangs up at once. */
  cut(): void
}

/** The connections of one endpoint. */
export class Connections {
  readonly #open = new Set<Connection>()

  add(connection: Connection): void {
    this.#open.add(connection)
  }

  delete(connection: Connection): void {
    this.#open.delete(connection)
  }

  /** Messages that are being answered. */
  get calls(): number {
    let calls = 0
    for (const { conversation } of this.#open) calls += conversation.count
    return calls
  }

  /** Lets all of them leave, or until `signal` is aborted, and says how many messages were not answered. */
  async drain(signal: AbortSignal | undefined): Promise<number> {
    const left = Promise.all([...this.#open].map((connection) => connection.leave()))
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>()
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', () => abort(), { once: true })
    await Promise.race([left, aborted])
    return this.calls
  }

  cut(): void {
    for (const connection of this.#open) connection.cut()
  }
}
