/** What an executor keeps between invocations. */
export interface KeepOptions {
  /** Whether messages are kept from one invocation to the next. `true` by default. The session is kept in any case. */
  readonly keepMessages?: boolean | undefined
  /** The most messages that are kept. Default 1,000; the oldest whole turns are dropped first. */
  readonly maximumMessages?: number | undefined
}

/** The messages of the invocations so far. */
export class KeptMessages<Message> {
  readonly #keep: boolean
  readonly #maximum: number
  readonly #startsTurn: (message: Message) => boolean
  #messages: readonly Message[] = []

  constructor(
    { keepMessages = true, maximumMessages = 1_000 }: KeepOptions,
    startsTurn: (message: Message) => boolean,
  ) {
    this.#keep = keepMessages
    this.#maximum = maximumMessages
    this.#startsTurn = startsTurn
  }

  get messages(): readonly Message[] {
    return this.#messages
  }

  replace(messages: readonly Message[]): void {
    if (!this.#keep) return
    const newest = messages.slice(-this.#maximum)
    const start = newest.length === messages.length ? 0 : newest.findIndex(this.#startsTurn)
    this.#messages = start === -1 ? [] : newest.slice(start)
  }
}
