import { Worker } from 'node:worker_threads'
import type { Change, Clock, SessionState } from '@episodic/state'
import type { Happened } from '@episodic/state/internal'
import type { PlayOutcome } from '../environment/rules/rules-turn.ts'
import { rulesFailed, type ServerError } from '../server-error.ts'
import { isSent, PagesInThread, stateOf, withState } from './sent-states.ts'
import type { RulesAnswer, RulesCall, SentCall, SentState, ThreadData, ThreadMessage } from './worker-messages.ts'

/** The code of a thread: beside this file in the source, and beside the bundle that contains this file. */
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './worker-main.ts' : './worker-main.js', import.meta.url)

/** Megabytes of objects that the rules of one thread may keep, and as many outside of the heap after a call. */
const MEGABYTES = 256
/**
 * Megabytes of objects that are new. Near its limit a heap gets only a little more, for the thread to be ended in, and
 * a thread that needs more than that at once ends the whole process: the less can be moved there at once, the rarer
 * that is.
 */
const NEW_MEGABYTES = 8
/** Seconds that the worlds' modules may take to load in a thread. */
const LOAD_SECONDS = 30

export type Doing = 'loading' | 'resting' | 'playing'

export interface WaitingCall {
  readonly call: RulesCall
  resolve(answer: RulesAnswer | Promise<RulesAnswer>): void
  reject(cause: unknown): void
}

export interface Ending {
  readonly cause: Error
  readonly was: Doing
  /** The unanswered call; `null` if the thread was stopped or ran out of memory, because that call was rejected. */
  readonly call: WaitingCall | null
}

export interface ThreadOptions extends ThreadData {
  readonly timeoutSeconds: number
  readonly clock: Clock
  /** Is called when the thread has nothing to do. */
  readonly onIdle: (thread: RulesThread) => void
  readonly onGone: (thread: RulesThread, ending: Ending) => void
}

/**
 * A thread that plays one call at a time. It keeps the process alive only while there is something to do.
 *
 * A call that runs for too long or runs out of memory is rejected, and its thread ends. If the thread ends for another
 * reason, its call is handed back.
 */
export class RulesThread {
  readonly #options: ThreadOptions
  readonly #worker: Worker
  readonly #gone: Promise<void>
  readonly #pages = new PagesInThread()
  #doing: Doing = 'loading'
  #current: WaitingCall | null = null
  #fate: Error | null = null
  #callOff: () => void

  constructor(options: ThreadOptions) {
    this.#options = options
    const { modules } = options
    this.#worker = new Worker(ENTRY, {
      workerData: { modules } satisfies ThreadData,
      resourceLimits: { maxOldGenerationSizeMb: MEGABYTES, maxYoungGenerationSizeMb: NEW_MEGABYTES },
    })
    this.#callOff = this.#limit(LOAD_SECONDS, `The worlds did not load in a thread within ${LOAD_SECONDS} s.`)
    this.#worker.on('message', (message: ThreadMessage) => this.#receive(message))
    this.#worker.on('error', (cause) => this.#fail(cause))
    this.#gone = new Promise((resolve) => {
      this.#worker.on('exit', (status) => {
        this.#fate ??= rulesFailed(`The rules ended the thread that they ran in, with status ${status}.`)
        options.onGone(this, { cause: this.#fate, was: this.#doing, call: this.#settle() })
        resolve()
      })
    })
  }

  take(waiting: WaitingCall): void {
    const { timeoutSeconds: seconds } = this.#options
    this.#doing = 'playing'
    this.#current = waiting
    this.#worker.ref()
    this.#callOff = this.#limit(seconds, `The rules ran for more than ${seconds} s and were stopped.`)
    try {
      this.#worker.postMessage(this.#sent(waiting.call))
    } catch (cause) {
      this.#pages.forget()
      this.#settle()?.reject(cause)
      this.#rest()
    }
  }

  plays(waiting: WaitingCall): boolean {
    return this.#current === waiting
  }

  /** Ends the thread, and resolves once it is gone. Its call is rejected at once. */
  async stop(cause: Error): Promise<void> {
    this.#fate ??= cause
    this.#settle()?.reject(this.#fate)
    void this.#worker.terminate()
    await this.#gone
  }

  #receive(message: ThreadMessage): void {
    const settled = this.#settle()
    if (message.kind === 'done') settled?.resolve(message.made ? this.#received(message, settled.call) : message)
    if (message.kind === 'threw') settled?.reject(Object.assign(new Error(), message.error))
    if (this.#fate) return
    // The answer is valid, but the memory that the thread keeps outside its heap would only grow.
    if (message.kind !== 'ready' && message.outside > MEGABYTES * 1_048_576) void this.stop(outOfMemory())
    else this.#rest()
  }

  #sent(call: RulesCall): SentCall {
    const state = stateOf(call)
    const sent = state && this.#pages.send(state)
    return sent && isSent(sent) ? { call: withState(call, null), sent } : { call, sent: null }
  }

  async #received(answer: RulesAnswer, call: RulesCall): Promise<RulesAnswer> {
    const { made, value } = answer as { readonly made: SentState; readonly value: PlayOutcome | Happened }
    const state = await this.#pages.receive(made, stateOf(call) as SessionState)
    return { ...answer, value: { ...value, change: { ...(value.change as Change), state } } }
  }

  /** An error that nothing caught ends the thread. */
  #fail(cause: unknown): void {
    const { code } = cause as { code?: unknown }
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
      this.#fate ??= outOfMemory({ cause })
      this.#settle()?.reject(this.#fate)
    } else if (this.#doing === 'loading') this.#fate ??= cause instanceof Error ? cause : rulesFailed(String(cause))
    // The error may belong to another session, so only the log gets it.
    else this.#fate ??= rulesFailed('An error that nothing caught ended the thread that the rules ran in.', { cause })
  }

  #rest(): void {
    this.#doing = 'resting'
    this.#worker.unref()
    this.#options.onIdle(this)
  }

  #settle(): WaitingCall | null {
    const current = this.#current
    this.#current = null
    this.#callOff()
    return current
  }

  #limit(seconds: number, message: string): () => void {
    return this.#options.clock.after(seconds * 1_000, () => void this.stop(rulesFailed(message)))
  }
}

function outOfMemory(options?: ErrorOptions): ServerError {
  return rulesFailed(`The rules needed more than ${MEGABYTES} MB and were stopped.`, options)
}
