import { WireError } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'
import { isRpcError, type RpcAnswer, refusal } from './rpc-answer.ts'

/** A call without an answer. */
interface PendingCall {
  readonly method: string
  /** UTF-16 units of the message. */
  readonly size: number
  /** The tick of the call. */
  readonly tick: number
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** The calls of one connection without an answer, by id. */
export class PendingCalls {
  readonly #calls = new Map<number, PendingCall>()
  #nextId = 1
  #tick = 0
  /** The tick of the last answer. */
  #lastAnswer = 0

  get size(): number {
    return this.#calls.size
  }

  /** Registers a call. Returns its message, as `write` returns it for the id, and a promise of the answer. */
  add(method: string, write: (id: number) => string): { readonly text: string; readonly answer: Promise<unknown> } {
    const id = this.#nextId++
    const text = write(id)
    const answer = new Promise((resolve, reject) => {
      this.#calls.set(id, { method, size: text.length, tick: this.#tick, resolve, reject })
    })
    return { text, answer }
  }

  /** Settles the call of an answer. Returns `false` for an error without an id that matches no call. */
  settle(answer: RpcAnswer): boolean {
    this.#lastAnswer = this.#tick
    const { id, error } = answer
    if (id === null && isRpcError(error)) return this.#settleWithoutId(refusal(error))
    const call = this.#calls.get(id as number)
    // The call was aborted, or the message is not an answer.
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

  /** Rejects the largest call, which is the one that was too large. */
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
   * Counts one tick. Rejects the calls that are `timeout` ticks old. Returns `false` if there were any, and no answer
   * at all came in that time: then the connection is dead.
   */
  tick(timeout: number, name: string): boolean {
    this.#tick += 1
    let isLate = false
    for (const [id, { method, tick, reject }] of this.#calls) {
      if (this.#tick - tick < timeout) break
      isLate = true
      this.#calls.delete(id)
      reject(new EnvError('connection-failed', `No answer from ${name} to ${method} in time.`))
    }
    return !isLate || this.#tick - this.#lastAnswer < timeout
  }

  /** Assigns an error without an id, which a server sends if it could not read the request. */
  #settleWithoutId(error: Error): boolean {
    if (this.#calls.size !== 1 && !WireError.is(error, 'too-large')) return false
    this.rejectLargest(error)
    return true
  }
}
