import { Worker } from 'node:worker_threads'
import type { Clock } from '@episodic/state'
import type { RulesCall, ThreadData, ThreadMessage } from './isolate-messages.ts'
import type { Outcome, Standing } from './rules.ts'
import { ServerError } from './server-error.ts'

/** What a thread runs: beside this file in the source, and beside whatever this file was bundled into. */
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './isolate-entry.ts' : './isolate-entry.js', import.meta.url)

/** Megabytes of objects that the rules of one thread may keep. */
const MEGABYTES = 256
/** Seconds that the worlds' modules may take to load in a thread. */
const LOAD_SECONDS = 30

/** What a thread does at a time. */
export type Doing = 'loading' | 'resting' | 'playing'

/** A call that waits for its answer. */
export interface WaitingCall {
  readonly call: RulesCall
  resolve(value: Standing | Outcome): void
  reject(cause: unknown): void
}

export interface ThreadOptions extends ThreadData {
  readonly timeoutSeconds: number
  readonly clock: Clock
  /** The thread has nothing to do. */
  readonly onIdle: (thread: RulesThread) => void
  /** The thread is gone: why, and in the midst of what. */
  readonly onGone: (thread: RulesThread, cause: Error, was: Doing) => void
}

/**
 * A thread that plays one call at a time. It keeps the process alive only while there is something to do.
 *
 * A call that runs for too long, runs out of memory or ends the thread is rejected, and costs the thread.
 */
export class RulesThread {
  readonly #options: ThreadOptions
  readonly #worker: Worker
  readonly #gone: Promise<void>
  #doing: Doing = 'loading'
  #current: WaitingCall | null = null
  /** Why the thread is about to end. */
  #fate: Error | null = null
  #callOff: () => void

  constructor(options: ThreadOptions) {
    this.#options = options
    const { modules } = options
    this.#worker = new Worker(ENTRY, {
      workerData: { modules } satisfies ThreadData,
      resourceLimits: { maxOldGenerationSizeMb: MEGABYTES },
    })
    this.#callOff = this.#limit(LOAD_SECONDS, `The worlds did not load in a thread within ${LOAD_SECONDS} s.`)
    this.#worker.on('message', (message: ThreadMessage) => this.#hear(message))
    this.#worker.on('error', (cause) => {
      this.#fate ??= causeOf(cause)
    })
    this.#gone = new Promise((resolve) => {
      this.#worker.on('exit', (status) => {
        this.#end(failed(`The rules ended the thread that they ran in, with status ${status}.`))
        resolve()
      })
    })
  }

  /** Plays a call. Only for a thread that is idle. */
  take(waiting: WaitingCall): void {
    const { timeoutSeconds: seconds } = this.#options
    this.#doing = 'playing'
    this.#current = waiting
    this.#worker.ref()
    this.#callOff = this.#limit(seconds, `The rules ran for more than ${seconds} s and were stopped.`)
    try {
      this.#worker.postMessage(waiting.call)
    } catch (cause) {
      this.#settle()?.reject(cause)
      this.#rest()
    }
  }

  /** Ends the thread, and resolves once it is gone. Its call is rejected at once. */
  async stop(cause: Error): Promise<void> {
    this.#fate ??= cause
    this.#settle()?.reject(this.#fate)
    void this.#worker.terminate()
    await this.#gone
  }

  #hear(message: ThreadMessage): void {
    const settled = this.#settle()
    if (message.kind === 'done') settled?.resolve(message.value)
    if (message.kind === 'threw') settled?.reject(Object.assign(new Error(), message.error))
    if (!this.#fate) this.#rest()
  }

  #rest(): void {
    this.#doing = 'resting'
    this.#worker.unref()
    this.#options.onIdle(this)
  }

  /** Lets go of the call in hand, and of the time that it had. */
  #settle(): WaitingCall | null {
    const current = this.#current
    this.#current = null
    this.#callOff()
    return current
  }

  #limit(seconds: number, message: string): () => void {
    return this.#options.clock.after(seconds * 1_000, () => void this.stop(failed(message)))
  }

  #end(cause: Error): void {
    this.#fate ??= cause
    this.#settle()?.reject(this.#fate)
    this.#options.onGone(this, this.#fate, this.#doing)
  }
}

function failed(message: string, options?: ErrorOptions): ServerError {
  return new ServerError('rules-failed', message, options)
}

function causeOf(cause: unknown): Error {
  const { code } = cause as { code?: unknown }
  if (code === 'ERR_WORKER_OUT_OF_MEMORY')
    return failed(`The rules needed more than ${MEGABYTES} MB and were stopped.`, { cause })
  return cause instanceof Error ? cause : failed(String(cause))
}
