import { WireError, type WireErrorCode } from '@episodic/protocol'
import type { Dispatcher, Reply } from './dispatcher.ts'
import { afterThisTurn } from './event-loop.ts'

/** What came in place of one message: its text, or why it has none. */
export type Heard = string | WireError

export interface ConversationOptions {
  readonly dispatcher: Dispatcher
  /** Answers one message. What it rejects with is answered as a refusal. */
  readonly answer: (message: unknown) => Promise<Reply>
  /** Hears of every answer that is a refusal. */
  readonly onRefused?: (code: WireErrorCode) => void
  /** Messages that are answered at the same time. With 1 they are answered in turn. */
  readonly inFlight: number
  /** Writes the answers of one turn. Where the other end is behind with reading, resolves when it is not any more. */
  readonly write: (answers: readonly string[]) => Promise<void> | void
}

/**
 * Many messages over one connection, each answered when it is ready.
 *
 * Messages beyond those in flight wait, and whoever feeds a conversation reads no further while it is not `ready`: what
 * waits here is at most what was read at once. The answers of one turn of the event loop are written together, because to
 * wake a client that waits costs more than the write does, and at most `inFlight` messages are answered before others
 * have a turn.
 */
export class Conversation {
  /** Messages that are answered at the same time, from the next one on. */
  inFlight: number
  readonly #options: ConversationOptions
  /** Heard and not begun, from `#next` on. */
  #heard: Heard[] = []
  #next = 0
  /** Begun, and not written. */
  #running = 0
  /** Of those, answered. */
  #answered = 0
  #answers: string[] = []
  /** The other end is behind. */
  #behind = false
  #changed = Promise.withResolvers<void>()

  constructor(options: ConversationOptions) {
    this.#options = options
    this.inFlight = options.inFlight
  }

  /** Messages that were heard and whose answers are not written. */
  get count(): number {
    return this.#running + this.#heard.length - this.#next
  }

  /** Whether there is room for what is read next. */
  get ready(): boolean {
    return !this.#behind && this.#running < this.inFlight && this.#next === this.#heard.length
  }

  /** Answers a message as soon as there is room. */
  hear(heard: Heard): void {
    if (this.ready) this.#begin(heard)
    else this.#heard.push(heard)
  }

  /** Answers nothing more of what waits: the other end is gone, or has to go. */
  forget(): void {
    this.#heard = []
    this.#next = 0
    this.#tell()
  }

  /** Resolves when it is `ready`. */
  async caughtUp(): Promise<void> {
    while (!this.ready) await this.#changed.promise
  }

  /** Resolves when the answers of all that was heard are written. */
  async finished(): Promise<void> {
    while (this.count > 0) await this.#changed.promise
  }

  #begin(heard: Heard): void {
    this.#running += 1
    this.#answer(heard).then(({ text, refusal }) => {
      if (refusal !== null) this.#options.onRefused?.(refusal)
      if (text !== null) this.#answers.push(text)
      this.#answered += 1
      if (this.#answered === 1 && !this.#behind) afterThisTurn(this.#write)
    })
  }

  async #answer(heard: Heard): Promise<Reply> {
    const { dispatcher, answer } = this.#options
    try {
      if (typeof heard !== 'string') throw heard
      return await answer(await dispatcher.read(heard))
    } catch (error) {
      return dispatcher.refuse(error, WireError.is(error, 'invalid-request') ? readId(heard) : null)
    }
  }

  readonly #write = async (): Promise<void> => {
    const [answers, answered] = [this.#answers, this.#answered]
    this.#answers = []
    this.#answered = 0
    this.#running -= answered
    const waiting = answers.length > 0 ? this.#options.write(answers) : undefined
    if (waiting) {
      this.#behind = true
      await waiting
      this.#behind = false
      if (this.#answered > 0) afterThisTurn(this.#write)
    }
    while (this.#next < this.#heard.length && this.#running < this.inFlight) {
      const heard = this.#heard[this.#next++] as Heard
      if (this.#next === this.#heard.length) this.forget()
      this.#begin(heard)
    }
    this.#tell()
  }

  #tell(): void {
    const { resolve } = this.#changed
    this.#changed = Promise.withResolvers()
    resolve()
  }
}

/**
 * The id of a message that was not even parsed, where it begins as our clients' do: among many in flight they could not
 * tell otherwise which one was refused.
 */
function readId(heard: Heard): number | null {
  const id = typeof heard === 'string' ? /^\{"jsonrpc":"2\.0","id":(\d{1,15}),/.exec(heard)?.[1] : undefined
  return id === undefined ? null : Number(id)
}
