import { type Channel, WireError } from '@episodic/protocol'
import type { Caller } from './caller.ts'
import type { Host } from './host.ts'
import { answerRequest } from './requests.ts'

/**
 * Opens a door of a host to a client in the same process: the same requests as on any wire, as values, with no
 * JSON-RPC around them. Hand the result to `connect()` of `@episodic/env`.
 *
 * `caller` says which door and who comes through it; by default the trusted door, for nobody in particular. Closing
 * the channel leaves the host alone.
 */
export function openInProcess(host: Host, caller: Caller = { door: 'trusted', principal: null }): Channel {
  let closed = false
  return {
    async request(method, params, options) {
      options?.signal?.throwIfAborted()
      if (closed) throw new WireError('invalid-request', 'This channel is closed. Open another one.')
      const result = await answerRequest(host, caller, method, params, options)
      if (result === undefined) throw new WireError('method-not-found', `There is no method "${method}" at this door.`)
      return result
    },
    async close() {
      closed = true
    },
  }
}
