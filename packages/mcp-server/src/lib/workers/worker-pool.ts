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
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  return new ThreadPool(options)
}

/** The fewest threads: with one, a long call would block every other. */
const FEWEST = 2

class ThreadPool implements WorkerPool {
  readonly prepares = false
  readonly #options: Required<WorkerPoolOptions>
  readonly #size = Math.max(FEWEST, availableParallelism())
  readonly #threads = new Set<RulesThread>()
  /** The most recently used thread is last and is taken first, because its code is warm. */
  #idle: RulesThread[] = []
  readonly #waiting: WaitingCall[] = []
  #loading = 0
  #disposed = false

  constructor({ modules, timeoutSeconds = 10, clock = systemClock }: WorkerPoolOptions) {
    if (!(timeoutSeconds > 0))
      throw new ServerError('option-invalid', `timeoutSeconds is ${timeoutSeconds}, and has to be above 0.`)
    this.#options = { modules, timeoutSeconds, clock }
  }

  readonly start: RulesRunner['start'] = (environment, params, seed) =>
    this.#ask<InitialState>(environment, { kind: 'start', params, seed }, ({ state }) => state)

  readonly observe: RulesRunner['observe'] = (environment, state, params, seat) =>
    this.#ask<ObservedState>(environment, { kind: 'observe', state, params, seat }, () => state)

  readonly play: RulesRunner['play'] = (environment, { seat, record, truncation }, action, waiting) => {
    const { params, seed, rng, now, state, history, end, outside, seats, turn: inTurn } = record
    const known = { params, seed, rng, now, state, history, end, outside, seats, turn: inTurn }
    const call = { kind: 'play', turn: { seat, record: known, truncation }, action } as const
    return this.#ask<PlayOutcome>(environment, call, ({ change }) => change?.state ?? state, waiting?.signal)
  }

  readonly apply: RulesRunner['apply'] = (environment, { record }, event) => {
    const { params, seed, rng, now, state, seats, turn: inTurn } = record
    const turn = { record: { params, seed, rng, now, state, seats, turn: inTurn } }
    return this.#ask<Happened>(environment, { kind: 'event', turn, event }, ({ change }) => change.state)
  }

  readonly legal: RulesRunner['legal'] = async (environment, state, params, seat) =>
    environment.hasLegal
      ? this.#ask<LegalActions>(environment, { kind: 'legal', state, params, seat })
      : directRules.legal(environment, state, params, seat)

  readonly evaluate: RulesRunner['evaluate'] = async (environment, ended) =>
    environment.hasSuccess || environment.verdictNames.length > 0
      ? this.#ask<Judgement>(environment, { kind: 'judge', ...ended })
      : {}

  readonly secrets: RulesRunner['secrets'] = (environment, state, params, seat) => {
    const known = (recall(state) as SecretsBySeat | undefined)?.[seat]
    if (!known) return directRules.secrets(environment, state, params, seat)
    if ('error' in known) throw Object.assign(new Error(), known.error)
    return known.listed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true
    for (const { reject } of this.#waiting.splice(0)) reject(disposed())
    await Promise.all([...this.#threads].map((thread) => thread.stop(disposed())))
  }

  /** Has a thread play a call. The secrets that it has listed are remembered for the state that `after` returns. */
  async #ask<Value extends RulesAnswer['value']>(
    { name, version }: EnvironmentDefinition,
    call: AskedCall,
    after?: (value: Value) => SessionState,
    signal?: AbortSignal,
  ): Promise<Value> {
    const { value, secrets } = await this.#run({ environment: { name, version }, ...call }, signal)
    if (after) remember(after(value as Value), secrets)
    return value as Value
  }

  #run(call: RulesCall, signal?: AbortSignal): Promise<RulesAnswer> {
    if (this.#disposed) return Promise.reject(disposed())
    if (signal?.aborted) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<RulesAnswer>()
    const waiting = { call, resolve, reject }
    this.#waiting.push(waiting)
    this.#assign()
    if (!signal) return promise
    const giveUp = () => this.#giveUp(waiting, signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    return promise.finally(() => signal.removeEventListener('abort', giveUp))
  }

  /** Cancels a call. If a thread plays it already, the thread ends too: rules change nothing outside of it. */
  #giveUp(waiting: WaitingCall, reason: unknown): void {
    const place = this.#waiting.indexOf(waiting)
    if (place >= 0) this.#waiting.splice(place, 1)
    waiting.reject(reason)
    for (const thread of this.#threads)
      if (thread.plays(waiting)) void thread.stop(rulesFailed('The call was cancelled.'))
  }

  #assign(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0)
      this.#idle.pop()?.take(this.#waiting.shift() as WaitingCall)
    while (this.#loading < this.#waiting.length && this.#threads.size < this.#size) this.#launch()
  }

  #launch(again: WaitingCall | null = null): void {
    let first = again
    let loading = again === null
    if (loading) this.#loading += 1
    const loaded = () => {
      if (loading) this.#loading -= 1
      loading = false
    }
    const thread = new RulesThread({
      ...this.#options,
      onIdle: (idle) => {
        loaded()
        const taken = first
        first = null
        if (taken) return idle.take(taken)
        this.#idle.push(idle)
        this.#assign()
      },
      onGone: (gone, { cause, was, call }) => {
        loaded()
        this.#threads.delete(gone)
        this.#idle = this.#idle.filter((other) => other !== gone)
        // Rules are pure, so a call can be repeated: an earlier call may have caused what ended the thread.
        const repeated = call !== again && !this.#disposed ? call : null
        if (call !== repeated) call?.reject(cause)
        if (this.#disposed) return first?.reject(cause)
        // If the modules do not load, a call that waits for that would wait for ever.
        if (was === 'loading') (first ?? this.#waiting.shift())?.reject(cause)
        // Load a replacement now, so that the next call does not wait for it.
        if (was === 'playing') this.#launch(repeated)
        this.#assign()
      },
    })
    this.#threads.add(thread)
  }
}

function disposed(): ServerError {
  return rulesFailed('The rules were stopped, because the server stops.')
}
