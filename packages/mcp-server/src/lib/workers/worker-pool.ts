import { availableParallelism } from 'node:os'
import type { LegalActions } from '@episodic/protocol'
import { type Clock, type SessionState, systemClock } from '@episodic/state'
import { type Happened, recall, remember } from '@episodic/state/internal'
import type { EnvironmentDefinition } from '../environment/definition/environment.ts'
import type { Judgement } from '../environment/rules/conclude-step.ts'
import { directRules, type RulesRunner } from '../environment/rules/rules-runner.ts'
import type { PlayOutcome } from '../environment/rules/rules-turn.ts'
import type { InitialState, ObservedState } from '../environment/rules/start-environment.ts'
import { rulesFailed, ServerError } from '../server-error.ts'
import { RulesThread, type WaitingCall } from './rules-worker.ts'
import type { AskedCall, RulesAnswer, RulesCall, SecretsBySeat } from './worker-messages.ts'

export interface WorkerPoolOptions {
  /** Addresses (`file:` URLs) of the modules that export the environments; each thread loads all of them. */
  readonly modules: readonly string[]
  /** Seconds that the rules of one call may run. Default 10. */
  readonly timeoutSeconds?: number
  readonly clock?: Clock
}

/** Plays rules in threads. Disposing of it ends the threads; calls that were not answered are rejected. */
export interface WorkerPool extends RulesRunner, AsyncDisposable {}

/**
 * Creates a pool of threads that play the rules of environments, so that rules that compute for long block no other
 * call, and rules that never return are stopped.
 *
 * A call that runs for more than `timeoutSeconds` or needs more than 256 MB of objects rejects; its thread is replaced,
 * and calls in other threads are not affected. If a thread ends for another reason, its call is repeated once, in a new
 * thread, and rejects if that ends too. A thread that keeps more than 256 MB outside of the heap (typed arrays) after a
 * call is replaced; during a call, only its time bounds that memory.
 *
 * A host with this pool rejects environments whose tools prepare their steps.
 *
 * Rules that fill the heap faster than a thread can be ended, which is rare, end the whole process: a supervisor has to
 * start it again.
 *
 * There are as many threads as cores, at least two, started as they are needed: that many calls run at once, and
 * further ones wait. The pool protects the server from rules that compute for long, not from malicious rules, which can
 * reach everything that the process can. The host's thread still parses parameters, chooses limits, and lists the
 * secrets of a session that was read from its store until its first step here.
 */
