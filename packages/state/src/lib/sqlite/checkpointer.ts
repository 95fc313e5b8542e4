import { Worker } from 'node:worker_threads'

/** Writes after which pages are moved from the log to the file. */
const WRITES = 1_000

/** The code of the thread, as a text for bundlers. If the file cannot be opened, it throws and the thread ends. */
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
 * Moves pages from the log to the file in a worker thread, since reading, writing and syncing the disk would block
 * every session. It is optional: SQLite moves the remaining pages in a commit once the log is long.
 */
export class SqliteCheckpointer {
  readonly #path: string
  #worker: Worker | null = null
  #busy = false
  #writes = 0

  constructor(path: string) {
    this.#path = path
  }

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
    // Separate streams: inherited ones would make the process's own writes to a pipe asynchronous.
    const worker = new Worker(THREAD, { eval: true, workerData: this.#path, stdout: true, stderr: true })
    worker.unref()
    worker.on('message', () => {
      this.#busy = false
    })
    // After an error it stays busy, and no other thread is started.
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.#worker = null
    })
    return worker
  }
}
