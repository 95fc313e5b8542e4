import { abortable } from '@episodic/protocol/internal'
import { backOff } from '@episodic/run/base/back-off'
import { HarnessError } from '@episodic/run/base/harness-error'
import pLimit from 'p-limit'
import type { Runner } from '../episodes/open-runner.ts'
import type { RunTask } from '../episodes/rollout.ts'
import type { Run } from '../find-run.ts'
import { startWorker, type Worker } from './start-worker.ts'
import type { StartMessage } from './worker-messages.ts'

interface OpenWorkersOptions extends Pick<StartMessage, 'folder'> {
  /** Receives a sentence for each process that ended, and for each episode that was given up. */
  readonly warn: (notice: string) => void
  readonly signal: AbortSignal
}

/** An episode is left unplayed after this many processes ended while playing it. */
const MAX_ATTEMPTS = 3
/** Milliseconds after which a process that was asked to end is killed. A server that it started has as long. */
const STOP_TIMEOUT = 12_000

/**
 * Plays in several processes, each with a world or connection of its own, and replaces each that ends. A planned
 * episode goes to the process with the least load.
 *
 * Episodes of a process that ended are played again from their start by another, at most three times. Third tries run
 * one at a time, so that an episode that crashes its process takes no other episode with it.
 *
 * Throws the error that keeps a process from starting. `runTask` throws `worker-failed` if `2 · processes` processes
 * end in a row without playing anything.
 */
export async function openWorkers(
  { configuration, reference, settings, target }: Run,
  { folder, warn, signal }: OpenWorkersOptions,
): Promise<Runner> {
  const { processes } = settings
  const alive = new Set<Worker>()
  const ready = new Set<Worker>()
  const stopping = new AbortController()
  const oneByOne = pLimit(1)
  let changed = Promise.withResolvers<void>()
  let endedInRow = 0
  let failure: HarnessError | null = null

  const start = async (): Promise<Worker> => {
    const worker = startWorker({ reference, settings, target, folder, configuration })
    alive.add(worker)
    void worker.ended.then(() => alive.delete(worker))
    await worker.ready
    return worker
  }
  const change = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const supervise = async (first: Worker): Promise<void> => {
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
          `${endedInRow} processes of the run ended in a row without playing anything. Fix the cause, then resume the run.`,
        )
        return change()
      }
      await backOff(failures, stopping.signal)
      if (stopping.signal.aborted) return
      worker = await start().catch((error: Error) => {
        if (!stopping.signal.aborted) warn(error.message)
        return null
      })
      failures = worker ? 0 : failures + 1
    }
  }
  const leastLoaded = async (signal: AbortSignal): Promise<Worker | null> => {
    for (;;) {
      if (signal.aborted) return null
      if (failure) throw failure
      const [first, ...others] = ready
      if (first) return others.reduce((least, worker) => (worker.load < least.load ? worker : least), first)
      await changed.promise
    }
  }
  const runTask: RunTask = async (planned, context) => {
    const playOnce = async () => (await leastLoaded(context.signal))?.play(planned, context)
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const records = attempt < MAX_ATTEMPTS ? await playOnce() : await oneByOne(playOnce)
      if (records) endedInRow = 0
      if (records || context.signal.aborted) return records ?? []
    }
    warn(
      `${planned.task.id}, attempt ${planned.attempt}, is left unplayed: ${MAX_ATTEMPTS} processes ended while playing it.`,
    )
    return []
  }
  const kill = () => {
    for (const worker of alive) worker.kill()
  }
  const stop = async (): Promise<void> => {
    stopping.abort()
    for (const worker of alive) worker.release()
    const late = setTimeout(kill, STOP_TIMEOUT)
    await Promise.all([...supervised, ...[...alive].map(({ ended }) => ended)])
    clearTimeout(late)
    process.off('exit', kill)
    signal.removeEventListener('abort', change)
  }

  // A second Ctrl-C ends this process at once. It must not leave a busy worker behind.
  process.on('exit', kill)
  signal.addEventListener('abort', change)
  const supervised: Promise<void>[] = []
  try {
    const workers = await abortable(Promise.all(Array.from({ length: processes }, start)), signal)
    supervised.push(...workers.map(supervise))
    return { runTask, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}
