import { orAborted } from '@episodic/fleet/or-aborted'
import {
  type Announced,
  type Consumer,
  type Coordination,
  type CoordinatorInfo,
  LEASE,
  type Membership,
  type QueuedJob,
  type QueuedResult,
  type QueueStatus,
  type RunAccount,
  type RunEntry,
  type RunQueue,
  type RunQueueOptions,
  type TakenJob,
  type WorkerInfo,
} from '@episodic/fleet/run-queue'
import { HarnessError } from '@episodic/run/base/harness-error'
import { machineClock, type WaitingClock } from '@episodic/run/base/waiting-clock'
import { QueueModel, type RunLease } from './queue-model.ts'

/**
 * The way from a process to the queue. On it a call may be slow, be lost before or after it was done, and be sent
 * again.
 */
export interface Link {
  send<T>(call: () => T | Promise<T>): Promise<T>
  /** Whether the process has ended: the queue gives nothing more to it. */
  isCut(): boolean
}

const DIRECT: Link = { send: async (call) => call(), isCut: () => false }

export interface MemoryQueueOptions extends RunQueueOptions {
  /** What the queue keeps. Several queues may share it, as processes share a Redis. Default: one of its own. */
  readonly model?: QueueModel
  /** Default: one that is never lost, and takes no time. */
  readonly link?: Link
  /** Whether a coordinator is known to have ended. Default: it is never known. */
  readonly hasEnded?: (coordinator: CoordinatorInfo) => boolean
}

/** Most results of one batch. */
const BATCH = 512

/**
 * Opens a queue in this process, which keeps nothing through its end: for simulations, and for tests of what is built
 * on a queue.
 */
export function createMemoryQueue(options: MemoryQueueOptions = {}): RunQueue {
  const { lease = LEASE, clock = machineClock, hasEnded = () => false } = options
  const { model = new QueueModel(() => clock.now(), lease), link = DIRECT } = options
  return new MemoryQueue({ model, link, lease, clock, hasEnded, closed: new AbortController() })
}

interface Parts {
  readonly model: QueueModel
  readonly link: Link
  readonly lease: number
  readonly clock: WaitingClock
  readonly hasEnded: (coordinator: CoordinatorInfo) => boolean
  readonly closed: AbortController
}

let tokens = 0

