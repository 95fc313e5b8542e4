import { WireError } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'
import { isRpcError, type RpcAnswer, refusal } from './rpc-answer.ts'

/** A call that waits for its answer. */
interface PendingCall {
  readonly method: string
  /** UTF-16 units of the message. */
  readonly size: number
  /** The tick in which it was made. */
  readonly tick: number
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** The calls over one connection that wait for their answers, by the id of each. */
export class PendingCalls {
  readonly #calls = new Map<number, PendingCall>()
  #nextId = 1
  #tick = 0
  /** The tick in which an answer came last. */
  #heard = 0

  get size(): number {
    return this.#calls.size
  }

  /** Gives a message its id and a promise of the answer. `write` makes the text. */
  add(method: string, write: (id: number) => string): { readonly text: string; readonly answer: Promise<unknown> } {
    const id = this.#nextId++
    const text = write(id)
    const answer = new Promise((resolve, reject) => {
      this.#calls.set(id, { method, size: text.length, tick: this.#tick, resolve, reject })
    })
    return { text, answer }
  }

  /** Gives an answer to whoever waits for it. Returns `false` for one that is nobody's in particular and cannot be placed. */
  settle(answer: RpcAnswer): boolean {
    this.#heard = this.#tick
    const { id, error } = answer
    if (id === null && isRpcError(error)) return this.#settleNobodys(refusal(error))
    const call = this.#calls.get(id as number)
    // An answer that nobody waits for any more, or a message that we have not asked for.
    if (!call) return true
    this.#calls.delete(id as number)
    if (isRpcError(error)) call.reject(refusal(error))
    else if (answer.result !== undefined) call.resolve(answer.result)
    else
      call.reject(
        new EnvError('reply-malformed', `The server's answer to ${call.method} is not a JSON-RPC answer to it.`),
      )
    return true
  }

  /** Rejects the largest call: where one was too large, it is that one. */
  rejectLargest(error: Error): void {
    let largest: number | null = null
    for (const [id, { size }] of this.#calls)
      if (largest === null || size > (this.#calls.get(largest)?.size ?? 0)) largest = id
    if (largest === null) return
    this.#calls.get(largest)?.reject(error)
    this.#calls.delete(largest)
  }

  rejectAll(error: Error): void {
    for (const { reject } of this.#calls.values()) reject(error)
    this.#calls.clear()
  }

  /**
   * Counts one tick. Rejects calls that have waited for `patience` ticks, and returns `false` where nothing at all was
   * heard in that time: the connection is dead, whatever the system says.
   */
  tick(patience: number, name: string): boolean {
    this.#tick += 1
    for (const [id, { method, tick, reject }] of this.#calls) {
      if (this.#tick - tick < patience) break
      if (this.#tick - this.#heard >= patience) return false
      this.#calls.delete(id)
      reject(new EnvError('connection-failed', `No answer from ${name} to ${method} in time.`))
    }
    return true
  }

  /** What failed before its id was read is answered to nobody in particular. */
  #settleNobodys(error: Error): boolean {
    if (this.#calls.size !== 1 && !WireError.is(error, 'too-large')) return false
    this.rejectLargest(error)
    return true
  }
}
