import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import { HarnessError } from '../harness-error.ts'
import type { RunConfiguration } from './configuration.ts'
import type { Playing } from './open-playing.ts'
import type { PlayPlanned } from './play-planned.ts'
import { startWorker, type Worker } from './start-worker.ts'

export interface OpenWorkersOptions {
  /** The command that each runs. */
  readonly args: readonly string[]
  readonly processes: number
  /** Hears in a sentence of each process that ended and of each episode that was given up. */
  readonly warn: (notice: string) => void
  readonly signal: AbortSignal
}

/** How many processes may end under an episode before it is left unplayed. */
const MOST_PLAYS = 3
/** Milliseconds until a process that was asked to end is made to: as long as a server has that it may have started. */
const STOP_TIMEOUT = 12_000
/** The longest pause before a process that did not come up is started again, in milliseconds. */
const LONGEST_PAUSE = 5_000

/**
 * Plays in several processes, each of which opens a world or a connection of its own, and puts another in the place of
 * each that ends. What is planned goes to the one that plays the fewest.
 *
 * What a process was playing when it ended is played again from its start by another, and left unplayed after the third
 * time. That third time they go one by one, so that what ends processes takes nothing else with it.
 *
 * Throws what keeps a process from starting. Playing throws `worker-failed` where twice as many processes as there are
 * ended in a row, with nothing played between.
 */
export async function openWorkers(
  configuration: RunConfiguration,
  { args, processes, warn, signal }: OpenWorkersOptions,
): Promise<Playing> {
  const alive = new Set<Worker>()
  const ready = new Set<Worker>()
  const stopping = new AbortController()
  const oneByOne = pLimit(1)
  let changed = Promise.withResolvers<void>()
  let endedInRow = 0
  let failure: HarnessError | null = null

  const start = async (): Promise<Worker> => {
    const worker = startWorker(args, configuration)
    alive.add(worker)
    void worker.ended.then(() => alive.delete(worker))
    await worker.ready
    return worker
  }
  const change = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const keep = async (first: Worker): Promise<void> => {
    let failures = 0
    for (let worker: Worker | null = first; ; ) {
      if (worker) {
        ready.add(worker)
        change()
        const how = await worker.ended
        ready.delete(worker)
        if (!stopping.signal.aborted) warn(`A process of the run ended with ${how}; another takes its place.`)
      }
      if (stopping.signal.aborted) return
      if (++endedInRow >= 2 * processes) {
        failure ??= new HarnessError(
          'worker-failed',
          `${endedInRow} processes of the run ended in a row, and nothing was played between. Resume it once that is put right.`,
        )
        return change()
      }
      if (failures > 0) await backOff(Math.min(LONGEST_PAUSE, 50 * 2 ** failures), stopping.signal)
      if (stopping.signal.aborted) return
      worker = await start().catch((error: Error) => {
        if (!stopping.signal.aborted) warn(error.message)
        return null
      })
      failures = worker ? 0 : failures + 1
    }
  }
  const freest = async (signal: AbortSignal): Promise<Worker | null> => {
    for (;;) {
      if (signal.aborted) return null
      if (failure) throw failure
      const [first, ...others] = ready
      if (first) return others.reduce((least, worker) => (worker.load < least.load ? worker : least), first)
      await changed.promise
    }
  }
  const play: PlayPlanned = async (planned, sitting) => {
    const playOnce = async () => (await freest(sitting.signal))?.play(planned, sitting)
    for (let plays = 1; plays <= MOST_PLAYS; plays++) {
      const records = plays < MOST_PLAYS ? await playOnce() : await oneByOne(playOnce)
      if (records) endedInRow = 0
      if (records || sitting.signal.aborted) return records ?? []
    }
    warn(`${planned.task.id}, attempt ${planned.attempt}, is left: ${MOST_PLAYS} processes ended while it was played.`)
    return []
  }
  const kill = () => {
    for (const worker of alive) worker.kill()
  }
  const stop = async (): Promise<void> => {
    stopping.abort()
    for (const worker of alive) worker.release()
    const late = setTimeout(kill, STOP_TIMEOUT)
    await Promise.all([...kept, ...[...alive].map(({ ended }) => ended)])
    clearTimeout(late)
    process.off('exit', kill)
    signal.removeEventListener('abort', change)
  }

  // A second Ctrl-C ends this process at once, and must leave none behind that is too busy to hear of it.
  process.on('exit', kill)
  signal.addEventListener('abort', change)
  const kept: Promise<void>[] = []
  try {
    const workers = await orAborted(Promise.all(Array.from({ length: processes }, start)), signal)
    kept.push(...workers.map(keep))
    return { play, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The same promise, which rejects where the signal aborts before. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    if (signal.aborted) abort()
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

async function backOff(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, null, { signal }).catch(() => {})
}
