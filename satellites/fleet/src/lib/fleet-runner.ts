import { InFlight } from '@episodic/play/play/episodes/in-flight'
import type { EarlierParts, Runner } from '@episodic/play/play/episodes/open-runner'
import type { RunContext } from '@episodic/play/play/episodes/rollout'
import { parseSealedRecord, type SealedRecord } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { machineClock, type WaitingClock } from '@episodic/run/base/waiting-clock'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import type { RunManifest } from '@episodic/run/folder/record/run-folder'
import { type JobMessage, jobIdOf, readMessage, signedPlaces } from './fleet-messages.ts'
import {
  type Coordination,
  type CoordinatorInfo,
  LEASE,
  type QueuedJob,
  type QueuedResult,
  type RunEntry,
  type RunQueue,
  type WorkerInfo,
} from './run-queue.ts'
import type { Signer } from './signer.ts'

export interface FleetRunnerOptions {
  readonly queue: RunQueue
  readonly entryOf: (manifest: RunManifest, elapsed: number) => RunEntry
  /** Episodes of each planned episode: more than 1 for trees. */
  readonly leaves: number
  readonly owner: CoordinatorInfo
  readonly signer: Signer
  /** Receives a sentence for what an operator has to know. */
  readonly warn: (notice: string) => void
  readonly signal: AbortSignal
  readonly lease?: number | undefined
  readonly clock?: WaitingClock | undefined
}

/** Jobs in the queue for each slot of the workers, so that no slot waits for the coordinator. */
const JOBS_PER_SLOT = 4
/** Jobs in the queue while no worker is there. */
const FEWEST_JOBS = 4
/** Times that an episode is asked for, if what comes back was not written by a worker. */
const MOST_ASKED = 3
/** Longest time between two signs of life, in milliseconds. */
const HEARTBEAT = 1_000
/** Milliseconds without any worker after which that is said. */
const LONELY_AFTER = 5_000
/** Most jobs or results of one message. */
const BATCH = 1_000

/** Failures that say nothing of an episode, if an earlier coordinator was there when it failed. */
const OUTAGES = ['model-refused', 'model-unavailable', 'connection-failed']

interface AskedJob {
  readonly job: QueuedJob
  readonly onAnswer: RunContext['onAnswer']
  readonly answer: PromiseWithResolvers<JobMessage | null>
}

/**
 * Plays in a fleet: `runTask` puts a job into the queue and resolves when a worker has sealed it. A result stays in the
 * queue until the run has stored its records (`onStored`), so that nothing is lost if this process ends. `inFlight`
 * follows the slots of the workers.
 *
 * If the run is interrupted, jobs that were not begun are withdrawn; those that were are played to their end, and their
 * results wait in the queue for the run to be resumed.
 */
export class FleetRunner implements Runner {
  readonly inFlight = new InFlight(FEWEST_JOBS)
  readonly #options: FleetRunnerOptions
  readonly #clock: WaitingClock
  readonly #lease: number
  readonly #closing = new AbortController()
  #run: RunEntry | null = null
  #hasStored: EarlierParts['hasStored'] = () => false
  #coordination: Coordination | null = null
  #loops: Promise<void>[] = []
  readonly #asked = new Map<string, AskedJob>()
  /** Jobs with a result that the run has not stored: its key, and how many of its records are to be stored. */
  readonly #unstored = new Map<string, { readonly key: string; records: number }>()
  /** Results of an earlier coordinator, until the plan comes to their episodes. */
  readonly #early = new Map<string, { readonly key: string; readonly message: JobMessage }>()
  /** Jobs that were asked for again, before the queue may have forgotten their last play. */
  readonly #again = new Set<string>()
  #toAdd: QueuedJob[] = []
  #toAcknowledge: { readonly job: string; readonly key: string }[] = []
  #sending: Promise<void> | null = null
  readonly #signals = new WeakSet<AbortSignal>()
  #isComplete = false
  #failure: unknown = null
  #workers: readonly WorkerInfo[] = []
  /** When a worker played the run last. */
  #accompanied = 0
  #notice = ''

  constructor(options: FleetRunnerOptions) {
    this.#options = options
    this.#clock = options.clock ?? machineClock
    this.#lease = options.lease ?? LEASE
  }

  readonly begin: NonNullable<Runner['begin']> = async (manifest, { elapsed, hasStored }) => {
    const { queue, entryOf, owner, signal } = this.#options
    this.#run = entryOf(manifest, elapsed)
    this.#hasStored = hasStored
    try {
      this.#coordination = await queue.coordinate(this.#run, owner, signal)
      this.#accompanied = this.#clock.now()
      await this.#renew()
    } catch (error) {
      // A queue that does not answer is closed then.
      signal.throwIfAborted()
      throw error
    }
    this.#loops = [this.#keepLease(), this.#readResults()]
  }

