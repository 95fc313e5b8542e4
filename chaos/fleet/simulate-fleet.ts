import { FleetRunner } from '@episodic/fleet/fleet-runner'
import { playFleet } from '@episodic/fleet/play-fleet'
import type { RunAccount } from '@episodic/fleet/run-queue'
import { createSigner } from '@episodic/fleet/signer'
import type { RunTask } from '@episodic/play/play/episodes/rollout'
import { runPlan } from '@episodic/play/play/episodes/run-plan'
import { planEpisodes } from '@episodic/play/play/plan/plan'
import { createRng, type EpisodeRecord, type Rng, type SealedRecord, type Task } from '@episodic/protocol'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import type { RunManifest } from '@episodic/run/folder/record/run-folder'
import { createMemoryQueue } from './memory-queue.ts'
import { QueueModel } from './queue-model.ts'
import { SimulatedProcess } from './simulated-process.ts'
import { announceSimulated, SIMULATED_TASK } from './simulated-run.ts'
import { VirtualTime } from './virtual-time.ts'

export interface SimulateFleetOptions {
  readonly seed: string
  readonly episodes: number
  readonly workers: number
  /** Episodes that a worker plays at once. */
  readonly slots: number
  /** Mean virtual milliseconds of an episode, whose durations are distributed exponentially. */
  readonly duration: number
  readonly lease: number
  /** Mean virtual milliseconds between two faults, of each worker, the coordinator and the queue. */
  readonly faultsEvery: { readonly worker: number; readonly coordinator: number; readonly queue: number }
  /** How likely a call loses its connection on the way there, and on the way back. */
  readonly losses: number
  /** What the queue keeps. Default: a `QueueModel`. */
  readonly createQueue?: (now: () => number, lease: number) => QueueModel
  /** Called when so many tenths of the episodes are stored. */
  readonly onTenth?: (tenth: number, state: SimulationState) => void
}

/** A simulation in the middle. */
export interface SimulationState {
  /** Virtual milliseconds. */
  readonly time: number
  /** Calls of the coordinator to the queue, and of all workers. */
  readonly calls: { readonly coordinator: number; readonly workers: number }
}

/** What a simulation found. */
export interface SimulatedRun extends SimulationState {
  /** Episodes without a line in the file of the run. */
  readonly lost: number
  /** Lines of episodes that have one already. */
  readonly doubled: number
  /** Plays that a worker began. */
  readonly plays: number
  /**
   * Coordinators that ended with episodes left, because three workers had ended while playing them; another resumed.
   */
  readonly resumed: number
  /** Episodes that were left so. */
  readonly left: number
  readonly faults: Readonly<Record<Fault, number>>
  /** The queue's own account, since it last forgot the run. */
  readonly account: RunAccount
}

export type Fault =
  | 'workers killed'
  | 'workers frozen'
  | 'workers stopped'
  | 'coordinators killed'
  | 'coordinators frozen'
  | 'queue crashes'

const RUN = 'simulated'
/** Milliseconds that a line takes to be on disk, at most. */
const DISK = 5

/**
 * Plays a run in a simulated fleet: the coordinator and the workers are the real ones, and the queue is a model that
 * loses its last second in a crash. Time is virtual, and every duration, latency and fault is drawn from the seed.
 *
 * Faults go on until every episode has its line. Rejects if none was stored for a hundred leases and a hundred times
 * the duration of an episode.
 */
export function simulateFleet(options: SimulateFleetOptions): Promise<SimulatedRun> {
  const time = new VirtualTime()
  return time.run(new Simulation(options, time).run())
}

