import { WireError } from '@episodic/protocol'
import { McpError, noAnswer } from '../mcp-error.ts'
import { isRpcError, type RpcAnswer, refusal } from './rpc-answer.ts'

interface PendingCall {
  readonly method: string
  /** UTF-16 units of the message. */
  size: number
  /** The tick of the call. */
  readonly tick: number
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** Milliseconds of a tick. */
export const TICK = 10_000

/** The calls of one connection without an answer, by id. */
export class PendingCalls {
  readonly #calls = new Map<number, PendingCall>()
  readonly #ticks: number
  readonly #name: string
  #nextId = 1
  #tick = 0
  #lastAnswer = 0

  /**
   * @param name - the server's, in errors.
   * @param milliseconds - until a call without an answer fails, give or take a {@link TICK}.
   */
  constructor(name: string, milliseconds: number) {
    this.#name = name
    this.#ticks = Math.ceil(milliseconds / TICK)
  }

  get size(): number {
    return this.#calls.size
  }

  add(method: string): { readonly id: number; readonly answer: Promise<unknown> } {
    const id = this.#nextId++
    const answer = new Promise((resolve, reject) => {
      this.#calls.set(id, { method, size: 0, tick: this.#tick, resolve, reject })
    })
    return { id, answer }
  }

  measure(id: number, { length }: string): void {
    const call = this.#calls.get(id)
    if (call) call.size = length
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
    else call.reject(new McpError('malformed', `The server's answer to ${call.method} is not a JSON-RPC answer to it.`))
    return true
  }

  reject(id: number, error: Error): void {
    this.#calls.get(id)?.reject(error)
    this.#calls.delete(id)
  }

  /** Rejects the largest call, which is the one that was too large. */
  rejectLargest(error: Error): void {
    let largest: number | null = null
    for (const [id, { size }] of this.#calls)
      if (largest === null || size > (this.#calls.get(largest)?.size ?? 0)) largest = id
    if (largest !== null) this.reject(largest, error)
  }

  rejectAll(error: Error): void {
    for (const { reject } of this.#calls.values()) reject(error)
    this.#calls.clear()
  }

  /** Counts a tick, and rejects calls that are too old. `false` if none was answered meanwhile: a dead connection. */
  tick(): boolean {
    this.#tick += 1
    let isLate = false
    for (const [id, { method, tick, reject }] of this.#calls) {
      if (this.#tick - tick < this.#ticks) break
      isLate = true
      this.#calls.delete(id)
      reject(noAnswer('timed-out', this.#name, { why: `it has not answered ${method} in time` }))
    }
    return !isLate || this.#tick - this.#lastAnswer < this.#ticks
  }

  /** Assigns an error without an id, which a server sends if it could not read the request. */
  #settleWithoutId(error: Error): boolean {
    if (this.#calls.size !== 1 && !WireError.is(error, 'too-large')) return false
    this.rejectLargest(error)
    return true
  }
}
