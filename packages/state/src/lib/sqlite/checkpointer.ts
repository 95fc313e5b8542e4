import { Worker } from 'node:worker_threads'

/** Writes after which their pages are moved from the log to the file. */
const WRITES = 1_000

/**
 * What the thread runs. A text, because a file of its own would have to be found again after any bundler; and its
 * first statement fails where the file cannot be opened, which ends the thread.
 */
const THREAD = `
  const { DatabaseSync } = require('node:sqlite')
  const { parentPort, workerData } = require('node:worker_threads')
  const database = new DatabaseSync(workerData)
  parentPort.on('message', (goOn) => {
    if (!goOn) {
      database.close()
      parentPort.close()
      return
    }
    try { database.exec('PRAGMA wal_checkpoint(PASSIVE)') } catch {}
    parentPort.postMessage(null)
  })
`

/**
 * Moves pages from the log to the file in a thread of its own: it reads, writes and waits for the disk, and would hold
 * every session meanwhile. It only ever helps. What it does not get to, SQLite does in a commit once the log is long.
 */
export class SqliteCheckpointer {
  readonly #path: string
  #worker: Worker | null = null
  #busy = false
  #writes = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Hears of writes that were committed. */
  wrote(writes: number): void {
    this.#writes += writes
    if (this.#writes < WRITES || this.#busy) return
    this.#writes = 0
    this.#busy = true
    this.#worker ??= this.#start()
    this.#worker.postMessage(true)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    worker.ref()
    const gone = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage(false)
    await gone
  }

  #start(): Worker {
    // Its streams are its own: joined with those of the process they would make that write to a pipe without waiting.
    const worker = new Worker(THREAD, { eval: true, workerData: this.#path, stdout: true, stderr: true })
    worker.unref()
    worker.on('message', () => {
      this.#busy = false
    })
    // Where it could not go on it stays busy, and no other is started.
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.#worker = null
    })
    return worker
  }
}
