import { abortable } from '@episodic/protocol/internal'
import pLimit, { type LimitFunction } from 'p-limit'

/** What a machine keeps of sessions for their next commands: that of the one which has run nothing for longest goes. */
export class SessionPool<Kept> {
  readonly #create: () => Kept
  readonly #remove: (kept: Kept) => Promise<void>
  readonly #most: number
  readonly #turns: LimitFunction
  /** What no command uses, the last used at the end. */
  readonly #idle = new Map<string, Kept>()
  readonly #inOrder = new Map<string, Promise<unknown>>()
  #lent = 0

  /** @param atOnce - how many commands run at once, and `most` of how many sessions something is kept, not less. */
  constructor(atOnce: number, most: number, create: () => Kept, remove: (kept: Kept) => Promise<void>) {
    this.#turns = pLimit(atOnce)
    this.#most = Math.max(atOnce, most)
    this.#create = create
    this.#remove = remove
  }

  /**
   * Gives a command what is kept of its session, in its turn, and after the commands of its session before it. It is
   * removed after a command that throws, or that discards it.
   */
  async use<Result>(
    session: string,
    signal: AbortSignal,
    run: (kept: Kept, discard: () => void) => Promise<Result>,
  ): Promise<Result> {
    const turn = Promise.withResolvers<void>()
    const result = Promise.resolve(this.#inOrder.get(session)).then(() =>
      this.#turns(() => {
        signal.throwIfAborted()
        turn.resolve()
        return this.#lend(session, run)
      }),
    )
    const settled = result.then(
      () => {},
      () => {},
    )
    this.#inOrder.set(session, settled)
    try {
      await abortable(Promise.race([turn.promise, settled]), signal)
      return await result
    } finally {
      void settled.then(() => {
        if (this.#inOrder.get(session) === settled) this.#inOrder.delete(session)
      })
    }
  }

  async #lend<Result>(session: string, run: (kept: Kept, discard: () => void) => Promise<Result>): Promise<Result> {
    const idle = this.#idle.get(session)
    this.#idle.delete(session)
    const [oldest] = this.#idle
    if (!idle && oldest && this.#lent + this.#idle.size >= this.#most) {
      this.#idle.delete(oldest[0])
      await this.#remove(oldest[1])
    }
    this.#lent += 1
    const kept = idle ?? this.#create()
    let isGood = true
    const discard = () => {
      isGood = false
    }
    try {
      return await run(kept, discard)
    } catch (error) {
      discard()
      throw error
    } finally {
      if (isGood) this.#idle.set(session, kept)
      else await this.#remove(kept)
      this.#lent -= 1
    }
  }
}
