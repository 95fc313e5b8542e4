import type { MessagePipe } from './message-pipe.ts'

/** A lasting connection with its message pipe. */
export interface Connection {
  readonly pipe: MessagePipe
  /** Stops reading, answers what was read, and resolves when the connection is closed. */
  leave(): Promise<void>
  /** Closes the connection at once. */
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
    for (const { pipe } of this.#open) calls += pipe.count
    return calls
  }

  /**
   * Closes all connections in an orderly way. Resolves when they are closed or `signal` is aborted, with the number of
   * unanswered messages.
   */
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
