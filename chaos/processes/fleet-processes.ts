import { fileURLToPath } from 'node:url'
import { CLI } from './server.ts'
import { type Killable, startProcess } from './start-process.ts'

/** The module of the world that the fleet plays. */
const DICE = fileURLToPath(new URL('../worlds/dice-world.ts', import.meta.url))

export interface FleetOptions {
  /** The address of the Redis. */
  readonly queue: string
  /** Home and compiled code of the processes, and their working folder. */
  readonly folder: string
  /** The folder of the run. */
  readonly out: string
  readonly tasks: number
  readonly workers: number
  /** Episodes that a worker plays at once. */
  readonly slots: number
  /** Seconds of silence after which a process counts as ended. */
  readonly lease: number
}

/** A run in a fleet: one coordinator and several workers, all of which can be killed and started again. */
export interface Fleet extends AsyncDisposable {
  readonly coordinator: Killable
  readonly workers: readonly Killable[]
  /** `kill -9`, and another worker in its place. */
  restartWorker(index: number): Promise<void>
  /** `kill -9`, and another coordinator, which resumes the run. Resolves with the account of the run in between. */
  restartCoordinator(): Promise<Account | undefined>
}

/** Plays the run in one process, without a queue and without faults. */
export async function playQuietly({
  folder,
  out,
  tasks,
}: Pick<FleetOptions, 'folder' | 'out' | 'tasks'>): Promise<void> {
  await using run = start(folder, ['run', DICE, '--tasks', String(tasks), '--out', out, '--json'])
  await run.line()
}

/** A run as its queue counts it: what was added, and what became of it. */
export interface Account {
  readonly added: number
  readonly sealed: number
  /** Results that were dropped, because the episode had been given to another worker. */
  readonly fenced: number
  /** Plays that ended with their worker. */
  readonly lost: number
  readonly withdrawn: number
  readonly open: number
}

/** Resolves with the accounts of all runs in a queue. */
export async function readAccounts({ folder, queue }: Pick<FleetOptions, 'folder' | 'queue'>): Promise<Account[]> {
  await using status = start(folder, ['queue', 'status', '--queue', queue, '--json'])
  const { runs } = JSON.parse(await status.line()) as { runs: { account: Account }[] }
  return runs.map(({ account }) => account)
}

/** Starts the workers, and then the coordinator. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { queue, folder, out, tasks, slots, lease } = options
  const shared = ['--queue', queue, '--lease', String(lease), '--json']
  const startWorker = async () => {
    const worker = start(folder, ['queue', 'work', DICE, '--concurrency', String(slots), ...shared])
    await worker.line()
    return worker
  }
  const startCoordinator = (resume: boolean) =>
    start(folder, ['run', DICE, '--tasks', String(tasks), '--out', out, ...shared, ...(resume ? ['--resume'] : [])])
  const workers = await Promise.all(Array.from({ length: options.workers }, startWorker))
  let coordinator = startCoordinator(false)
  return {
    get coordinator() {
      return coordinator
    },
    workers,
    async restartWorker(index) {
      await workers[index]?.[Symbol.asyncDispose]()
      workers[index] = await startWorker()
    },
    async restartCoordinator() {
      await coordinator[Symbol.asyncDispose]()
      const [account] = await readAccounts(options)
      coordinator = startCoordinator(true)
      return account
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([coordinator, ...workers].map((process) => process[Symbol.asyncDispose]()))
    },
  }
}

function start(folder: string, args: readonly string[]): Killable {
  return startProcess(process.execPath, [CLI, ...args], {
    cwd: folder,
    env: { EPISODIC_HOME: folder },
  })
}
