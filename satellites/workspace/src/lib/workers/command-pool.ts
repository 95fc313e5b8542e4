import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { pagesOfPart } from '@episodic/state/internal'
import type { ReadOnlyDisk } from '../disk/disk.ts'
import type { JobResult } from './job-result.ts'
import type { FromThread, Job, SentDisk, ToThread } from './messages.ts'

const ENTRY = import.meta.url.endsWith('.ts')
  ? new URL('../../command-thread-main.ts', import.meta.url)
  : new URL('./command-thread-main.js', import.meta.url)

/** Megabytes of objects that the commands of one thread may hold. */
const HEAP = 256

/** Megabytes that they may hold beside: buffers, and SQLite in WebAssembly. What is collected later counts too. */
const BUFFERS = 512
/** Megabytes of them after which a thread that has done its job is replaced, so that nothing holds them any more. */
const KEPT_BUFFERS = 256
const MEGABYTE = 1_048_576

/** Milliseconds between two looks at what a command holds. */
const LOOK = 50

/** Seconds that a thread may take to start, on a machine with much else to do. */
const STARTING = 120

/** Bytes of pages that a thread is sent at most; then a new one takes its place. */
const MOST_SENT = 256 * 1_024 * 1_024

/** What a job was ended for; the agent reads it. */
export class JobEnded extends Error {}

interface Waiting {
  readonly job: Job
  readonly disk: ReadOnlyDisk
  readonly seconds: number
  readonly signal: AbortSignal
  readonly resolve: (result: JobResult) => void
  readonly reject: (error: Error) => void
}

/** As many as cores, started as they are needed. */
const MOST_THREADS = Math.max(2, availableParallelism())
const threads = new Set<CommandThread>()
const queue: Waiting[] = []

/**
 * Runs a job over a disk in a thread. Rejects with {@link JobEnded} if it takes more than `seconds` or too much memory,
 * and with the reason of the signal.
 */
export async function runJob(job: Job, disk: ReadOnlyDisk, seconds: number, signal: AbortSignal): Promise<JobResult> {
  signal.throwIfAborted()
  // Parts of a large state cannot be sent as they are.
  const sendable = structuredClone(job)
  const { promise, resolve, reject } = Promise.withResolvers<JobResult>()
  const waiting = { job: sendable, disk, seconds, signal, resolve, reject }
  const giveUp = () => {
    const place = queue.indexOf(waiting)
    if (place < 0) return
    queue.splice(place, 1)
    reject(signal.reason)
  }
  queue.push(waiting)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    assign()
    return await promise
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

function assign(): void {
  while (queue.length > 0) {
    const idle = [...threads].findLast((thread) => thread.isIdle) ?? launch()
    if (!idle) return
    idle.take(queue.shift() as Waiting)
  }
}

function launch(): CommandThread | null {
  if (threads.size === MOST_THREADS) return null
  const thread = new CommandThread(assign, () => {
    threads.delete(thread)
    assign()
  })
  threads.add(thread)
  return thread
}

class CommandThread {
  readonly #worker: Worker
  readonly #onIdle: () => void
  readonly #onGone: () => void
  readonly #sent = new Set<string>()
  #sentBytes = 0
  #current: (Waiting & { begin(): void; release(): void }) | null = null
  #isReady = false
  #isGone = false

  constructor(onIdle: () => void, onGone: () => void) {
    this.#onIdle = onIdle
    this.#onGone = onGone
    this.#worker = new Worker(ENTRY, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: HEAP } })
    this.#worker.on('message', (message: FromThread) => this.#received(message))
    this.#worker.on('error', (error) => this.#end(endedBy(error)))
    this.#worker.on('exit', () => this.#end(new JobEnded('The command ended its computer.')))
    this.#worker.unref()
  }

  get isIdle(): boolean {
    return this.#current === null && !this.#isGone
  }

  take(waiting: Waiting): void {
    const { job, disk, signal, reject } = waiting
    const stop = (error: Error) => {
      this.#current?.release()
      this.#current = null
      reject(error)
      this.#end(error)
      void this.#worker.terminate()
    }
    const giveUp = () => stop(signal.reason)
    const unstarted = () => stop(new Error(`A thread for commands did not start within ${STARTING} seconds.`))
    let timer = setTimeout(unstarted, STARTING * 1_000)
    let look: NodeJS.Timeout | undefined
    const measure = async () => {
      const { external_memory: held } = await this.#worker.getHeapStatistics().catch(() => ({ external_memory: 0 }))
      if (this.#current?.job === job && held > BUFFERS * MEGABYTE) stop(new JobEnded(neededMore(BUFFERS)))
    }
    signal.addEventListener('abort', giveUp, { once: true })
    this.#current = {
      ...waiting,
      begin() {
        const { seconds } = waiting
        clearTimeout(timer)
        const late = () => stop(new JobEnded(`It ran for more than ${seconds} seconds and was ended.`))
        timer = setTimeout(late, seconds * 1_000)
        look = setInterval(() => void measure(), LOOK)
      },
      release() {
        clearTimeout(timer)
        clearInterval(look)
        signal.removeEventListener('abort', giveUp)
      },
    }
    // A thread that starts takes longer than most commands.
    if (this.#isReady) this.#current.begin()
    try {
      this.#worker.postMessage({ job, disk: this.#sendable(disk) } satisfies ToThread)
    } catch (error) {
      stop(error as Error)
    }
  }

  #sendable(disk: ReadOnlyDisk): SentDisk {
    const found = pagesOfPart(disk, this.#sent)
    // Without a page of its own, it may have parts of a large state in it.
    if (!found) return { plain: structuredClone(disk) }
    for (const [, text] of found.pages) this.#sentBytes += text.length
    return found
  }

  #received(message: FromThread): void {
    if (message.kind === 'ready') {
      this.#isReady = true
      this.#current?.begin()
      return
    }
    const current = this.#current
    this.#current = null
    if (!current) return
    current.release()
    this.#worker.unref()
    if (message.kind === 'done') current.resolve(message.result)
    else current.reject(Object.assign(new Error(message.message), { stack: message.stack }))
    if (this.#sentBytes <= MOST_SENT && message.held <= KEPT_BUFFERS * MEGABYTE) {
      this.#onIdle()
      return
    }
    this.#end(new Error())
    void this.#worker.terminate()
  }

  #end(error: Error): void {
    if (this.#isGone) return
    this.#isGone = true
    const current = this.#current
    this.#current = null
    current?.release()
    current?.reject(error)
    this.#onGone()
  }
}

function neededMore(megabytes: number): string {
  return `It needed more than ${megabytes} MB of memory and was ended.`
}

function endedBy(error: unknown): Error {
  const { code, message } = error as { readonly code?: string; readonly message?: string }
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return new JobEnded(neededMore(HEAP))
  if (code === 'ERR_MODULE_NOT_FOUND')
    return new Error(
      `The tools of a workspace need two packages. Install them: npm install just-bash@3 sql.js@1 (${message})`,
      { cause: error },
    )
  // A program has broken its thread.
  return new JobEnded('It broke down and was ended.')
}
