import { type Channel, WireError } from '@episodic/protocol'
import { copyPlain, markTyped } from '@episodic/protocol/internal'
import type { Caller } from '../host/access/caller.ts'
import type { Host, SessionRef } from '../host/host.ts'
import { toInternalError } from '../host/operate/faults.ts'
import type { DispatcherOptions } from './dispatcher.ts'
import { answerRequest, resolveCaller } from './handle-request.ts'
import { type ScannedAnswer, scanAnswer, worldTextOf } from './leak-scan.ts'
import { readMessage } from './message.ts'

/**
 * Opens a channel to a host in the same process: the same requests as over any transport, as values, without JSON-RPC
 * around them. Hand the result to `connect()` of `@episodic/env`.
 *
 * `caller` chooses the endpoint and names the caller; default: an anonymous caller of the trainer endpoint. Closing the
 * channel leaves the host open. `onError` receives the causes of `internal` errors, and `onProgress` what the `prepare`
 * of a tool reports while a call waits for it.
 */
export function inProcess(
  host: Host,
  caller: Caller = { endpoint: 'trainer', principal: null },
  { onError = () => {}, onProgress }: DispatcherOptions & { readonly onProgress?: (message: string) => void } = {},
): Channel {
  let closed = false
  const never = new AbortController().signal
  return markTyped<Channel>({
    async request(method, params, options) {
      const { signal } = options ?? {}
      signal?.throwIfAborted()
      if (closed) throw new WireError('invalid-request', 'This channel is closed. Open another one.')
      if (typeof method !== 'string') throw new WireError('invalid-request', 'The method of a request is a string.')
      const asked = readMessage({ jsonrpc: '2.0', id: 0, method, params })
      if (asked.problem) throw asked.problem
      let session: SessionRef | null = null
      let answer: ScannedAnswer | undefined
      try {
        const resolving = resolveCaller(host, caller)
        session = resolving instanceof Promise ? await resolving : resolving
        const waits = signal !== undefined || onProgress !== undefined
        const waiting = waits ? { signal: signal ?? never, report: undefined, onPrepareReport: onProgress } : undefined
        answer = await answerRequest(host, caller, session, asked, { signal, waiting })
      } catch (error) {
        signal?.throwIfAborted()
        if (caller.endpoint === 'trainer') throw error
        const { code, message, details } = WireError.is(error) ? error : toInternalError(error, onError)
        scanAnswer(caller, session, asked, JSON.stringify([message, details]), null)
        // Without the cause, which is not for an agent.
        throw new WireError(code, message, { details })
      }
      if (!answer) throw new WireError('method-not-found', `There is no method "${method}" at this endpoint.`)
      // Only the answers of tools contain a session's state and are for a player.
      if (answer.secrets) scanAnswer(caller, session, asked, worldTextOf(answer), answer)
      // The caller may keep and change what it gets; the session must not change with it.
      return copyPlain(answer.result)
    },
    async close() {
      closed = true
    },
  })
}
