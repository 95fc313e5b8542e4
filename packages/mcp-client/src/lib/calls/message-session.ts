import type { Channel, JsonObject } from '@episodic/protocol'
import { abortable, every, isObject, onAbort } from '@episodic/protocol/internal'
import { readServerResult } from '../answers/server-answer.ts'
import { McpError, noAnswer, reasonOf } from '../mcp-error.ts'
import type { ChannelOptions, WaitOptions } from '../target.ts'
import { answerElicitation } from './elicitation.ts'
import { callWithInput, QuestionBudget, questionsAllowed } from './input-required.ts'
import { CLIENT, capabilitiesOf, withSender } from './modern-request.ts'
import { createPendingCalls, TICK } from './pending-calls.ts'
import type { RpcAnswer } from './rpc-answer.ts'

/** What carries messages in both directions: the pipes of a process, or a transport of the SDK. */
export interface MessageLine {
  onmessage?: ((message: object) => void) | undefined
  onclose?: (() => void) | undefined
  send(message: object, options?: SendOptions): Promise<void>
  close(): Promise<void>
  setProtocolVersion?(version: string): void
}

interface SendOptions {
  readonly requestSignal?: AbortSignal
  readonly onRequestStreamEnd?: () => void
}

export interface SessionOptions extends Pick<ChannelOptions, 'elicit' | 'questions' | 'onMessage'> {
  readonly name: string
  readonly callMilliseconds: number
  readonly ending: () => string
  /** Returns what goes behind the errors of a lost line and of late calls, such as what a process printed. */
  readonly note: () => string
  /** Returns the error of a message that was not sent; `null` if the line is lost. */
  readonly failureOf: (error: unknown) => McpError | null
}

/** The versions with a handshake, the newest first. */
const VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']

/**
 * Calls over a line: stateless ones, those after a handshake, and bare ones, to a server of environments.
 *
 * Sets the listeners of a line. Start the line afterwards. Throws `option-invalid`.
 */
