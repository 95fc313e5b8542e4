import { availableParallelism } from 'node:os'
import type { Action, JsonObject } from '@episodic/protocol'
import { type Clock, type SessionState, systemClock } from '@episodic/state'
import type { Environment } from './environment.ts'
import type { RulesCall } from './isolate-messages.ts'
import { RulesThread, type WaitingCall } from './isolate-thread.ts'
import type { Outcome, RulesTurn, Standing, Start } from './rules.ts'
import type { RulesRunner } from './rules-runner.ts'
import { ServerError } from './server-error.ts'

export interface RulesPoolOptions {
  /** Addresses (`file:` URLs) of the modules that export the environments; each thread loads all of them. */
  readonly modules: readonly string[]
  /** Seconds that the rules of one call may run. Default 10. */
  readonly timeoutSeconds?: number
  readonly clock?: Clock
}

/** Plays rules in threads. Disposing of it ends the threads; calls that were not answered are rejected. */
export interface RulesPool extends RulesRunner, AsyncDisposable {}

/**
 * Creates a pool of threads that play the rules of environments, so that rules which compute for long hold nobody
 * else, and rules which do not come back are stopped.
 *
 * A call that runs for more than `timeoutSeconds`, needs more than 256 MB or ends its thread rejects; its thread is
 * replaced, and calls in other threads do not notice. There are as many threads as cores, two at least, started as they
 * are needed: that many calls run at once, and further ones wait. It shields the server from rules that compute, not
 * from rules that mean harm: they can reach whatever the process can. Parameters are still parsed, and limits chosen,
 * where the host is.
 */
export function createRulesPool(options: RulesPoolOptions): RulesPool {
  return new ThreadPool(options)
}

/** The fewest threads: with one, whoever holds it would hold everybody. */
const FEWEST = 2

class ThreadPool implements RulesPool {
  readonly #options: Required<RulesPoolOptions>
  readonly #size = Math.max(FEWEST, availableParallelism())
  readonly #threads = new Set<RulesThread>()
  /** The one that was used last is last, and is taken first: it is warm. */
  #idle: RulesThread[] = []
  readonly #waiting: WaitingCall[] = []
  #loading = 0
  #disposed = false

  constructor({ modules, timeoutSeconds = 10, clock = systemClock }: RulesPoolOptions) {
    if (!(timeoutSeconds > 0))
      throw new ServerError('option-invalid', `timeoutSeconds is ${timeoutSeconds}, and has to be above 0.`)
    this.#options = { modules, timeoutSeconds, clock }
  }

  start(environment: Environment, params: JsonObject, seed: string): Promise<Start> {
    return this.#run({ kind: 'start', environment: nameOf(environment), params, seed }) as Promise<Start>
  }

  look(environment: Environment, state: SessionState, params: JsonObject): Promise<Standing> {
    return this.#run({ kind: 'look', environment: nameOf(environment), state, params }) as Promise<Standing>
  }

  play(environment: Environment, { record, truncation }: RulesTurn, action: Action): Promise<Outcome> {
    const { params, seed, rng, now, state, history } = record
    const turn = { record: { params, seed, rng, now, state, history }, truncation }
    return this.#run({ kind: 'play', environment: nameOf(environment), turn, action }) as Promise<Outcome>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true
    for (const { reject } of this.#waiting.splice(0)) reject(disposed())
    await Promise.all([...this.#threads].map((thread) => thread.stop(disposed())))
  }

  #run(call: RulesCall): Promise<Standing | Outcome> {
    if (this.#disposed) return Promise.reject(disposed())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject })
      this.#assign()
    })
  }

  /** Gives calls to idle threads, and starts threads for those that are left. */
  #assign(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0)
      this.#idle.pop()?.take(this.#waiting.shift() as WaitingCall)
    while (this.#loading < this.#waiting.length && this.#threads.size < this.#size) this.#launch()
  }

  #launch(): void {
    this.#loading += 1
    let loading = true
    const loaded = () => {
      if (loading) this.#loading -= 1
      loading = false
    }
    const thread = new RulesThread({
      ...this.#options,
      onIdle: (idle) => {
        loaded()
        this.#idle.push(idle)
        this.#assign()
      },
      onGone: (gone, cause, was) => {
        loaded()
        this.#threads.delete(gone)
        this.#idle = this.#idle.filter((other) => other !== gone)
        if (this.#disposed) return
        // Where the worlds do not load, a call that waits for that would wait for ever.
        if (was === 'loading') this.#waiting.shift()?.reject(cause)
        // Whoever calls next should not have to wait until another thread has loaded.
        if (was === 'playing') this.#launch()
        this.#assign()
      },
    })
    this.#threads.add(thread)
  }
}

function nameOf({ name, version }: Environment): RulesCall['environment'] {
  return { name, version }
}

function disposed(): ServerError {
  return new ServerError('rules-failed', 'The rules were stopped, because the server stops.')
}
