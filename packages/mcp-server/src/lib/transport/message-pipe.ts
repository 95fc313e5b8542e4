import { WireError, type WireErrorCode } from '@episodic/protocol'
import { afterThisTurn } from '@episodic/protocol/internal'
import type { Dispatcher, Reply } from '../dispatch/dispatcher.ts'
import type { Message } from '../dispatch/message.ts'

export type ReceivedMessage = string | WireError

export interface MessagePipeOptions {
  readonly dispatcher: Dispatcher
  /** Answers one message. A rejection is answered as an error. */
  readonly answer: (message: Message) => Promise<Reply>
  /** Is called for every answer that is an error. */
  readonly onRefused?: (code: WireErrorCode) => void
  /** Messages that are answered at the same time. With 1 they are answered in turn. */
  readonly inFlight: number
  /** Writes the answers of one turn. If the peer reads too slowly, resolves when there is room again. */
  readonly write: (answers: readonly string[]) => Promise<void> | void
}

/**
 * Many messages over one connection, each answered when it is ready.
 *
 * Messages beyond those in flight wait in a queue, and the caller of `receive` reads no further while the pipe is not
 * `ready`. The queue holds a little more than one read, so that a waiting call can be cancelled. The answers of one
 * turn of the event loop are written together, because waking a waiting client costs more than the write; at most
 * `inFlight` messages are answered before other connections have a turn.
 */
export class MessagePipe {
  readonly #options: MessagePipeOptions
  /** Received and not started, from `#next` on. */
  #queue: ReceivedMessage[] = []
  #next = 0
  /** Characters of the waiting messages. */
  #waiting = 0
  /** Ids of cancelled requests, some of which may wait. */
  readonly #calledOff = new Set<unknown>()
  #running = 0
  #answered = 0
  #answers: string[] = []
  #writing = false
  #behind = false
  #changed = Promise.withResolvers<void>()

  constructor(options: MessagePipeOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#running + this.#queue.length - this.#next
  }

  get ready(): boolean {
    return !this.#behind && this.#waiting < READ_AHEAD
  }

  /** Answers a message as soon as there is room. A cancellation is handled before the messages that wait. */
  receive(received: ReceivedMessage): void {
    const room = !this.#behind && this.#running < this.#options.inFlight && this.#next === this.#queue.length
    const calledOff = room ? undefined : readCalledOff(received)
    if (calledOff !== undefined && this.#calledOff.size < CALLED_OFF) this.#calledOff.add(calledOff)
    if (room || calledOff !== undefined) {
      this.#begin(received)
      return
    }
    this.#queue.push(received)
    this.#waiting += sizeOf(received)
  }

  /** Sends a message that is not an answer, in its place among the answers. Resolves when it is written. */
  async say(text: string): Promise<void> {
    const batch = this.#answers
    batch.push(text)
    this.#writeSoon()
    while (this.#answers === batch || this.#behind) await this.#changed.promise
  }

  forget(): void {
    this.#queue = []
    this.#next = 0
    this.#waiting = 0
    this.#calledOff.clear()
    this.#tell()
  }

  async caughtUp(): Promise<void> {
    while (!this.ready) await this.#changed.promise
  }

  async finished(): Promise<void> {
    while (this.count > 0) await this.#changed.promise
  }

  #begin(received: ReceivedMessage): void {
    this.#running += 1
    this.#answer(received).then(({ text, refusal }) => {
      if (refusal !== null) this.#options.onRefused?.(refusal)
      if (text !== null) this.#answers.push(text)
      this.#answered += 1
      this.#writeSoon()
    })
  }

  async #answer(received: ReceivedMessage): Promise<Reply> {
    const { dispatcher, answer } = this.#options
    try {
      if (typeof received !== 'string') throw received
      const message = await dispatcher.read(received)
      return this.#wasCalledOff(message) ? { text: null, refusal: null } : await answer(message)
    } catch (error) {
      return dispatcher.refuse(error, WireError.is(error, 'invalid-request') ? readId(received) : null)
    }
  }

  #wasCalledOff({ id }: Message): boolean {
    return this.#calledOff.size > 0 && this.#calledOff.delete(id)
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
    while (this.#next < this.#queue.length && this.#running < this.#options.inFlight) {
      const received = this.#queue[this.#next++] as ReceivedMessage
      this.#waiting -= sizeOf(received)
      this.#begin(received)
      if (this.#next === this.#queue.length) this.#queue = []
      if (this.#queue.length === 0) this.#next = 0
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

/** Waiting characters at which reading stops: enough to read the cancellation of a call that blocks others. */
const READ_AHEAD = 65_536
/** Most ids of cancelled requests that are remembered. */
const CALLED_OFF = 1_024

function sizeOf(received: ReceivedMessage): number {
  return typeof received === 'string' ? received.length + 64 : 64
}

/** Returns the id of the request that a message cancels; `undefined` for any other message. */
function readCalledOff(received: ReceivedMessage): unknown {
  if (typeof received !== 'string' || received.length > 4_096 || !received.includes('"notifications/cancelled"'))
    return undefined
  try {
    const { jsonrpc, id, method, params } = JSON.parse(received)
    const callsOff = jsonrpc === '2.0' && id === undefined && method === 'notifications/cancelled'
    return callsOff ? params?.requestId : undefined
  } catch {
    return undefined
  }
}

/** Returns the id of an unparsed message that begins like those of our clients, which need it if many wait. */
function readId(received: ReceivedMessage): number | null {
  const id = typeof received === 'string' ? /^\{"jsonrpc":"2\.0","id":(\d{1,15}),/.exec(received)?.[1] : undefined
  return id === undefined ? null : Number(id)
}