export function createMessageSession(line: MessageLine, setting: SessionOptions) {
  /** The questions of the server without an answer, by the text of their id. */
  const questions = new Map<string, AbortController>()
  /** Whether the server has answered at all. Its start has a time of its own. */
  let answered = false
  /** Whether the server may ask by requests, as one with a handshake. */
  let mayAsk = false
  let loss: McpError | null = null
  const modern: Channel['request'] = (method, params, { signal } = {}) => {
    const { elicit, questions } = setting
    const call = (sent: JsonObject) => ask(method, withSender(sent, capabilitiesOf(elicit)), signal)
    return callWithInput(call, params, { elicit, questions: questionsAllowed(questions), signal })
  }
  /** Makes a call without the sender: after the handshake, or to a server of environments. */
  const bare: Channel['request'] = (method, params, { signal } = {}) =>
    mayAsk && setting.elicit ? budget.call((ended) => ask(method, params, ended), signal) : ask(method, params, signal)
  const calls = createPendingCalls(setting.name, setting.callMilliseconds, setting.note)
  const budget = new QuestionBudget(questionsAllowed(setting.questions))
  // The line stays, whatever comes: a process may have the state of its sessions in it, and answer later calls.
  const stopTicking: () => void = every(TICK, () => {
    if (answered) calls.tick()
  })
  line.onmessage = (message) => receive(message as JsonObject)
  line.onclose = () => lose()
  return {
    modern,
    bare,
    /** Why no call is answered any more; `null` while the line is open. */
    get lost(): McpError | null {
      return loss
    },
    async close(): Promise<void> {
      await line.close()
      lose()
    },
    async shakeHands({ signal }: WaitOptions): Promise<JsonObject> {
      mayAsk = true
      const greeting = {
        protocolVersion: VERSIONS[0] as string,
        capabilities: capabilitiesOf(setting.elicit),
        clientInfo: CLIENT,
      }
      const result = readServerResult('initialize', await ask('initialize', greeting, signal))
      const version = isObject(result) ? result.protocolVersion : undefined
      if (!isObject(result) || typeof version !== 'string' || !VERSIONS.includes(version))
        throw noAnswer('malformed', setting.name, {
          why: `it answered the handshake with the version ${JSON.stringify(version)} of MCP, which is not spoken here`,
        })
      line.setProtocolVersion?.(version)
      await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
      return result
    },
  }

  async function ask(method: string, params: JsonObject, signal: AbortSignal | undefined): Promise<unknown> {
    if (loss) throw loss
    signal?.throwIfAborted()
    const { id, answer } = calls.add(method)
    const ended = new AbortController()
    const fail = (error: Error) => calls.reject(id, error)
    const onRequestStreamEnd = () =>
      fail(noAnswer('lost', setting.name, { why: 'the stream of the answer ended before it' }))
    answer.catch(() => {})
    send({ jsonrpc: '2.0', id, method, params }, { requestSignal: ended.signal, onRequestStreamEnd }).catch(fail)
    // A handshake cannot be cancelled.
    const cancel = () => {
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }
      if (method !== 'initialize') send(cancelled).catch(() => {})
    }
    const stop = signal && onAbort(signal, cancel)
    try {
      return await abortable(answer, signal)
    } catch (error) {
      fail(error as Error)
      ended.abort()
      throw error
    } finally {
      stop?.()
    }
  }

  async function send(message: JsonObject, options?: SendOptions): Promise<void> {
    setting.onMessage?.('sent', message)
    try {
      await line.send(message, options)
    } catch (error) {
      const failure = unsaid(message, error, setting.name) ?? setting.failureOf(error)
      if (failure) throw failure
      lose()
      throw loss
    }
  }

  function receive(message: JsonObject): void {
    setting.onMessage?.('received', message)
    const { id, method, params } = message
    if (method === undefined) {
      answered = true
      calls.settle({ ...(message as RpcAnswer), id: id === null ? null : Number(id) })
    } else if (method === 'notifications/cancelled' && isObject(params)) {
      questions.get(String(params.requestId))?.abort()
    } else if (id !== undefined && mayAsk) void answer(String(method), message)
  }

  async function answer(method: string, { id, params }: JsonObject): Promise<void> {
    const { elicit } = setting
    const asked = new AbortController()
    questions.set(String(id), asked)
    const answer = async (): Promise<JsonObject> => {
      if (method === 'ping') return { result: {} }
      if (method !== 'elicitation/create' || !elicit) return { error: { code: -32_601, message: 'Method not found' } }
      budget.count()
      return { result: await answerElicitation(elicit, isObject(params) ? params : {}, asked.signal) }
    }
    const said = await answer().catch((error): JsonObject => ({ error: { code: -32_603, message: reasonOf(error) } }))
    questions.delete(String(id))
    if (!asked.signal.aborted) await send({ jsonrpc: '2.0', id: id ?? null, ...said }).catch(() => {})
  }

  function lose(): void {
    if (loss) return
    const { name, ending, note } = setting
    const lost = (mayHaveArrived: boolean) => {
      const why = ending()
      return new McpError('lost', `No answer from ${name}: ${why}.${note()}`, {
        why: mayHaveArrived ? `${why} before the answer` : why,
        mayHaveArrived,
        details: { retryable: false },
      })
    }
    loss = lost(false)
    stopTicking()
    calls.rejectAll(lost(true))
  }
}

/** Returns the failure of a message that is not JSON, so that it was not sent; otherwise `null`. */
function unsaid(message: JsonObject, cause: unknown, name: string): McpError | null {
  try {
    JSON.stringify(message)
    return null
  } catch (error) {
    const why = `its arguments cannot be said as JSON: ${reasonOf(error)}`
    return noAnswer('refused', name, { why, mayHaveArrived: false, details: { retryable: false }, cause })
  }
}
