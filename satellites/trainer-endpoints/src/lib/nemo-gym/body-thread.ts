import { Worker } from 'node:worker_threads'
import { WireError, type WireErrorCode } from '@episodic/protocol'
import { BODY_JOBS } from './body-jobs.ts'

type Jobs = typeof BODY_JOBS

export interface BodyRequest {
  readonly job: keyof Jobs
  readonly text: string
}

export type BodyAnswer = { readonly result: unknown } | { readonly code: WireErrorCode; readonly message: string }

/** The code of the thread: beside this file in the source, and beside the bundle that contains this file. */
const ENTRY = new URL(`./body-thread-main.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
/** Characters up to which a body is parsed at once: it holds too little to keep other requests waiting. */
const SHORT = 65_536
/** Megabytes that the objects of one body may take. */
const HEAP = 1_024

/** Does the jobs of bodies: of long ones in a thread, one by one, so that no other request waits for its parser. */
export class BodyThread {
  #worker: Worker | null = null
  #last: Promise<unknown> = Promise.resolve()

  /** Rejects as the job throws, and with `too-large` for a body whose objects take more memory than they may. */
  async run<Job extends keyof Jobs>(job: Job, text: string): Promise<ReturnType<Jobs[Job]>> {
    if (text.length <= SHORT) return BODY_JOBS[job](text) as ReturnType<Jobs[Job]>
    const answering = this.#last.then(() => this.#ask({ job, text }))
    this.#last = answering.catch(() => {})
    const answer = await answering
    if ('code' in answer) throw new WireError(answer.code, answer.message)
    return answer.result as ReturnType<Jobs[Job]>
  }

  async end(): Promise<void> {
    await this.#worker?.terminate()
  }

  async #ask(request: BodyRequest): Promise<BodyAnswer> {
    const worker = this.#worker ?? this.#start()
    const { promise, resolve, reject } = Promise.withResolvers<BodyAnswer>()
    const fail = (cause: unknown) =>
      reject((cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge(cause) : cause)
    const ended = () => fail(new Error('The thread that parses bodies ended.'))
    worker.once('message', resolve).once('error', fail).once('exit', ended)
    worker.ref()
    worker.postMessage(request)
    try {
      return await promise
    } finally {
      worker.unref()
      worker.off('message', resolve).off('error', fail).off('exit', ended)
    }
  }

  #start(): Worker {
    const worker = new Worker(ENTRY, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: HEAP } })
    this.#worker = worker
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null
    })
    return worker
  }
}

function tooLarge(cause: unknown): WireError {
  return new WireError('too-large', 'This body takes too much memory to be read. Send less at once.', { cause })
}
