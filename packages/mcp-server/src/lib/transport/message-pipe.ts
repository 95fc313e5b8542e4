import { WireError, type WireErrorCode } from '@episodic/protocol'
import { afterThisTurn, isObject } from '@episodic/protocol/extend'
import type { Dispatcher, Reply } from '../dispatch/dispatcher.ts'

/** What came in place of one message: its text, or why it has none. */
export type Heard = string | WireError

export interface MessagePipeOptions {
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
 * waits here is a little more than was read at once, so that a call that waits can be called off. The answers of one turn of the event loop are written together, because to
 * wake a client that waits costs more than the write does, and at most `inFlight` messages are answered before others
 * have a turn.
 */
export class MessagePipe {
  readonly #options: MessagePipeOptions
  /** Heard and not begun, from `#next` on. */
  #heard: Heard[] = []
  #next = 0
  /** Characters of what waits. */
  #waiting = 0
  /** Ids of requests that were called off, of which some may wait. */
  readonly #calledOff = new Set<unknown>()
  /** Begun, and not written. */
  #running = 0
  /** Of those, answered. */
  #answered = 0
  #answers: string[] = []
  /** They are about to be written. */
  #writing = false
  /** The other end is behind. */
  #behind = false
  #changed = Promise.withResolvers<void>()

  constructor(options: MessagePipeOptions) {
    this.#options = options
  }

  /** Messages that were heard and whose answers are not written. */
  get count(): number {
    return this.#running + this.#heard.length - this.#next
  }

  /** Whether there is room for what is read next. */
  get ready(): boolean {
    return !this.#behind && this.#waiting < READ_AHEAD
  }

  /** Answers a message as soon as there is room. One that calls off another is heard before those that wait. */
  hear(heard: Heard): void {
    const room = !this.#behind && this.#running < this.#options.inFlight && this.#next === this.#heard.length
    const calledOff = room ? undefined : readCalledOff(heard)
    if (calledOff !== undefined && this.#calledOff.size < CALLED_OFF) this.#calledOff.add(calledOff)
    if (room || calledOff !== undefined) {
      this.#begin(heard)
      return
    }
    this.#heard.push(heard)
    this.#waiting += sizeOf(heard)
  }

  /** Says something that is no answer, in its place among the answers. Resolves when it is written. */
  async say(text: string): Promise<void> {
    const batch = this.#answers
    batch.push(text)
    this.#writeSoon()
    while (this.#answers === batch || this.#behind) await this.#changed.promise
  }

  /** Answers nothing more of what waits: the other end is gone, or has to go. */
  forget(): void {
    this.#heard = []
    this.#next = 0
    this.#waiting = 0
    this.#calledOff.clear()
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
      this.#writeSoon()
    })
  }

  async #answer(heard: Heard): Promise<Reply> {
    const { dispatcher, answer } = this.#options
    try {
      if (typeof heard !== 'string') throw heard
      const message = await dispatcher.read(heard)
      return this.#wasCalledOff(message) ? { text: null, refusal: null } : await answer(message)
    } catch (error) {
      return dispatcher.refuse(error, WireError.is(error, 'invalid-request') ? readId(heard) : null)
    }
  }

  #wasCalledOff(message: unknown): boolean {
    return this.#calledOff.size > 0 && isObject(message) && this.#calledOff.delete(message.id)
  }

  #writeSoon(): void {
    if (this.#writing || this.#behind) return
    this.#writing = true
    afterThisTurn(this.#write)
  }

  readonly #write = async (): Promise<void> => {
    this.#writing = false
    const [answers, answered] = [this.#answers, this.#answered]
    this.#answers = []
    this.#answered = 0
    this.#running -= answered
    const waiting = answers.length > 0 ? this.#options.write(answers) : undefined
    if (waiting) {
      this.#behind = true
      await waiting
      this.#behind = false
      if (this.#answered > 0 || this.#answers.length > 0) this.#writeSoon()
    }
    while (this.#next < this.#heard.length && this.#running < this.#options.inFlight) {
      const heard = this.#heard[this.#next++] as Heard
      this.#waiting -= sizeOf(heard)
      this.#begin(heard)
      if (this.#next === this.#heard.length) this.#heard = []
      if (this.#heard.length === 0) this.#next = 0
    }
    if (this.count === 0) this.#calledOff.clear()
    this.#tell()
  }

  #tell(): void {
    const { resolve } = this.#changed
    this.#changed = Promise.withResolvers()
    resolve()
  }
}

/** Characters that may wait before no more is read: enough for what calls off a call that others wait behind. */
const READ_AHEAD = 65_536
/** Ids of requests that were called off and are remembered. */
const CALLED_OFF = 1_024

/** Characters that a message counts for: the shortest is kept as an object too. */
function sizeOf(heard: Heard): number {
  return typeof heard === 'string' ? heard.length + 64 : 64
}

/** The id of the request that a message calls off; `undefined` for any other message. */
function readCalledOff(heard: Heard): unknown {
  if (typeof heard !== 'string' || heard.length > 4_096 || !heard.includes('"notifications/cancelled"'))
    return undefined
  try {
    const { jsonrpc, id, method, params } = JSON.parse(heard)
    const callsOff = jsonrpc === '2.0' && id === undefined && method === 'notifications/cancelled'
    return callsOff ? params?.requestId : undefined
  } catch {
    return undefined
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
