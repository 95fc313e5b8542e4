import type { Rng } from '@episodic/protocol'
import type { WaitingClock } from '@episodic/run/base/waiting-clock'
import type { Link } from './memory-queue.ts'
import { Disconnected } from './queue-model.ts'
import type { VirtualTime } from './virtual-time.ts'

/** The machine of the queue, which may be away for a while. */
export interface QueueMachine {
  /** Virtual milliseconds from which on it answers; in the past while it is there. */
  readonly backAt: number
}

/** Milliseconds that a message takes, at most. */
const LATENCY = 3
/** Milliseconds until a client notices that its connection is gone, and connects again, at most. */
const RECONNECTION = 500

/**
 * A process in virtual time: its clock and its link to the queue. After `kill`, nothing of it happens any more. While
 * it is frozen, as by SIGSTOP, whatever is due for it waits.
 */
export class SimulatedProcess {
  readonly #time: VirtualTime
  readonly #rng: Rng
  readonly #machine: QueueMachine
  /** How likely a call loses its connection: before it is done, or after. */
  readonly #losses: number
  /** Called with each call that is sent. */
  readonly #onCall: () => void
  #isKilled = false
  #wakesAt = 0

  constructor(time: VirtualTime, rng: Rng, machine: QueueMachine, losses: number, onCall: () => void) {
    this.#onCall = onCall
    this.#time = time
    this.#rng = rng
    this.#machine = machine
    this.#losses = losses
  }

  get isKilled(): boolean {
    return this.#isKilled
  }

  kill(): void {
    this.#isKilled = true
  }

  freeze(milliseconds: number): void {
    this.#wakesAt = Math.max(this.#wakesAt, this.#time.now() + milliseconds)
  }

  readonly clock: WaitingClock = {
    now: () => this.#time.now(),
    wait: (milliseconds, signal) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (signal.aborted) return Promise.resolve()
      const end = () => {
        signal.removeEventListener('abort', end)
        resolve()
      }
      signal.addEventListener('abort', end)
      this.after(milliseconds, end)
      return promise
    },
  }

  readonly link: Link = {
    send: (call) => new Promise((resolve, reject) => this.#send(call, resolve, reject)),
    isCut: () => this.#isKilled,
  }

  /** Does something in this process after so many milliseconds; never if it was killed by then. */
  after(milliseconds: number, action: () => void): void {
    this.#time.after(milliseconds, () => {
      if (this.#isKilled) return
      const frozen = this.#wakesAt - this.#time.now()
      if (frozen > 0) this.after(frozen, action)
      else action()
    })
  }

  /** Sends a call until it is answered. */
  #send<T>(call: () => T | Promise<T>, resolve: (value: T) => void, reject: (error: unknown) => void): void {
    this.#onCall()
    const again = () => this.after(this.#rng.int(1, RECONNECTION), () => this.#send(call, resolve, reject))
    const answer = (value: T) => {
      if (this.#rng.chance(this.#losses)) again()
      else this.after(this.#rng.int(0, LATENCY), () => resolve(value))
    }
    const fail = (error: unknown) => (error instanceof Disconnected ? again() : reject(error))
    const arrive = () => {
      if (this.#machine.backAt > this.#time.now() || this.#rng.chance(this.#losses)) return again()
      try {
        const done = call()
        if (done instanceof Promise) done.then(answer, fail)
        else answer(done)
      } catch (error) {
        reject(error)
      }
    }
    // The message travels, whatever happens to its sender meanwhile.
    this.#time.after(this.#rng.int(0, LATENCY), arrive)
  }
}
