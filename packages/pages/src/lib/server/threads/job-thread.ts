import { Worker } from 'node:worker_threads'
import { HarnessError, type HarnessErrorCode } from '@episodic/run/base/harness-error'
import type { JobMessage, JobName, Jobs, ThreadMessage } from './jobs.ts'

/** The code of a thread: beside this file in the source, and beside the bundle that contains this file. */
const ENTRY = new URL(`./job-thread-main.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)

const NEW_MEGABYTES = 16
/** Milliseconds after which a thread without a job ends, and gives its memory back. */
const IDLE = 30_000

interface WaitingJob {
  onPart(part: unknown): void
  resolve(result: never): void
  reject(cause: unknown): void
}

/**
 * A thread that reads sealed lines for the server, one job after the other, so that the server answers meanwhile. It
 * starts with its first job, and again after it has ended unexpectedly.
 */
export class JobThread implements AsyncDisposable {
  #worker: Worker | null = null
  #waiting = new Map<number, WaitingJob>()
  #number = 0
  #disposed = false
  #idle: NodeJS.Timeout | undefined

  /** Rejects with what the job throws, and with `worker-failed` if the thread ends before. */
  run<Name extends JobName>(
    name: Name,
    given: Jobs[Name]['given'],
    onPart: (part: Jobs[Name]['part']) => void = () => {},
  ): Promise<Jobs[Name]['result']> {
    if (this.#disposed) return Promise.reject(new HarnessError('worker-failed', 'The server has stopped.'))
    const worker = this.#worker ?? this.#start()
    const number = this.#number++
    return new Promise<Jobs[Name]['result']>((resolve, reject) => {
      this.#waiting.set(number, { onPart, resolve, reject } as unknown as WaitingJob)
      worker.ref()
      worker.postMessage({ number, name, given } satisfies JobMessage<Name>)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true
    clearTimeout(this.#idle)
    await this.#worker?.terminate()
  }

  #start(): Worker {
    // Lines are parsed and dropped at once: a small part of the heap for new objects is enough.
    const worker = new Worker(ENTRY, { resourceLimits: { maxYoungGenerationSizeMb: NEW_MEGABYTES } })
    this.#worker = worker
    worker.on('message', (message: ThreadMessage) => this.#receive(message))
    let cause: Error | null = null
    worker.on('error', (error) => {
      cause = error as Error
    })
    worker.on('exit', () => {
      // Another one may have started since this one was idle.
      if (this.#worker !== null && this.#worker !== worker) return
      this.#worker = null
      const failed = new HarnessError(
        'worker-failed',
        `The thread that reads sealed lines ended: ${cause?.message ?? 'it was stopped'}.`,
        { cause },
      )
      for (const { reject } of this.#waiting.values()) reject(failed)
      this.#waiting.clear()
    })
    return worker
  }

  /** A thread without a job does not keep the process alive, and ends after a while. */
  #rest(): void {
    this.#worker?.unref()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      if (this.#waiting.size > 0) return
      void this.#worker?.terminate()
      this.#worker = null
    }, IDLE).unref()
  }

  #receive(message: ThreadMessage): void {
    const job = this.#waiting.get(message.number)
    if (!job) return
    if (message.kind === 'part') {
      job.onPart(message.part)
      return
    }
    this.#waiting.delete(message.number)
    if (this.#waiting.size === 0) this.#rest()
    if (message.kind === 'result') job.resolve(message.result as never)
    else
      job.reject(new HarnessError((message.code ?? 'worker-failed') as HarnessErrorCode, message.message.split('\n')))
  }
}