export function createWorkerPool({ modules, timeoutSeconds = 10, clock = systemClock }: WorkerPoolOptions): WorkerPool {
  if (!(timeoutSeconds > 0))
    throw new ServerError('option-invalid', `timeoutSeconds is ${timeoutSeconds}, and has to be above 0.`)
  const size = Math.max(FEWEST, availableParallelism())
  const threads = new Set<RulesThread>()
  /** The most recently used thread is last and is taken first, because its code is warm. */
  let resting: RulesThread[] = []
  const queue: WaitingCall[] = []
  let starting = 0
  let isDisposed = false

  return {
    prepares: false,
    start: (environment, params, seed) =>
      ask<InitialState>(environment, { kind: 'start', params, seed }, ({ state }) => state),
    observe: (environment, state, params, seat) =>
      ask<ObservedState>(environment, { kind: 'observe', state, params, seat }, () => state),
    play(environment, { seat, record, truncation }, action, waiting) {
      const { params, seed, rng, now, state, history, end, outside, seats, turn: inTurn } = record
      const known = { params, seed, rng, now, state, history, end, outside, seats, turn: inTurn }
      const call = { kind: 'play', turn: { seat, record: known, truncation }, action } as const
      return ask<PlayOutcome>(environment, call, ({ change }) => change?.state ?? state, waiting?.signal)
    },
    apply(environment, { record }, event) {
      const { params, seed, rng, now, state, seats, turn: inTurn } = record
      const turn = { record: { params, seed, rng, now, state, seats, turn: inTurn } }
      return ask<Happened>(environment, { kind: 'event', turn, event }, ({ change }) => change.state)
    },
    legal: async (environment, state, params, seat) =>
      environment.hasLegal
        ? ask<LegalActions>(environment, { kind: 'legal', state, params, seat })
        : directRules.legal(environment, state, params, seat),
    evaluate: async (environment, ended) =>
      environment.hasSuccess || environment.verdictNames.length > 0
        ? ask<Judgement>(environment, { kind: 'judge', ...ended })
        : {},
    secrets(environment, state, params, seat) {
      const known = (recall(state) as SecretsBySeat | undefined)?.[seat]
      if (!known) return directRules.secrets(environment, state, params, seat)
      if ('error' in known) throw Object.assign(new Error(), known.error)
      return known.listed
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true
      for (const { reject } of queue.splice(0)) reject(disposed())
      await Promise.all([...threads].map((thread) => thread.stop(disposed())))
    },
  }

  /** Has a thread play a call. The secrets that it has listed are remembered for the state that `after` returns. */
  async function ask<Value extends RulesAnswer['value']>(
    { name, version }: EnvironmentDefinition,
    call: AskedCall,
    after?: (value: Value) => SessionState,
    signal?: AbortSignal,
  ): Promise<Value> {
    const { value, secrets } = await run({ environment: { name, version }, ...call }, signal)
    if (after) remember(after(value as Value), secrets)
    return value as Value
  }

  function run(call: RulesCall, signal?: AbortSignal): Promise<RulesAnswer> {
    if (isDisposed) return Promise.reject(disposed())
    if (signal?.aborted) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<RulesAnswer>()
    const waiting = { call, resolve, reject }
    queue.push(waiting)
    assign()
    if (!signal) return promise
    const onAbort = () => giveUp(waiting, signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    return promise.finally(() => signal.removeEventListener('abort', onAbort))
  }

  /** Cancels a call. If a thread plays it already, the thread ends too: rules change nothing outside of it. */
  function giveUp(waiting: WaitingCall, reason: unknown): void {
    const place = queue.indexOf(waiting)
    if (place >= 0) queue.splice(place, 1)
    waiting.reject(reason)
    for (const thread of threads) if (thread.plays(waiting)) void thread.stop(rulesFailed('The call was cancelled.'))
  }

  function assign(): void {
    while (queue.length > 0 && resting.length > 0) resting.pop()?.take(queue.shift() as WaitingCall)
    while (starting < queue.length && threads.size < size) launch()
  }

  function launch(again: WaitingCall | null = null): void {
    let first = again
    let loading = again === null
    if (loading) starting += 1
    const loaded = () => {
      if (loading) starting -= 1
      loading = false
    }
    const thread = new RulesThread({
      modules,
      timeoutSeconds,
      clock,
      onIdle: (idle) => {
        loaded()
        const taken = first
        first = null
        if (taken) return idle.take(taken)
        resting.push(idle)
        assign()
      },
      onGone: (gone, { cause, was, call }) => {
        loaded()
        threads.delete(gone)
        resting = resting.filter((other) => other !== gone)
        // Rules are pure, so a call can be repeated: an earlier call may have caused what ended the thread.
        const repeated = call !== again && !isDisposed ? call : null
        if (call !== repeated) call?.reject(cause)
        if (isDisposed) return first?.reject(cause)
        // If the modules do not load, a call that waits for that would wait for ever.
        if (was === 'loading') (first ?? queue.shift())?.reject(cause)
        // Load a replacement now, so that the next call does not wait for it.
        if (was === 'playing') launch(repeated)
        assign()
      },
    })
    threads.add(thread)
  }
}

/** The fewest threads: with one, a long call would block every other. */
const FEWEST = 2

function disposed(): ServerError {
  return rulesFailed('The rules were stopped, because the server stops.')
}
