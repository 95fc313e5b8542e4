import type {
  Announced,
  CoordinatorInfo,
  QueuedJob,
  QueuedResult,
  QueueStatus,
  RunAccount,
  RunEntry,
  WorkerInfo,
} from '@episodic/fleet/run-queue'
import { Journal, JournaledMap } from './journal.ts'

/** Who coordinates a run, and until when unless it renews its lease. */
export interface RunLease extends CoordinatorInfo {
  readonly token: string
  /** When it was taken. */
  readonly since: number
  readonly until: number
  /** What was given with its last renewal. */
  readonly life?: string
}

/** Waits for a worker, is played under the token of a worker, or is sealed by the result of a key. */
type JobState =
  | { readonly kind: 'waiting'; readonly payload: string; readonly lost: number }
  | { readonly kind: 'played'; readonly payload: string; readonly lost: number; readonly token: string }
  | { readonly kind: 'sealed'; readonly payload: string; readonly key: number; readonly token: string }

type Count = 'added' | 'sealed' | 'fenced' | 'lost' | 'withdrawn'

/** What a call asks for that waits until there is some. */
export interface Asked {
  /** Most of them at once. */
  readonly most: number
  /** Whether the client does not wait any more. */
  readonly isGone: () => boolean
}

/** A call of a client that waits for something to change. */
interface Blocked {
  /** Returns whether the call is over: there was something, or nobody waits any more. */
  readonly retry: () => boolean
  readonly reject: (error: Disconnected) => void
}

/** What is kept of one run. */
interface Run {
  readonly entry: { readonly digest: string; readonly announcement: string; readonly origin: number }
  readonly jobs: JournaledMap<string, JobState>
  /** The jobs that were given to a worker, and until when unless it renews them. */
  readonly held: JournaledMap<string, { readonly consumer: string; readonly until: number }>
  /** By their keys, which ascend. */
  readonly results: JournaledMap<number, { readonly job: string; readonly text: string }>
  readonly counts: JournaledMap<Count, number>
  /** Jobs to be given out, oldest first, from `next` on. One that is held, sealed or gone by its turn is skipped. */
  waiting: string[]
  next: number
  readonly takers: Set<Blocked>
  readonly readers: Set<Blocked>
  /** When jobs of workers that are silent were last looked for. */
  checked: number
}

/** Milliseconds after which changes are on disk. */
const SYNC_INTERVAL = 1_000

/** A connection ended before the answer to a call, which is to be sent again. */
export class Disconnected extends Error {}

/**
 * What a queue keeps, and what each call does to it: at once, and as a whole. Times are milliseconds of its own clock.
 *
 * `crash` loses what was changed since the last second ended, as Redis does with `appendfsync everysec`.
 */
export class QueueModel {
  readonly #now: () => number
  readonly #lease: number
  readonly #journal = new Journal()
  #synced = 0
  #crashes = 0
  #lastKey = 0
  readonly #runs = new JournaledMap<string, Run>(this.#journal)
  readonly #leases = new JournaledMap<string, RunLease>(this.#journal)
  readonly #workers = new JournaledMap<string, { readonly info: WorkerInfo; readonly until: number }>(this.#journal)
  readonly #flags = new JournaledMap<'paused', true>(this.#journal)

  constructor(now: () => number, lease: number) {
    this.#now = now
    this.#lease = lease
  }

  /** How often it has crashed. */
  get crashes(): number {
    return this.#crashes
  }

