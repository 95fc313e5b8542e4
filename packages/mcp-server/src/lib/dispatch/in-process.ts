import { type Channel, WireError } from '@episodic/protocol'
import type { Caller } from '../host/caller.ts'
import { conceal } from '../host/faults.ts'
import type { Host } from '../host/host.ts'
import type { DispatcherOptions } from './dispatcher.ts'
import { answerRequest } from './handle-request.ts'
import { type Answer, scanAnswer, toldIn } from './leak-scan.ts'

/**
 * Opens an endpoint of a host to a client in the same process: the same requests as on any wire, as values, with no
 * JSON-RPC around them. Hand the result to `connect()` of `@episodic/env`.
 *
 * `caller` says which endpoint and who comes through it; by default the trainer endpoint, for nobody in particular. Closing
 * the channel leaves the host alone. What reached an agent as `internal`, `onError` hears of.
 */
export function inProcess(
  host: Host,
  caller: Caller = { endpoint: 'trainer', principal: null },
  { onError = () => {} }: DispatcherOptions = {},
): Channel {
  let closed = false
  return {
    async request(method, params, options) {
      options?.signal?.throwIfAborted()
      if (closed) throw new WireError('invalid-request', 'This channel is closed. Open another one.')
      if (typeof method !== 'string') throw new WireError('invalid-request', 'The method of a request is a string.')
      const asked = { method, params }
      let answer: Answer | undefined
      try {
        const signal = options?.signal
        const waiting = signal && { signal, report: undefined }
        answer = await answerRequest(host, caller, method, params, { signal, waiting })
      } catch (error) {
        options?.signal?.throwIfAborted()
        if (caller.endpoint === 'trainer') throw error
        const { code, message, details } = WireError.is(error) ? error : conceal(error, onError)
        await scanAnswer(host, caller, asked, JSON.stringify([message, details]), null)
        // What caused it is not for an agent.
        throw new WireError(code, message, { details })
      }
      if (!answer) throw new WireError('method-not-found', `There is no method "${method}" at this endpoint.`)
      // What a tool answers is all that has a session's state in it and is for a player.
      if (answer.secrets) await scanAnswer(host, caller, asked, toldIn(answer), answer)
      return answer.result
    },
    async close() {
      closed = true
    },
  }
}
