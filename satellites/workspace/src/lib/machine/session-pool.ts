import { abortable } from '@episodic/protocol/internal'
import pLimit from 'p-limit'

export type SessionPool<Kept> = ReturnType<typeof createSessionPool<Kept>>

/**
 * What a machine keeps of sessions for their next commands: that of the one which has run nothing for longest goes.
 *
 * @param atOnce - how many commands run at once, and `most` of how many sessions something is kept, not less.
 */
export function createSessionPool<Kept>(
  atOnce: number,
  most: number,
  create: () => Kept,
  remove: (kept: Kept) => Promise<void>,
) {
  /** What no command uses, the last used at the end. */
  const idleOnes = new Map<string, Kept>()
  const inOrder = new Map<string, Promise<unknown>>()
  let lent = 0
  const turns = pLimit(atOnce)
  const mostIdle = Math.max(atOnce, most)
  return {
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
      const result = Promise.resolve(inOrder.get(session)).then(() =>
        turns(() => {
          signal.throwIfAborted()
          turn.resolve()
          return lend(session, run)
        }),
      )
      const settled = Promise.allSettled([result])
      inOrder.set(session, settled)
      try {
        await abortable(Promise.race([turn.promise, settled]), signal)
        return await result
      } finally {
        void settled.then(() => {
          if (inOrder.get(session) === settled) inOrder.delete(session)
        })
      }
    },
  }

  async function lend<Result>(
    session: string,
    run: (kept: Kept, discard: () => void) => Promise<Result>,
  ): Promise<Result> {
    const idle = idleOnes.get(session)
    idleOnes.delete(session)
    const [oldest] = idleOnes
    if (!idle && oldest && lent + idleOnes.size >= mostIdle) {
      idleOnes.delete(oldest[0])
      await remove(oldest[1])
    }
    lent += 1
    const kept = idle ?? create()
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
      if (isGood) idleOnes.set(session, kept)
      else await remove(kept)
      lent -= 1
    }
  }
}
