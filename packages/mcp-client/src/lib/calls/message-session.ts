import type { Channel, JsonObject } from '@episodic/protocol'
import { abortable, every, isObject, onAbort } from '@episodic/protocol/internal'
import { readServerResult } from '../answers/server-answer.ts'
import { McpError, noAnswer, reasonOf } from '../mcp-error.ts'
import type { ChannelOptions, WaitOptions } from '../target.ts'
import { answerElicitation } from './elicitation.ts'
import { callWithInput, QuestionBudget, questionsAllowed } from './input-required.ts'
import { CLIENT, capabilitiesOf, withSender } from './modern-request.ts'
import { PendingCalls, TICK } from './pending-calls.ts'
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
  /** Called when the stream has ended, with or without the answer. */
  readonly onRequestStreamEnd?: () => void
}

export interface SessionOptions extends Pick<ChannelOptions, 'elicit' | 'questions' | 'onMessage'> {
  /** The name of the server in errors. */
  readonly name: string
  readonly callMilliseconds: number
  /** Says why the line was closed: `it ended with status 1`. */
  readonly ending: () => string
  /** Returns what goes behind the errors of a lost line, such as what a process printed. */
  readonly note: () => string
  /** Returns the error of a message that was not sent; `null` if the line is lost. */
  readonly failureOf: (error: unknown) => McpError | null
}

/** The versions with a handshake, the newest first. */
const VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']

/** Calls over a line: stateless ones, those after a handshake, and bare ones, to a server of environments. */
export class MessageSession {
  readonly #line: MessageLine
  readonly #options: SessionOptions
  readonly #calls: PendingCalls
  readonly #budget: QuestionBudget
  readonly #stopTicking: () => void
  /** The questions of the server without an answer, by the text of their id. */
  readonly #questions = new Map<string, AbortController>()
  /** Whether the server has answered at all. Its start has a time of its own. */
  #answered = false
  /** Whether the server may ask by requests, as one with a handshake. */
  #mayAsk = false
  #lost: McpError | null = null

  /** Sets the listeners of a line. Start the line afterwards. Throws `option-invalid`. */
  constructor(line: MessageLine, options: SessionOptions) {
    this.#line = line
    this.#options = options
    this.#calls = new PendingCalls(options.name, options.callMilliseconds)
    this.#budget = new QuestionBudget(questionsAllowed(options.questions))
    // The line stays, whatever comes: a process may have the state of its sessions in it, and answer later calls.
    this.#stopTicking = every(TICK, () => {
      if (this.#answered) this.#calls.tick()
    })
    line.onmessage = (message) => this.#receive(message as JsonObject)
    line.onclose = () => this.#lose()
  }

  /** Why no call is answered any more; `null` while the line is open. */
  get lost(): McpError | null {
    return this.#lost
  }

  async close(): Promise<void> {
    await this.#line.close()
    this.#lose()
  }

  /** Makes a stateless call, which names its sender. */
  readonly modern: Channel['request'] = (method, params, { signal } = {}) => {
    const { elicit, questions } = this.#options
    const call = (sent: JsonObject) => this.#ask(method, withSender(sent, capabilitiesOf(elicit)), signal)
    return callWithInput(call, params, { elicit, questions: questionsAllowed(questions), signal })
  }

  /** Makes a call without the sender: after the handshake, or to a server of environments. */
  readonly bare: Channel['request'] = (method, params, { signal } = {}) =>
    this.#mayAsk && this.#options.elicit
      ? this.#budget.call((ended) => this.#ask(method, params, ended), signal)
      : this.#ask(method, params, signal)

  async shakeHands({ signal }: WaitOptions): Promise<JsonObject> {
    this.#mayAsk = true
    const greeting = {
      protocolVersion: VERSIONS[0] as string,
      capabilities: capabilitiesOf(this.#options.elicit),
      clientInfo: CLIENT,
    }
    const result = readServerResult('initialize', await this.#ask('initialize', greeting, signal))
    const version = isObject(result) ? result.protocolVersion : undefined
    if (!isObject(result) || typeof version !== 'string' || !VERSIONS.includes(version))
      throw noAnswer('malformed', this.#options.name, {
        why: `it answered the handshake with the version ${JSON.stringify(version)} of MCP, which is not spoken here`,
      })
    this.#line.setProtocolVersion?.(version)
    await this.#send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return result
  }

  async #ask(method: string, params: JsonObject, signal: AbortSignal | undefined): Promise<unknown> {
    if (this.#lost) throw this.#lost
    signal?.throwIfAborted()
    const { id, answer } = this.#calls.add(method)
    const ended = new AbortController()
    const fail = (error: Error) => this.#calls.reject(id, error)
    const onRequestStreamEnd = () =>
      fail(noAnswer('lost', this.#options.name, { why: 'the stream of the answer ended before it' }))
    answer.catch(() => {})
    this.#send({ jsonrpc: '2.0', id, method, params }, { requestSignal: ended.signal, onRequestStreamEnd }).catch(fail)
    // A handshake cannot be cancelled.
    const cancel = () => {
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }
      if (method !== 'initialize') this.#send(cancelled).catch(() => {})
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

  async #send(message: JsonObject, options?: SendOptions): Promise<void> {
    this.#options.onMessage?.('sent', message)
    try {
      await this.#line.send(message, options)
    } catch (error) {
      const failure = unsaid(message, error, this.#options.name) ?? this.#options.failureOf(error)
      if (failure) throw failure
      this.#lose()
      throw this.#lost
    }
  }

  #receive(message: JsonObject): void {
    this.#options.onMessage?.('received', message)
    const { id, method, params } = message
    if (method === undefined) {
      this.#answered = true
      this.#calls.settle({ ...(message as RpcAnswer), id: id === null ? null : Number(id) })
    } else if (method === 'notifications/cancelled' && isObject(params)) {
      this.#questions.get(String(params.requestId))?.abort()
    } else if (id !== undefined && this.#mayAsk) void this.#answer(String(method), message)
  }

  async #answer(method: string, { id, params }: JsonObject): Promise<void> {
    const { elicit } = this.#options
    const asked = new AbortController()
    this.#questions.set(String(id), asked)
    const answer = async (): Promise<JsonObject> => {
      if (method === 'ping') return { result: {} }
      if (method !== 'elicitation/create' || !elicit) return { error: { code: -32_601, message: 'Method not found' } }
      this.#budget.count()
      return { result: await answerElicitation(elicit, isObject(params) ? params : {}, asked.signal) }
    }
    const said = await answer().catch((error): JsonObject => ({ error: { code: -32_603, message: reasonOf(error) } }))
    this.#questions.delete(String(id))
    if (!asked.signal.aborted) await this.#send({ jsonrpc: '2.0', id: id ?? null, ...said }).catch(() => {})
  }

  #lose(): void {
    if (this.#lost) return
    const { name, ending, note } = this.#options
    const lost = (mayHaveArrived: boolean) => {
      const why = ending()
      return new McpError('lost', `No answer from ${name}: ${why}.${note()}`, {
        why: mayHaveArrived ? `${why} before the answer` : why,
        mayHaveArrived,
        details: { retryable: false },
      })
    }
    this.#lost = lost(false)
    this.#stopTicking()
    this.#calls.rejectAll(lost(true))
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
