import type { Channel, JsonObject } from '@episodic/protocol'
import { abortable, every, onAbort } from '@episodic/protocol/internal'
import type { ServerProcess } from '@episodic/protocol/pipe/internal'
import { EnvError } from '../env-error.ts'
import { callWithInput, type InputOptions } from './input-required.ts'
import { withSender } from './modern-request.ts'
import { PendingCalls } from './pending-calls.ts'
import type { RpcAnswer } from './rpc-answer.ts'

/** Milliseconds of a tick, and ticks until a call without an answer fails: two minutes. */
const TICK = 10_000
const TIMEOUT_TICKS = 12

/** Distinguishes these ids from those of the SDK's client, which may use the same pipe later. */
const PREFIX = 'call '

interface PipeOptions extends Pick<InputOptions, 'elicit' | 'questions'> {
  /** The name of the server in errors. */
  readonly name: string
}

/**
 * Stateless calls over the pipe of a child process, without a handshake: to a server with the stateless version, or to
 * a server of environments.
 */
export class Pipe {
  readonly #transport: ServerProcess
  readonly #options: PipeOptions
  readonly #calls = new PendingCalls()
  readonly #stopTicking: () => void
  /** Whether it has answered at all. Its start has a time of its own. */
  #answered = false
  #lost: EnvError | null = null

  /** Sets the listeners of a transport. Start the transport afterwards. */
  constructor(transport: ServerProcess, options: PipeOptions) {
    this.#transport = transport
    this.#options = options
    // The process stays, whatever it answers: it may have the state of its sessions in it, and answer later calls.
    this.#stopTicking = every(TICK, () => {
      if (this.#answered) this.#calls.tick(TIMEOUT_TICKS, options.name)
    })
    const overheard = transport.onmessage
    transport.onmessage = (message) => {
      overheard?.(message)
      this.#receive(message)
    }
    transport.onclose = () => this.#lose()
  }

  /** Why no call is answered any more; `null` while the process is there. */
  get lost(): EnvError | null {
    return this.#lost
  }

  /** Releases the transport, so that the SDK's client can use it. */
  leave(): void {
    this.#stopTicking()
    delete this.#transport.onclose
  }

  async close(): Promise<void> {
    await this.#transport.close()
    this.#lose()
  }

  /** Makes a stateless call, which names its sender. */
  readonly modern: Channel['request'] = (method, params, { signal } = {}) => {
    const { elicit, questions } = this.#options
    const capabilities: JsonObject = elicit ? { elicitation: { form: {} } } : {}
    const call = (sent: JsonObject) => this.#ask(method, withSender(sent, capabilities), signal)
    return callWithInput(call, params, { elicit, questions, signal })
  }

  /** Makes a call without the sender, to a server of environments. */
  readonly bare: Channel['request'] = (method, params, { signal } = {}) => this.#ask(method, params, signal)

  async #ask(method: string, params: JsonObject, signal: AbortSignal | undefined): Promise<unknown> {
    if (this.#lost) throw this.#lost
    signal?.throwIfAborted()
    let sent = {}
    const { answer } = this.#calls.add(method, (number) => {
      sent = { jsonrpc: '2.0', id: `${PREFIX}${number}`, method, params }
      return ''
    })
    answer.catch(() => {})
    const stop =
      signal &&
      onAbort(signal, () => {
        const { id } = sent as { id: string }
        this.#send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
      })
    try {
      this.#send(sent)
      return await abortable(answer, signal)
    } finally {
      stop?.()
    }
  }

  #send(message: object): void {
    this.#transport.send(message).catch(() => this.#lose())
  }

  #receive(message: object): void {
    const { id, ...answer } = message as RpcAnswer & { readonly method?: unknown }
    // Requests and notifications of the server are ignored.
    if (answer.method !== undefined) return
    this.#answered = true
    if (typeof id === 'string' && id.startsWith(PREFIX))
      this.#calls.settle({ ...answer, id: Number(id.slice(PREFIX.length)) })
    else if (id === null) this.#calls.settle({ ...answer, id })
  }

  #lose(): void {
    if (this.#lost) return
    const ending = this.#transport.exit ?? 'it has closed its pipe'
    this.#lost = new EnvError(
      'connection-failed',
      `No answer from ${this.#options.name}: ${ending}.${printedBy(this.#transport)}`,
      { details: { retryable: false } },
    )
    this.#stopTicking()
    this.#calls.rejectAll(this.#lost)
  }
}

/** Returns a sentence with the last that a server has printed, for the error of its failure. */
export function printedBy({ printed }: ServerProcess): string {
  return printed === '' ? '' : ` It printed: ${printed}`
}