class MemoryQueue implements RunQueue {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async coordinate(run: RunEntry, owner: CoordinatorInfo, signal: AbortSignal): Promise<Coordination> {
    const { model, lease, clock, hasEnded } = this.#parts
    const token = `coordinator:${tokens++}`
    let seen = { token: '', until: 0 }
    for (let ended = ''; ; ) {
      signal.throwIfAborted()
      const held = await send(this.#parts, () => model.coordinate(run, owner, { token, ended }))
      if (held === 'differs') throw new HarnessError('run-mismatch', `The queue holds another run of the id ${run.id}.`)
      if (held.token === token) return new MemoryCoordination(this.#parts, run, owner, held)
      if (seen.token === held.token && seen.until !== held.until)
        throw new HarnessError('run-locked', `Process ${held.pid} on ${held.host} coordinates this run.`)
      seen = held
      if (hasEnded(held)) ended = held.token
      else await clock.wait(lease / 2, signal)
    }
  }

  async join({ id }: WorkerInfo): Promise<Membership> {
    return new MemoryMembership(this.#parts, id)
  }

  status(): Promise<QueueStatus> {
    return send(this.#parts, () => this.#parts.model.status())
  }

  checkWritable(): Promise<void> {
    return send(this.#parts, () => {})
  }

  setPaused(isPaused: boolean): Promise<void> {
    return send(this.#parts, () => this.#parts.model.setPaused(isPaused))
  }

  remove(run: string): Promise<boolean> {
    return send(this.#parts, () => this.#parts.model.remove(run))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts.closed.abort()
  }
}

class MemoryCoordination implements Coordination {
  readonly #parts: Parts
  readonly #run: RunEntry
  readonly #owner: CoordinatorInfo
  readonly #lease: Pick<RunLease, 'token' | 'since'>
  #isEnded = false

  constructor(parts: Parts, run: RunEntry, owner: CoordinatorInfo, lease: Pick<RunLease, 'token' | 'since'>) {
    this.#parts = parts
    this.#run = run
    this.#owner = owner
    this.#lease = lease
  }

  async add(jobs: readonly QueuedJob[]): Promise<void> {
    await this.#call((model, token) => model.add(this.#run.id, token, jobs))
  }

  async *results(signal: AbortSignal): AsyncGenerator<readonly QueuedResult[]> {
    const { model, link } = this.#parts
    for (let last = 0, connection = -1; !signal.aborted; ) {
      const batch = await orAborted(
        send(this.#parts, () => {
          // What was read before the queue crashed may have been lost, and comes again under other keys.
          if (model.crashes !== connection) last = 0
          connection = model.crashes
          return model.read(this.#run.id, { after: last, most: BATCH, isGone: () => signal.aborted || link.isCut() })
        }),
        signal,
      )
      if (!batch || batch.length === 0) continue
      last = Number(batch.at(-1)?.key)
      yield batch
    }
  }

  async acknowledge(results: readonly Pick<QueuedResult, 'job' | 'key'>[]): Promise<void> {
    await this.#call((model, token) => model.acknowledge(this.#run.id, token, results))
  }

  withdraw(): Promise<number> {
    return this.#call((model, token) => model.withdraw(this.#run.id, token))
  }

  renew(toLife: (until: number) => string): Promise<readonly WorkerInfo[]> {
    return this.#call((model, token) => model.renewLease(this.#run.id, token, toLife))
  }

  account(): Promise<RunAccount> {
    return send(this.#parts, () => this.#parts.model.account(this.#run.id))
  }

  async end(isComplete: boolean): Promise<RunAccount> {
    const account = await this.#call((model, token) => model.end(this.#run.id, token, isComplete))
    this.#isEnded = true
    return account
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isEnded) await this.end(false).catch(() => {})
  }

  /** Sends a call that needs the lease, which a crash of the queue may have lost. */
  #call<T>(call: (model: QueueModel, token: string) => T | null): Promise<T> {
    const { model } = this.#parts
    const { token, since } = this.#lease
    return send(this.#parts, () => {
      let done = call(model, token)
      if (done === null) {
        model.coordinate(this.#run, this.#owner, { token, since })
        done = call(model, token)
      }
      if (done === null) throw new HarnessError('run-locked', 'Another process coordinates this run now.')
      return done
    })
  }
}

class MemoryMembership implements Membership {
  readonly #parts: Parts
  readonly #worker: string
  #taken = 0

  constructor(parts: Parts, worker: string) {
    this.#parts = parts
    this.#worker = worker
  }

  renew(info: WorkerInfo): Promise<Announced> {
    return send(this.#parts, () => this.#parts.model.renewWorker(info))
  }

  consume(run: string, slots: number, play: (job: TakenJob) => Promise<void>): Consumer {
    const consumer = `${this.#worker}:consumer:${tokens++}`
    const nextToken = () => `${this.#worker}:${this.#taken++}`
    return new MemoryConsumer(this.#parts, { run, consumer, slots, play, nextToken })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return send(this.#parts, () => this.#parts.model.leave(this.#worker))
  }
}

interface ConsumerParts {
  readonly run: string
  /** Its name at the queue. */
  readonly consumer: string
  readonly slots: number
  readonly play: (job: TakenJob) => Promise<void>
  readonly nextToken: () => string
}

class MemoryConsumer implements Consumer {
  readonly #parts: Parts
  readonly #own: ConsumerParts
  readonly #closing = new AbortController()
  readonly #over = new AbortController()
  readonly #held = new Map<string, AbortController>()
  readonly #playing = new Set<Promise<void>>()
  readonly #renewing: Promise<void>
  #slots: number
  #changed = Promise.withResolvers<void>()

  constructor(parts: Parts, own: ConsumerParts) {
    this.#parts = parts
    this.#own = own
    this.#slots = own.slots
    void this.#take()
    this.#renewing = this.#renew()
  }

  get slots(): number {
    return this.#slots
  }

  set slots(count: number) {
    this.#slots = count
    this.#change()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#change()
    await Promise.all(this.#playing)
    this.#over.abort()
    await this.#renewing
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  async #take(): Promise<void> {
    const { model, link, closed } = this.#parts
    const { run, consumer } = this.#own
    const { signal } = this.#closing
    const isGone = () => signal.aborted || closed.signal.aborted || link.isCut()
    while (!signal.aborted) {
      const free = this.#slots - this.#playing.size
      if (free <= 0) {
        await this.#changed.promise
        continue
      }
      const jobs = await send(this.#parts, () => model.take(run, consumer, { most: free, isGone })).catch(() => null)
      if (jobs === null) return
      if (signal.aborted) {
        for (const { id } of jobs) await send(this.#parts, () => model.release(run, consumer, id, '')).catch(() => {})
        return
      }
      // The run is not there: the queue lost it, or it is over.
      if (jobs.length === 0) await this.#parts.clock.wait(this.#parts.lease / 9, signal)
      for (const job of jobs) {
        const played = this.#play(job).finally(() => {
          this.#playing.delete(played)
          this.#change()
        })
        this.#playing.add(played)
      }
    }
  }

  async #play({ id, payload }: QueuedJob): Promise<void> {
    const { model } = this.#parts
    const { run, consumer, play, nextToken } = this.#own
    const token = nextToken()
    const lost = new AbortController()
    this.#held.set(id, lost)
    let isOver = false
    const giveBack = async () => {
      isOver = true
      await send(this.#parts, () => model.release(run, consumer, id, token))
    }
    try {
      await play({
        id,
        payload,
        signal: lost.signal,
        begin: async () => {
          const plays = await send(this.#parts, () => model.begin(run, id, token))
          return plays === null ? null : { lost: plays }
        },
        report: (text) => send(this.#parts, () => model.report(run, id, token, text)),
        seal: (text) => {
          isOver = true
          return send(this.#parts, () => model.seal(run, id, { consumer, token, text }))
        },
        giveBack,
      })
    } finally {
      this.#held.delete(id)
    }
    if (!isOver) await giveBack().catch(() => {})
  }

  /** Keeps the jobs of this worker, and lets those go that were given to others. */
  async #renew(): Promise<void> {
    const { model, clock, lease } = this.#parts
    const { run, consumer } = this.#own
    const { signal } = this.#over
    for (;;) {
      await clock.wait(lease / 2, signal)
      if (signal.aborted) return
      const jobs = [...this.#held.keys()]
      const lost = await send(this.#parts, () => model.renewJobs(run, consumer, jobs)).catch(() => null)
      if (lost === null) return
      for (const job of lost) this.#held.get(job)?.abort(new Error('the job was given to another worker'))
    }
  }
}

/** Sends a call. Rejects with `queue-unavailable` if the queue was closed. */
async function send<T>({ link, closed }: Parts, call: () => T | Promise<T>): Promise<T> {
  if (closed.signal.aborted) throw new HarnessError('queue-unavailable', 'The queue was closed.')
  return link.send(call)
}
