import { WireError } from '@episodic/protocol'
import { McpError, noAnswer } from '../mcp-error.ts'
import { isRpcError, type RpcAnswer, refusal } from './rpc-answer.ts'

interface PendingCall {
  readonly method: string
  /** UTF-16 units of the message. */
  size: number
  readonly tick: number
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** Milliseconds of a tick. */
export const TICK = 10_000

/**
 * The calls of one connection without an answer, by id.
 *
 * @param name - the server's, in errors.
 * @param milliseconds - until a call without an answer fails, give or take a {@link TICK}.
 */
export function createPendingCalls(name: string, milliseconds: number, note = () => '') {
  const calls = new Map<number, PendingCall>()
  let nextId = 1
  let now = 0
  let lastAnswer = 0
  const ticks = Math.ceil(milliseconds / TICK)
  return {
    get size(): number {
      return calls.size
    },
    add(method: string): { readonly id: number; readonly answer: Promise<unknown> } {
      const id = nextId++
      const answer = new Promise((resolve, reject) => {
        calls.set(id, { method, size: 0, tick: now, resolve, reject })
      })
      return { id, answer }
    },
    measure(id: number, { length }: string): void {
      const call = calls.get(id)
      if (call) call.size = length
    },
    /** Settles the call of an answer. Returns `false` for an error without an id that matches no call. */
    settle(answer: RpcAnswer): boolean {
      lastAnswer = now
      const { id, error } = answer
      if (id === null && isRpcError(error)) return settleWithoutId(refusal(error))
      const call = calls.get(id as number)
      // The call was aborted, or the message is not an answer.
      if (!call) return true
      calls.delete(id as number)
      if (isRpcError(error)) call.reject(refusal(error))
      else if (answer.result !== undefined) call.resolve(answer.result)
      else
        call.reject(new McpError('malformed', `The server's answer to ${call.method} is not a JSON-RPC answer to it.`))
      return true
    },
    reject,
    rejectLargest,
    rejectAll(error: Error): void {
      for (const { reject } of calls.values()) reject(error)
      calls.clear()
    },
    /** Counts a tick, and rejects calls that are too old. `false` if none was answered meanwhile: a dead connection. */
    tick(): boolean {
      now += 1
      let isLate = false
      for (const [id, { method, tick, reject }] of calls) {
        if (now - tick < ticks) break
        isLate = true
        calls.delete(id)
        reject(noAnswer('timed-out', name, { why: `it has not answered ${method} in time${note() && `.${note()}`}` }))
      }
      return !isLate || now - lastAnswer < ticks
    },
  }

  function reject(id: number, error: Error): void {
    calls.get(id)?.reject(error)
    calls.delete(id)
  }

  /** Rejects the largest call, which is the one that was too large. */
  function rejectLargest(error: Error): void {
    let largest: number | null = null
    for (const [id, { size }] of calls) if (largest === null || size > (calls.get(largest)?.size ?? 0)) largest = id
    if (largest !== null) reject(largest, error)
  }

  /** Assigns an error without an id, which a server sends if it could not read the request. */
  function settleWithoutId(error: Error): boolean {
    if (calls.size !== 1 && !WireError.is(error, 'too-large')) return false
    rejectLargest(error)
    return true
  }
}