class Simulation {
  readonly #options: SimulateFleetOptions
  readonly #time: VirtualTime
  readonly #rng: Rng
  readonly #queue: QueueModel
  readonly #machine = { backAt: 0 }
  readonly #signer = createSigner('a secret of the simulation')
  /** Lines of each episode. */
  readonly #lines: Uint8Array
  readonly #calls = { coordinator: 0, workers: 0 }
  readonly #faults: Record<Fault, number> = {
    'workers killed': 0,
    'workers frozen': 0,
    'workers stopped': 0,
    'coordinators killed': 0,
    'coordinators frozen': 0,
    'queue crashes': 0,
  }
  #stored = 0
  #storedAt = 0
  #doubled = 0
  #plays = 0
  #left = 0
  #started = 0
  #isOver = false
  /** The coordinators that were killed, by their number. */
  readonly #killed = new Set<number>()

  constructor(options: SimulateFleetOptions, time: VirtualTime) {
    this.#options = options
    this.#time = time
    this.#rng = createRng(options.seed).stream('simulation')
    this.#lines = new Uint8Array(options.episodes)
    const { createQueue = (now, lease) => new QueueModel(now, lease), lease } = options
    this.#queue = createQueue(() => time.now(), lease)
  }

  async run(): Promise<SimulatedRun> {
    const { workers, episodes } = this.#options
    const fleet = Array.from({ length: workers }, () => this.#keepWorker())
    const crashes = this.#crashQueue()
    const stuck = Promise.withResolvers<never>()
    this.#watch(stuck.reject)
    let resumed = -1
    while (this.#stored < episodes) {
      resumed += 1
      await Promise.race([this.#keepCoordinator(), stuck.promise])
    }
    const account = this.#queue.account(RUN)
    this.#isOver = true
    void Promise.all([...fleet, crashes])
    return {
      time: this.#time.now(),
      calls: this.#calls,
      lost: this.#lines.reduce((lost, lines) => lost + Number(lines === 0), 0),
      doubled: this.#doubled,
      plays: this.#plays,
      resumed,
      left: this.#left,
      faults: this.#faults,
      account,
    }
  }

  /** Reports that nothing is stored any more. */
  #watch(onStuck: (error: Error) => void): void {
    const { lease, duration, episodes } = this.#options
    const most = 100 * (lease + duration)
    this.#time.after(most, () => {
      if (this.#isOver) return
      if (this.#time.now() - this.#storedAt < most) return this.#watch(onStuck)
      onStuck(new Error(`Nothing was stored for ${most} ms, and ${episodes - this.#stored} episodes are missing.`))
    })
  }

  /** Runs a coordinator until it ends by itself, and another one after each that is killed. */
  async #keepCoordinator(): Promise<void> {
    for (;;) {
      const process = this.#start('coordinator')
      const over = Promise.withResolvers<'ended' | 'killed'>()
      this.#coordinate(process, this.#started).then(() => over.resolve('ended'), over.reject)
      const number = this.#started
      this.#disturb(process, 'coordinator', () => {
        this.#killed.add(number)
        over.resolve('killed')
      })
      if ((await over.promise) === 'ended') {
        process.kill()
        return
      }
      await this.#pause(30_000)
    }
  }

  async #coordinate(process: SimulatedProcess, pid: number): Promise<void> {
    const { lease, episodes } = this.#options
    const { clock } = process
    const { signal } = new AbortController()
    const queue = this.#openQueue(process)
    await using runner = new FleetRunner({
      ...{ queue, lease, clock, signal, signer: this.#signer, leaves: 1 },
      owner: { host: 'one', pid },
      entryOf: () => ({ id: RUN, announcement: announceSimulated(RUN, this.#signer), digest: RUN, elapsed: 0 }),
      warn: (notice) => {
        if (notice.includes('is left unplayed')) this.#left += 1
      },
    })
    const hasStored = ({ task }: SealedRecord) => (this.#lines[Number(task.id)] ?? 0) > 0
    await runner.begin?.({} as RunManifest, { elapsed: 0, hasStored })
    await runPlan(this.#plan(episodes), {
      run: RUN,
      runTask: runner.runTask,
      inFlight: runner.inFlight ?? 1,
      clock,
      // No signal: Node keeps one that is made of several, and what listens to it, even if its process was "killed".
      seal: async (record) => {
        await this.#append(process, Number(record.task.id))
        runner.onStored?.(record)
      },
    })
  }

  async *#plan(episodes: number): AsyncGenerator<PlannedEpisode> {
    const missing = async function* (lines: Uint8Array): AsyncGenerator<Task> {
      for (let i = 0; i < episodes; i++) if (lines[i] === 0) yield { ...SIMULATED_TASK, id: String(i) }
    }
    yield* planEpisodes(missing(this.#lines), 1)
  }

  /** Appends a line to the file of the run, which keeps what was written when the coordinator is killed. */
  #append(process: SimulatedProcess, episode: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    process.after(this.#rng.int(0, DISK), () => {
      const lines = (this.#lines[episode] ?? 0) + 1
      this.#lines[episode] = lines
      if (lines === 1) this.#stored += 1
      else this.#doubled += 1
      this.#storedAt = this.#time.now()
      const { onTenth, episodes } = this.#options
      if (lines === 1 && (this.#stored * 10) % episodes < 10)
        onTenth?.(Math.floor((this.#stored * 10) / episodes), { time: this.#time.now(), calls: { ...this.#calls } })
      resolve()
    })
    return promise
  }

  /** Runs a worker until the simulation is over, and another one after each that ended. */
  async #keepWorker(): Promise<void> {
    await this.#pause(5_000)
    while (!this.#isOver) {
      const process = this.#start('workers')
      const stopping = new AbortController()
      const over = Promise.withResolvers<void>()
      this.#work(process, `w${this.#started}`, stopping.signal).then(over.resolve, over.reject)
      this.#disturb(process, 'worker', over.resolve, stopping)
      await over.promise
      process.kill()
      await this.#pause(60_000)
    }
  }

  #work(process: SimulatedProcess, id: string, signal: AbortSignal): Promise<void> {
    const { lease, slots } = this.#options
    const { clock } = process
    const runTask = this.#runTaskIn(process)
    return playFleet({
      ...{ queue: this.#openQueue(process), lease, clock, signal, signer: this.#signer },
      worker: { id, host: 'many', pid: 1, version: '0.0.0', slots, worlds: [] },
      openRun: async () => ({ runTask, [Symbol.asyncDispose]: async () => {} }),
      onNotice: () => {},
    })
  }

  #runTaskIn(process: SimulatedProcess): RunTask {
    const durations = this.#rng.stream('durations')
    return async (planned, { signal }) => {
      this.#plays += 1
      const duration = -Math.log(1 - durations.float()) * this.#options.duration
      await new Promise<void>((resolve) => process.after(duration, resolve))
      return signal.aborted ? [] : [recordOf(planned)]
    }
  }

  /** Draws what happens to a process: at some time it is killed, frozen, or asked to stop. */
  #disturb(
    process: SimulatedProcess,
    kind: 'worker' | 'coordinator',
    onKilled: () => void,
    stopping?: AbortController,
  ): void {
    const next = () => {
      process.after(this.#until(this.#options.faultsEvery[kind]), () => {
        const drawn = this.#rng.float()
        if (drawn < 0.6) {
          this.#faults[`${kind}s killed`] += 1
          process.kill()
          onKilled()
        } else if (drawn < 0.8 && stopping && kind === 'worker') {
          this.#faults['workers stopped'] += 1
          stopping.abort()
        } else {
          this.#faults[`${kind}s frozen`] += 1
          process.freeze(this.#rng.int(1, 3 * this.#options.lease))
          next()
        }
      })
    }
    next()
  }

  async #crashQueue(): Promise<void> {
    while (!this.#isOver) {
      await new Promise<void>((resolve) => this.#time.after(this.#until(this.#options.faultsEvery.queue), resolve))
      if (this.#isOver) return
      this.#faults['queue crashes'] += 1
      this.#machine.backAt = this.#time.now() + this.#rng.int(100, 20_000)
      this.#queue.crash()
    }
  }

  #start(kind: 'coordinator' | 'workers'): SimulatedProcess {
    this.#started += 1
    const counted = () => {
      this.#calls[kind] += 1
    }
    return new SimulatedProcess(this.#time, this.#rng, this.#machine, this.#options.losses, counted)
  }

  #openQueue({ clock, link }: SimulatedProcess) {
    const hasEnded = ({ pid }: { readonly pid: number }) => this.#killed.has(pid)
    return createMemoryQueue({ model: this.#queue, link, clock, lease: this.#options.lease, hasEnded })
  }

  #pause(most: number): Promise<void> {
    return new Promise((resolve) => this.#time.after(this.#rng.int(1, most), resolve))
  }

  /** Draws the milliseconds to the next event from an exponential distribution with this mean. */
  #until(mean: number): number {
    return Math.min(-Math.log(1 - this.#rng.float()) * mean, 2 ** 40)
  }
}

function recordOf({ task, attempt, try: number = 0 }: PlannedEpisode): EpisodeRecord {
  return { ...RECORD, task: { ...RECORD.task, id: task.id }, attempt, try: number }
}

/** The line of every episode, but for its name. */
const RECORD: EpisodeRecord = {
  format: 3,
  run: RUN,
  task: { id: '0', prompt: '', difficulty: 0, split: 'train', tags: [] },
  attempt: 0,
  try: 0,
  policy: { name: 'simulated', seed: '0' },
  environment: SIMULATED_TASK.environment,
  params: {},
  seed: '0',
  branch: null,
  start: { observation: { text: '', structured: null }, potential: null },
  steps: [],
  outcome: { kind: 'finished', end: { kind: 'terminated', reason: 'over' } },
  returns: { total: 0, unshaped: 0, discounted: 0 },
  chain: '',
  time: { started: 0, ended: 0 },
  seal: null,
}
