import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { ViewedRun } from '../folder/viewed-run.ts'
import type { ViewedRuns } from '../folder/viewed-runs.ts'
import { HttpProblem } from '../http-problem.ts'
import { begin, type Exchange } from './answer.ts'

/** Milliseconds between two events of a run: at most four in a second. */
const INTERVAL = 250
/** Streams at once: a browser has one for all of its tabs. */
const MOST_CLIENTS = 64
/** Milliseconds after which a silent connection gets a comment, so that nothing on the way closes it. */
const HEARTBEAT = 15_000
/** Bytes that a client may leave unread before its connection is closed. It connects again, and misses nothing. */
const MOST_UNREAD = 1024 ** 2

/**
 * The events of runs, as a stream for each client: `run` with the entry of a run and the number of its rows, and
 * `inFlight` with the id of a run and the episodes that it plays. A client that connects again gets what it has missed.
 */
export class RunEvents {
  readonly #runs: ViewedRuns
  readonly #clients = new Set<ServerResponse>()
  /**
   * The prefix of the ids of events. It is drawn again after a time without listeners, so that ids from before are
   * not taken for places in the new sequence.
   */
  #start = drawStart()
  #number = 0
  /** The number of the last event of each run. */
  readonly #last = new Map<string, number>()
  /** When the next event of a run may be sent, and whether it waits for that. */
  readonly #due = new Map<string, { at: number; waits: boolean }>()
  #stop: (() => void) | null = null

  constructor(runs: ViewedRuns) {
    this.#runs = runs
  }

  /** Answers with a stream of events that ends with the request. */
  async answer({ request, response, signal }: Exchange): Promise<void> {
    if (this.#clients.size >= MOST_CLIENTS)
      throw new HttpProblem('busy', `This server follows runs for ${MOST_CLIENTS} browsers already. Close some.`)
    begin(response, 200, { 'content-type': 'text/event-stream' })
    response.write(': events of runs\n\n')
    const [start, number] = String(request.headers['last-event-id'] ?? '').split('-')
    const missed = this.#runs.all().filter((run) => {
      if (start === '') return run.isRunning
      return start !== this.#start || (this.#last.get(run.found.id) ?? 0) > Number(number)
    })
    this.#clients.add(response)
    this.#stop ??= this.#runs.listen((run, what) => (what === 'run' ? this.#schedule(run) : this.#sendInFlight(run)))
    const heartbeat = setInterval(() => response.write(': still there\n\n'), HEARTBEAT)
    signal.addEventListener('abort', () => {
      clearInterval(heartbeat)
      this.#clients.delete(response)
      if (this.#clients.size > 0) return
      this.#stop?.()
      this.#stop = null
      this.#start = drawStart()
    })
    // What happens meanwhile is sent too.
    for (const run of missed) await this.#send(run, [response])
  }

  #schedule(run: ViewedRun): void {
    const { id } = run.found
    const now = performance.now()
    const due = this.#due.get(id) ?? { at: now, waits: false }
    this.#due.set(id, due)
    if (due.waits) return
    due.waits = true
    setTimeout(
      () => {
        due.waits = false
        due.at = performance.now() + INTERVAL
        this.#number += 1
        this.#last.set(id, this.#number)
        void this.#send(run, [...this.#clients])
      },
      Math.max(0, due.at - now),
    ).unref()
  }

  async #send(run: ViewedRun, clients: readonly ServerResponse[]): Promise<void> {
    const data = { ...(await run.entry()), rows: run.rowsInMemory }
    this.#write(clients, `id: ${this.#start}-${this.#number}\nevent: run\ndata: ${JSON.stringify(data)}\n\n`)
  }

  #sendInFlight({ found, inFlight }: ViewedRun): void {
    const data = JSON.stringify({ run: found.id, inFlight })
    this.#write([...this.#clients], `event: inFlight\ndata: ${data}\n\n`)
  }

  #write(clients: readonly ServerResponse[], text: string): void {
    for (const client of clients) {
      if (client.writableLength > MOST_UNREAD) client.destroy()
      else client.write(text)
    }
  }
}

function drawStart(): string {
  return randomBytes(6).toString('hex')
}
