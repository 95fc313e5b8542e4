export interface KeepOptions {
  /** Whether messages are kept from one invocation to the next. `true` by default. The session is kept in any case. */
  readonly keepMessages?: boolean | undefined
  /** The most messages that are kept. Default 1,000; the oldest whole turns are dropped first. */
  readonly maximumMessages?: number | undefined
}

export type KeptMessages<Message> = ReturnType<typeof createKeptMessages<Message>>

export function createKeptMessages<Message>(
  { keepMessages = true, maximumMessages = 1_000 }: KeepOptions,
  startsTurn: (message: Message) => boolean,
) {
  let kept: readonly Message[] = []
  return {
    get messages(): readonly Message[] {
      return kept
    },
    replace(messages: readonly Message[]): void {
      if (!keepMessages) return
      const newest = messages.slice(-maximumMessages)
      const start = newest.length === messages.length ? 0 : newest.findIndex(startsTurn)
      kept = start === -1 ? [] : newest.slice(start)
    },
  }
}
