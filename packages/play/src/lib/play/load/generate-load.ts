import { type Connection, delegate, type Environment, type Playable, type Policy, runEpisode } from '@episodic/env'
import { seedFor } from '@episodic/protocol'
import { abortable } from '@episodic/protocol/internal'
import { createLatencyHistogram, type LatencyHistogram } from '@episodic/report/fold/latency-histogram'
import pLimit from 'p-limit'
import { toFailure } from '../record/seal-episode.ts'

export interface LoadOptions {
  readonly connection: Connection
  readonly environment: string
  readonly policy: Policy
  /** Tasks that sessions play in turn, repeatedly. At least one. */
  readonly tasks: readonly Playable[]
  readonly sessions: number
  readonly inFlight: number
  /** Stops after this many seconds or answered steps, whichever is first. */
  readonly seconds: number
  readonly steps: number
  readonly seed: string
  readonly signal: AbortSignal
  readonly onStep?: (soFar: LoadCounts) => void
}

export interface LoadCounts {
  readonly seconds: number
  readonly steps: number
  /** Steps that the world or the host refused. */
  readonly refused: number
  readonly opened: number
  /** Failed episodes by code, with the message of the first. */
  readonly failures: ReadonlyMap<string, { readonly count: number; readonly message: string }>
}

export interface LoadResult extends LoadCounts {
  /** Milliseconds from sending a step to its answer, without the wait for one of the `inFlight` slots. */
  readonly latency: LatencyHistogram
}

/** A load stops after this many failures in a row per session: the server no longer answers. */
const MAX_FAILURES = 3
/** Milliseconds for the sessions to close at the end of a load. */
const CLOSE_TIMEOUT = 5_000

/**
 * Plays episodes in concurrent sessions until the time or the steps are used up, or the signal aborts, and resolves
 * with the measurements. Calls that are unanswered by then are aborted. A failed episode is counted by its code, and
 * its session continues with the next one.
 */
export async function generateLoad(options: LoadOptions): Promise<LoadResult> {
  const { connection, policy, tasks, sessions, inFlight, seconds, steps: mostSteps, seed, onStep } = options
  const latency = createLatencyHistogram()
  const failures = new Map<string, { count: number; message: string }>()
  const limit = pLimit(inFlight)
  const finished = new AbortController()
  const signal = AbortSignal.any([options.signal, finished.signal])
  /** Aborts if sessions have not closed some time after the end: the server does not answer. */
  const closeLimit = new AbortController()
  const stopClosing = () => closeLimit.abort(new Error('The server did not close a session.'))
  signal.addEventListener('abort', () => void setTimeout(stopClosing, CLOSE_TIMEOUT).unref(), { once: true })
  const began = performance.now()
  let [steps, refused, opened, failedInRow, next] = [0, 0, 0, 0, 0]
  let ended = began
  const counts = (): LoadCounts => ({ seconds: (ended - began) / 1_000, steps, refused, opened, failures })
  // In-process sessions may starve the timer, so check the clock too.
  const stopWhenDone = () => {
    if (steps >= mostSteps || performance.now() - began >= seconds * 1_000) finished.abort()
  }

  const timed = (environment: Environment): Environment => {
    const { legal } = environment
    return delegate(environment, {
      reset: (task, asked) =>
        limit(async () => {
          signal.throwIfAborted()
          // Wait for a session that is being opened at the end: without its answer it could not be closed.
          const start = await environment.reset(task, { ...asked, signal: closeLimit.signal })
          opened += 1
          return start
        }),
      step: (...args) =>
        limit(async () => {
          signal.throwIfAborted()
          const sent = performance.now()
          const step = await environment.step(...args)
          // Steps in flight at the end are not counted.
          if (signal.aborted) return step
          ended = performance.now()
          latency.add(ended - sent)
          steps += 1
          failedInRow = 0
          if (step.info.refused !== null) refused += 1
          onStep?.(counts())
          stopWhenDone()
          return step
        }),
      ...(legal && {
        legal: (...args: Parameters<typeof legal>) =>
          limit(() => {
            signal.throwIfAborted()
            return legal.apply(environment, args)
          }),
      }),
      close: () => abortable(environment.close(), closeLimit.signal),
    })
  }

  const playSession = async (): Promise<void> => {
    while (!signal.aborted) {
      const number = next++
      const episode = await runEpisode({
        createEnvironment: () => timed(connection.environment(options.environment)),
        policy,
        task: tasks[number % tasks.length] as Playable,
        policySeed: seedFor(seed, 'policy', number),
        signal,
      })
      if (episode.kind === 'finished' || signal.aborted) continue
      const { code, message } = toFailure(episode.cause)
      const failure = failures.get(code) ?? { count: 0, message }
      failures.set(code, { ...failure, count: failure.count + 1 })
      ended = performance.now()
      failedInRow += 1
      if (failedInRow >= MAX_FAILURES * sessions) finished.abort()
      stopWhenDone()
    }
  }
  const timer = setTimeout(() => finished.abort(), seconds * 1_000)
  await Promise.all(Array.from({ length: sessions }, playSession))
  clearTimeout(timer)
  return { ...counts(), latency }
}
