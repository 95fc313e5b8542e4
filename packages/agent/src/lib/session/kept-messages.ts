/** Whether an executor goes on where it was, and with how much of it. */
export interface KeepOptions {
  /** Whether messages are kept from one invocation to the next. `true` by default. The session is kept in any case. */
  readonly keepMessages?: boolean | undefined
  /** Messages that are kept at most. 1 000 by default; the oldest go first, by whole turns. */
  readonly maximumMessages?: number | undefined
}

/** The messages of the invocations so far. */
export class KeptMessages<Message> {
  readonly #keep: boolean
  readonly #maximum: number
  readonly #startsTurn: (message: Message) => boolean
  #messages: readonly Message[] = []

  /** `startsTurn` says of a message whether a conversation can begin with it. */
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

  /** Takes the conversation as it is after an invocation. */
  replace(messages: readonly Message[]): void {
    if (!this.#keep) return
    const newest = messages.slice(-this.#maximum)
    const start = newest.length === messages.length ? 0 : newest.findIndex(this.#startsTurn)
    this.#messages = start === -1 ? [] : newest.slice(start)
  }
}