  readonly runTask: Runner['runTask'] = async (planned, context) => {
    const id = jobIdOf(planned)
    for (let asked = 1; ; asked++) {
      const message = await this.#ask(id, planned, context)
      switch (message?.kind) {
        case 'played':
          return message.records
        case 'failed':
          this.#release(id)
          throw new HarnessError(message.code ?? 'worker-failed', message.message.split('\n'))
        case 'left':
          this.#release(id)
          this.#options.warn(
            `${planned.task.id}, attempt ${planned.attempt}, is left unplayed: ${message.lost} workers ended while playing it.`,
          )
          return []
        case 'refused': {
          this.#release(id)
          const again = asked < MOST_ASKED ? 'It is played again.' : 'It is left unplayed.'
          this.#options.warn(
            `${planned.task.id}, attempt ${planned.attempt}: a text in the queue was refused. ${message.why} ${again}`,
          )
          this.#again.add(id)
          if (asked < MOST_ASKED) continue
          return []
        }
        default:
          return []
      }
    }
  }

  readonly onStored = (record: SealedRecord): void => {
    const attempt = Math.floor(record.attempt / this.#options.leaves)
    const id = jobIdOf({ task: record.task, attempt, try: record.try })
    const unstored = this.#unstored.get(id)
    if (!unstored) return
    unstored.records -= 1
    if (unstored.records === 0) this.#release(id)
  }

  readonly onComplete = (): void => {
    this.#isComplete = true
  }

  readonly describe = (): string => {
    const [count, slots] = [this.#playing.length, this.#slots]
    return `${count} ${count === 1 ? 'worker' : 'workers'}, ${slots} ${slots === 1 ? 'slot' : 'slots'}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    // The last sign of life comes before the end, or it would announce the run again.
    await Promise.all(this.#loops)
    await this.#end()
    await this.#options.queue[Symbol.asyncDispose]()
  }

  async #end(): Promise<void> {
    const coordination = this.#coordination
    if (!coordination || this.#failure) return
    try {
      // What is left of an earlier coordinator belongs to episodes that are stored.
      if (this.#isComplete) for (const [job, { key }] of this.#early) this.#toAcknowledge.push({ job, key })
      this.#toAdd = []
      this.#send()
      await this.#sending
      if (!this.#isComplete) await coordination.withdraw()
      const { open, unread } = await coordination.end(this.#isComplete)
      if (this.#isComplete && (open > 0 || unread > this.#unstored.size))
        this.#options.warn(
          `The run is over, and the queue still had ${open} jobs and ${unread} results of it: Redis had lost its last moments, and they came back. They were removed.`,
        )
    } catch (error) {
      // The queue has reported that it does not answer.
      if (!HarnessError.is(error, 'queue-unavailable')) this.#options.warn((error as Error).message)
    } finally {
      await coordination[Symbol.asyncDispose]()
    }
  }

  async #ask(id: string, planned: PlannedEpisode, { signal, onAnswer }: RunContext): Promise<JobMessage | null> {
    if (this.#failure) throw this.#failure
    this.#stopWith(signal)
    if (signal.aborted) return null
    const early = this.#early.get(id)
    if (early) {
      this.#early.delete(id)
      this.#note(id, early.key, early.message)
      if (!isOutage(early.message)) return early.message
    }
    // The result of an earlier play of this try, which the run did not store.
    this.#release(id)
    const { task, attempt, try: number = 0, curriculum } = planned
    const payload = this.#options.signer.sign(
      signedPlaces.job(this.#run?.id ?? '', id),
      JSON.stringify({ task, attempt, try: number, curriculum }),
    )
    const asked: AskedJob = { job: { id, payload }, onAnswer, answer: Promise.withResolvers() }
    this.#asked.set(id, asked)
    this.#toAdd.push(asked.job)
    this.#send()
    return asked.answer.promise
  }

  #stopWith(signal: AbortSignal): void {
    if (this.#signals.has(signal)) return
    this.#signals.add(signal)
    const stop = () => {
      for (const { answer } of this.#asked.values()) answer.resolve(null)
      this.#asked.clear()
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  }

  #release(id: string): void {
    const unstored = this.#unstored.get(id)
    if (!unstored) return
    this.#unstored.delete(id)
    this.#toAcknowledge.push({ job: id, key: unstored.key })
    this.#send()
  }

  #note(id: string, key: string, message: JobMessage): void {
    this.#unstored.set(id, { key, records: message.kind === 'played' ? message.records.length : 0 })
  }

  /** What comes meanwhile goes into one message. */
  #send(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null
    })
  }

  async #sendAll(): Promise<void> {
    const coordination = this.#coordination as Coordination
    try {
      // A job that is played again is added after the result of its last play was removed.
      while (this.#toAcknowledge.length > 0 || this.#toAdd.length > 0) {
        const jobs = this.#toAdd.splice(0, BATCH)
        while (this.#toAcknowledge.length > 0) await coordination.acknowledge(this.#toAcknowledge.splice(0, BATCH))
        if (jobs.length > 0) await coordination.add(jobs)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  async #readResults(): Promise<void> {
    try {
      for await (const batch of (this.#coordination as Coordination).results(this.#closing.signal))
        for (const result of batch) this.#receive(result)
    } catch (error) {
      this.#fail(error)
    }
  }

  #receive({ job, key, text }: QueuedResult): void {
    // Delivered again.
    if (this.#unstored.get(job)?.key === key || this.#early.get(job)?.key === key) return
    const message = this.#read(job, text)
    const asked = this.#asked.get(job)
    if (message.kind === 'answered') {
      // What it took is in the episode, once it is sealed.
      asked?.onAnswer?.({ policy: message.policy, isKept: false, spent: { id: null, tokens: 0, cost: 0 } })
      this.#toAcknowledge.push({ job, key })
      this.#send()
    } else if (asked) {
      this.#asked.delete(job)
      this.#again.delete(job)
      this.#note(job, key, message)
      asked.answer.resolve(message)
    } else if (message.kind === 'played' && message.records.every(this.#hasStored)) {
      // The earlier coordinator ended before it acknowledged what it had stored.
      this.#toAcknowledge.push({ job, key })
      this.#send()
    } else this.#early.set(job, { key, message })
  }

  #read(job: string, signed: string): JobMessage {
    const { signer } = this.#options
    try {
      const message = readMessage(signer.open(signedPlaces.result(this.#run?.id ?? '', job), signed))
      // Anyone who can write to the queue can make a digest. Only with a secret it is clear that a worker has written
      // this.
      if (message.kind === 'played' && !signer.isSecret) assertRecords(message, job, this.#options.leaves)
      return message
    } catch (error) {
      return { kind: 'refused', why: (error as Error).message }
    }
  }

  async #keepLease(): Promise<void> {
    const { signal } = this.#closing
    let checked = this.#clock.now()
    while (!signal.aborted) {
      await this.#clock.wait(Math.min(HEARTBEAT, this.#lease / 6), signal)
      if (signal.aborted) return
      try {
        await this.#renew()
        // A Redis that crashed may have lost jobs that it had accepted. The end of its last play may take one that is
        // asked for again.
        const isDue = this.#clock.now() - checked >= this.#lease
        if (isDue) checked = this.#clock.now()
        const waiting = [...this.#asked.values()].map(({ job }) => job).filter(({ id }) => isDue || this.#again.has(id))
        for (let i = 0; i < waiting.length; i += BATCH)
          await this.#coordination?.add(waiting.slice(i, i + BATCH).filter(({ id }) => this.#asked.has(id)))
      } catch (error) {
        return this.#fail(error)
      }
    }
  }

  async #renew(): Promise<void> {
    const place = signedPlaces.life(this.#run?.id ?? '')
    const toLife = (until: number) => this.#options.signer.sign(place, String(until))
    this.#workers = (await this.#coordination?.renew(toLife)) ?? []
    const jobs = Math.ceil((JOBS_PER_SLOT * this.#slots) / this.#options.leaves)
    this.inFlight.count = Math.max(FEWEST_JOBS, jobs)
    if (this.#playing.length > 0) {
      this.#accompanied = this.#clock.now()
      this.#notice = ''
    } else if (this.#clock.now() - this.#accompanied > LONELY_AFTER) this.#warnNoWorkers()
  }

  /** Warns once that no worker plays the run, and why each worker declined; again only if that changes. */
  #warnNoWorkers(): void {
    const declined = this.#workers.flatMap(({ host, pid, declines }) => {
      const why = declines[this.#run?.id ?? '']
      return why === undefined ? [] : [`Process ${pid} on ${host} does not: ${why}`]
    })
    const notice = ['No worker plays this run now. Start one: episodic queue work --queue …', ...declined].join('\n')
    if (notice !== this.#notice) this.#options.warn(notice)
    this.#notice = notice
  }

  get #playing(): readonly WorkerInfo[] {
    return this.#workers.filter(({ plays }) => plays.includes(this.#run?.id ?? ''))
  }

  get #slots(): number {
    return this.#playing.reduce((sum, { slots }) => sum + slots, 0)
  }

  #fail(error: unknown): void {
    if (this.#closing.signal.aborted) return
    this.#failure ??= error
    for (const { answer } of this.#asked.values()) answer.reject(error)
    this.#asked.clear()
  }
}

function assertRecords({ records }: Extract<JobMessage, { kind: 'played' }>, job: string, leaves: number): void {
  if (records.length === 0) throw new HarnessError('queue-tampered', 'A result has no sealed episode.')
  for (const record of records) {
    const parsed = parseSealedRecord(record)
    if (!parsed.success) throw new HarnessError('queue-tampered', 'A result is not a sealed episode.')
    const { task, attempt, try: number } = parsed.data
    if (jobIdOf({ task, attempt: Math.floor(attempt / leaves), try: number }) !== job)
      throw new HarnessError('queue-tampered', 'A result is of another episode.')
  }
}

function isOutage(message: JobMessage): boolean {
  return (
    message.kind === 'failed' ||
    (message.kind === 'played' &&
      message.records.every(({ outcome }) => outcome.kind === 'failed' && OUTAGES.includes(outcome.error.code)))
  )
}