  /** Ends every connection, and loses what is not on disk yet. */
  crash(): void {
    this.#sync()
    this.#crashes += 1
    const blocked = [...this.#runs.values()].flatMap(({ takers, readers }) => [takers, readers])
    this.#journal.rollBack()
    for (const run of this.#runs.values()) {
      run.waiting = [...run.jobs.keys()].filter((job) => !run.held.has(job))
      run.next = 0
    }
    for (const calls of blocked) {
      for (const { reject } of calls) reject(new Disconnected())
      calls.clear()
    }
  }

  /**
   * Gives the lease of a run to a coordinator. Returns its lease, which another may have instead; `differs` if there is
   * a run of that id with another digest.
   *
   * @param ended - token of a coordinator that is known to have ended.
   * @param since - when this coordinator took the lease before. One that was taken earlier than that is back only
   *   because the queue has crashed.
   */
  coordinate(
    entry: RunEntry,
    owner: CoordinatorInfo,
    { token, ended = '', since }: { readonly token: string; readonly ended?: string; readonly since?: number },
  ): RunLease | 'differs' {
    this.#sync()
    const now = this.#now()
    const held = this.#leases.get(entry.id)
    const isOutdated = held !== undefined && since !== undefined && held.since < since
    if (held && held.token !== token && held.token !== ended && held.until > now && !isOutdated) return held
    const run = this.#runs.get(entry.id)
    if (run && run.entry.digest !== entry.digest) return 'differs'
    const life = held?.token === token ? held.life : undefined
    const lease = {
      ...owner,
      token,
      since: since ?? now,
      until: now + this.#lease,
      ...(life !== undefined && { life }),
    }
    this.#leases.set(entry.id, lease)
    if (!run || held?.token !== token) this.#runs.set(entry.id, this.#runOf(entry, run))
    return lease
  }

  /** Returns the workers that are alive; `null` if the coordinator does not have the lease. */
  renewLease(id: string, token: string, toLife: (until: number) => string): readonly WorkerInfo[] | null {
    this.#sync()
    const held = this.#leases.get(id)
    if (held?.token !== token) return null
    const until = this.#now() + this.#lease
    this.#leases.set(id, { ...held, until, life: toLife(until) })
    return this.#liveWorkers()
  }

  /** Adds jobs. Returns `null`, as the other calls of coordinators do, if this one does not have the lease. */
  add(id: string, token: string, jobs: readonly QueuedJob[]): true | null {
    const run = this.#coordinated(id, token)
    if (!run) return null
    for (const { id: job, payload } of jobs) {
      if (run.jobs.has(job)) continue
      run.jobs.set(job, { kind: 'waiting', payload, lost: 0 })
      run.waiting.push(job)
      count(run, 'added')
    }
    this.#giveOut(run)
    return true
  }

  /** Removes results, and the jobs that they sealed. */
  acknowledge(id: string, token: string, results: readonly Pick<QueuedResult, 'job' | 'key'>[]): true | null {
    const run = this.#coordinated(id, token)
    if (!run) return null
    for (const { job, key } of results) {
      run.results.delete(Number(key))
      const state = run.jobs.get(job)
      if (state?.kind === 'sealed' && state.key === Number(key)) run.jobs.delete(job)
    }
    return true
  }

  /** Removes the jobs that no worker has begun. Returns how many. */
  withdraw(id: string, token: string): number | null {
    const run = this.#coordinated(id, token)
    if (!run) return null
    const idle = [...run.jobs].filter(([, { kind }]) => kind === 'waiting').map(([job]) => job)
    for (const job of idle) run.jobs.delete(job)
    if (idle.length > 0) run.counts.set('withdrawn', (run.counts.get('withdrawn') ?? 0) + idle.length)
    return idle.length
  }

  account(id: string): RunAccount {
    const run = this.#runs.get(id)
    const of = (name: Count) => run?.counts.get(name) ?? 0
    let open = 0
    for (const { kind } of run?.jobs.values() ?? []) if (kind !== 'sealed') open += 1
    return {
      added: of('added'),
      sealed: of('sealed'),
      fenced: of('fenced'),
      lost: of('lost'),
      withdrawn: of('withdrawn'),
      open,
      unread: run?.results.size ?? 0,
    }
  }

  /** Ends a lease, and removes a run without jobs and results. Returns its account. */
  end(id: string, token: string, isComplete: boolean): RunAccount | null {
    this.#sync()
    if (this.#leases.get(id)?.token !== token) return null
    const account = this.account(id)
    this.#leases.delete(id)
    const run = this.#runs.get(id)
    if (isComplete || (run?.jobs.size === 0 && run.results.size === 0)) this.#runs.delete(id)
    return account
  }

  /**
   * Returns results after a key, in the order in which they were sealed; if there are none, resolves when there are.
   * Rejects with {@link Disconnected}.
   */
  read(
    id: string,
    { after, most, isGone }: Asked & { readonly after: number },
  ): readonly QueuedResult[] | Promise<readonly QueuedResult[]> {
    const read = (): readonly QueuedResult[] => {
      const found: QueuedResult[] = []
      for (const [key, { job, text }] of this.#runs.get(id)?.results ?? []) {
        if (key <= after) continue
        found.push({ job, key: String(key), text })
        if (found.length === most) break
      }
      return found
    }
    const found = read()
    if (found.length > 0) return found
    const run = this.#runs.get(id)
    if (!run) return []
    return block(run.readers, isGone, () => {
      const found = read()
      return found.length > 0 ? found : null
    })
  }

  /** Announces a worker. Returns the runs whose coordinator has renewed its lease. */
  renewWorker(info: WorkerInfo): Announced {
    this.#sync()
    const time = this.#now()
    // Shorter than the lease of its jobs: when another worker begins one, it is known that this one has ended.
    this.#workers.set(info.id, { info, until: time + this.#lease / 3 })
    const runs = [...this.#runs].flatMap(([id, { entry }]) => {
      const { until = 0, life } = this.#leases.get(id) ?? {}
      return until > time && life !== undefined
        ? [{ id, announcement: entry.announcement, life, origin: entry.origin }]
        : []
    })
    return { time, runs }
  }

  leave(worker: string): void {
    this.#sync()
    this.#workers.delete(worker)
  }

  /** Returns jobs for a worker; if there are none, resolves when there are. Rejects with {@link Disconnected}. */
  take(id: string, consumer: string, { most, isGone }: Asked): readonly QueuedJob[] | Promise<readonly QueuedJob[]> {
    this.#sync()
    const run = this.#runs.get(id)
    if (!run) return []
    const taken = this.#takeNow(run, consumer, most)
    if (taken.length > 0) return taken
    return block(run.takers, isGone, () => {
      const taken = this.#takeNow(run, consumer, most)
      return taken.length > 0 ? taken : null
    })
  }

  /**
   * Renews the jobs in a worker's hands, and gives those of workers that are silent to others. Returns the jobs that
   * are no longer its own.
   */
  renewJobs(id: string, consumer: string, jobs: readonly string[]): readonly string[] {
    this.#sync()
    const run = this.#runs.get(id)
    if (!run) return jobs
    const now = this.#now()
    const lost = jobs.filter((job) => run.held.get(job)?.consumer !== consumer)
    const isLost = new Set(lost)
    for (const job of jobs) if (!isLost.has(job)) run.held.set(job, { consumer, until: now + this.#lease })
    if (now - run.checked >= this.#lease / 2) {
      run.checked = now
      for (const [job, { until }] of run.held) if (until <= now) this.#letGo(run, job)
      this.#giveOut(run)
    }
    return lost
  }

  /** Begins a job. Returns how many plays of it ended with their worker; `null` if there is nothing to play. */
  begin(id: string, job: string, token: string): number | null {
    this.#sync()
    const run = this.#runs.get(id)
    const state = run?.jobs.get(job)
    if (!run || !state || state.kind === 'sealed') return null
    let { lost } = state
    if (state.kind === 'played' && state.token !== token && !this.#isAlive(workerOf(state.token))) {
      lost += 1
      count(run, 'lost')
    }
    run.jobs.set(job, { kind: 'played', payload: state.payload, lost, token })
    return lost
  }

  report(id: string, job: string, token: string, text: string): void {
    this.#sync()
    const run = this.#runs.get(id)
    const state = run?.jobs.get(job)
    if (!run || state?.kind !== 'played' || state.token !== token) return
    this.#addResult(run, job, text)
  }

  /**
   * Gives a job its result, and takes it out of the worker's hands. Returns `false` if another worker has begun it, or
   * it was removed.
   */
  seal(
    id: string,
    job: string,
    { consumer, token, text }: { readonly consumer: string; readonly token: string; readonly text: string },
  ): boolean {
    this.#sync()
    const run = this.#runs.get(id)
    const state = run?.jobs.get(job)
    if (run?.held.get(job)?.consumer === consumer) run.held.delete(job)
    if (state?.kind === 'sealed' && state.token === token) return true
    if (!run || state?.kind !== 'played' || state.token !== token) {
      if (run) count(run, 'fenced')
      return false
    }
    const key = this.#addResult(run, job, text)
    run.jobs.set(job, { kind: 'sealed', payload: state.payload, key, token })
    count(run, 'sealed')
    return true
  }

  /** Takes a job out of a worker's hands. One that has no result is given to another worker. */
  release(id: string, consumer: string, job: string, token: string): void {
    this.#sync()
    const run = this.#runs.get(id)
    if (!run) return
    const state = run.jobs.get(job)
    if (state?.kind === 'played' && state.token === token)
      run.jobs.set(job, { kind: 'waiting', payload: state.payload, lost: state.lost })
    if (run.held.get(job)?.consumer === consumer) this.#letGo(run, job)
    this.#giveOut(run)
  }

  status(): QueueStatus {
    this.#sync()
    const now = this.#now()
    return {
      paused: this.#flags.has('paused'),
      runs: [...this.#runs].map(([id, { entry, jobs }]) => {
        const lease = this.#leases.get(id)
        return {
          id,
          announcement: entry.announcement,
          coordinator: lease && lease.until > now ? { host: lease.host, pid: lease.pid } : null,
          account: this.account(id),
          playing: [...jobs.values()].filter(({ kind }) => kind === 'played').length,
        }
      }),
      workers: this.#liveWorkers(),
    }
  }

  setPaused(isPaused: boolean): void {
    this.#sync()
    if (isPaused) this.#flags.set('paused', true)
    else this.#flags.delete('paused')
    for (const run of this.#runs.values()) this.#giveOut(run)
  }

  /** Removes a run. Returns `false` if it has a coordinator, or there is none. */
  remove(id: string): boolean {
    this.#sync()
    if ((this.#leases.get(id)?.until ?? 0) > this.#now()) return false
    this.#leases.delete(id)
    return this.#runs.delete(id)
  }

  /** The lease is new, and with it the clock of the run; its jobs and results stay. */
  #runOf({ digest, announcement, elapsed }: RunEntry, run: Run | undefined): Run {
    const entry = { digest, announcement, origin: this.#now() - elapsed }
    if (run) return { ...run, entry }
    return {
      entry,
      jobs: new JournaledMap(this.#journal),
      held: new JournaledMap(this.#journal),
      results: new JournaledMap(this.#journal),
      counts: new JournaledMap(this.#journal),
      waiting: [],
      next: 0,
      takers: new Set(),
      readers: new Set(),
      checked: 0,
    }
  }

  #coordinated(id: string, token: string): Run | null {
    this.#sync()
    return this.#leases.get(id)?.token === token ? (this.#runs.get(id) ?? null) : null
  }

  #sync(): void {
    const second = Math.floor(this.#now() / SYNC_INTERVAL)
    if (second > this.#synced) this.#journal.sync()
    this.#synced = second
  }

  #takeNow(run: Run, consumer: string, most: number): readonly QueuedJob[] {
    const taken: QueuedJob[] = []
    if (this.#flags.has('paused')) return taken
    while (taken.length < most && run.next < run.waiting.length) {
      const id = run.waiting[run.next++] as string
      const state = run.jobs.get(id)
      if (!state || state.kind === 'sealed' || run.held.has(id)) continue
      run.held.set(id, { consumer, until: this.#now() + this.#lease })
      taken.push({ id, payload: state.payload })
    }
    if (run.next > 1_000 && run.next > run.waiting.length / 2) {
      run.waiting = run.waiting.slice(run.next)
      run.next = 0
    }
    return taken
  }

  #letGo(run: Run, job: string): void {
    run.held.delete(job)
    const state = run.jobs.get(job)
    if (state && state.kind !== 'sealed') run.waiting.push(job)
  }

  /** Gives jobs to the workers that wait for some, in the order in which they came. */
  #giveOut(run: Run): void {
    for (const blocked of run.takers) {
      if (run.next >= run.waiting.length || !blocked.retry()) return
      run.takers.delete(blocked)
    }
  }

  #addResult(run: Run, job: string, text: string): number {
    // The clock is in the key, as in those of Redis: after a crash, keys do not begin again.
    this.#lastKey = Math.max(this.#lastKey + 1, Math.floor(this.#now() * 1_000))
    run.results.set(this.#lastKey, { job, text })
    for (const blocked of run.readers) if (blocked.retry()) run.readers.delete(blocked)
    return this.#lastKey
  }

  #isAlive(worker: string): boolean {
    return (this.#workers.get(worker)?.until ?? 0) > this.#now()
  }

  #liveWorkers(): readonly WorkerInfo[] {
    return [...this.#workers.values()].filter(({ info }) => this.#isAlive(info.id)).map(({ info }) => info)
  }
}

function workerOf(token: string): string {
  return token.slice(0, token.lastIndexOf(':'))
}

function count(run: Run, name: Count): void {
  run.counts.set(name, (run.counts.get(name) ?? 0) + 1)
}

/** Resolves with what `retry` returns once it is not `null`. */
function block<T>(blocked: Set<Blocked>, isGone: () => boolean, retry: () => T | null): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  blocked.add({
    reject,
    retry() {
      if (isGone()) return true
      const found = retry()
      if (found !== null) resolve(found)
      return found !== null
    },
  })
  return promise
}
