import type { Connection, Environment, Playable, Policy } from '@episodic/env'
import { runEpisode } from '@episodic/env'
import { delegate } from '@episodic/env/extend'
import { seedFor } from '@episodic/protocol'
import { abortable } from '@episodic/protocol/extend'
import pLimit from 'p-limit'
import { createLatencyHistogram, type LatencyHistogram } from '../report/fold/latency-histogram.ts'
import { describeFailure } from '../run/seal-episode.ts'

export interface LoadOptions {
  readonly connection: Connection
  /** The name of the environment. */
  readonly environment: string
  readonly policy: Policy
  /** What sessions play, one after the other and then from the first again. At least one. */
  readonly tasks: readonly Playable[]
  /** Sessions that are open at once. */
  readonly sessions: number
  /** Steps that wait for their answer at once, over all sessions. */
  readonly inFlight: number
  /** When to stop: after so many seconds, or so many answered steps, whichever is first. */
  readonly seconds: number
  readonly steps: number
  /** Decides the draws of the policy. */
  readonly seed: string
  readonly signal: AbortSignal
  /** Called after each step. */
  readonly onStep?: (soFar: LoadCounts) => void
}

/** What was counted so far. */
export interface LoadCounts {
  /** Since the first session was asked for. */
  readonly seconds: number
  /** Answered, refused ones included. */
  readonly steps: number
  /** Of the steps, those that the world or the host refused. */
  readonly refused: number
  /** Sessions that were opened. */
  readonly opened: number
  /** Episodes that failed, by code, with the words of the first. */
  readonly failures: ReadonlyMap<string, { readonly count: number; readonly message: string }>
}

export interface LoadResult extends LoadCounts {
  /** Milliseconds from sending a step to its answer. To wait for one of the `inFlight` places is not in it. */
  readonly latency: LatencyHistogram
}

/** Failures in a row, for each session, after which a load gives up: the server no longer answers. */
const MOST_FAILURES = 3
/** Milliseconds from the end of a load in which its sessions may close. */
const CLOSE_TIMEOUT = 5_000

/**
 * Plays episodes in so many sessions at once until the time or the steps are over, or the signal aborts, and resolves with
 * what was measured. Calls that have no answer by then are aborted. A failed episode is counted by its code, and its
 * session goes on with the next one.
 */
export async function generateLoad(options: LoadOptions): Promise<LoadResult> {
  const { connection, policy, tasks, sessions, inFlight, seconds, steps: mostSteps, seed, onStep } = options
  const latency = createLatencyHistogram()
  const failures = new Map<string, { count: number; message: string }>()
  const limit = pLimit(inFlight)
  const over = new AbortController()
  const signal = AbortSignal.any([options.signal, over.signal])
  /** Aborts where sessions have not closed some time after the end: their server does not answer. */
  const left = new AbortController()
  const leave = () =>
    setTimeout(() => left.abort(new Error('The server did not close a session.')), CLOSE_TIMEOUT).unref()
  signal.addEventListener('abort', leave, { once: true })
  const began = performance.now()
  let [steps, refused, opened, failedInRow, next] = [0, 0, 0, 0, 0]
  let ended = began
  const counts = (): LoadCounts => ({ seconds: (ended - began) / 1_000, steps, refused, opened, failures })
  // Sessions in this process may leave a timer no turn of the event loop, so the clock is read as well.
  const stopWhenDone = () => {
    if (steps >= mostSteps || performance.now() - began >= seconds * 1_000) over.abort()
  }

  const timed = (environment: Environment): Environment => {
    const { legal } = environment
    return delegate(environment, {
      reset: (task, asked) =>
        limit(async () => {
          signal.throwIfAborted()
          // A session that is being opened at the end is waited for: without its answer it could not be closed.
          const start = await environment.reset(task, { ...asked, signal: left.signal })
          opened += 1
          return start
        }),
      step: (...args) =>
        limit(async () => {
          signal.throwIfAborted()
          const sent = performance.now()
          const step = await environment.step(...args)
          // What is answered after the end was in flight at it, and is not counted.
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
      close: () => abortable(environment.close(), left.signal),
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
      const { code, message } = describeFailure(episode.cause)
      const failure = failures.get(code) ?? { count: 0, message }
      failures.set(code, { ...failure, count: failure.count + 1 })
      ended = performance.now()
      failedInRow += 1
      if (failedInRow >= MOST_FAILURES * sessions) over.abort()
      stopWhenDone()
    }
  }
  const timer = setTimeout(() => over.abort(), seconds * 1_000)
  await Promise.all(Array.from({ length: sessions }, playSession))
  clearTimeout(timer)
  return { ...counts(), latency }
}
