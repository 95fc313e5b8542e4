import { afterThisTurn } from '@episodic/protocol/internal'

/** Most items of one batch. */
const MOST = 64

/**
 * Returns a function that asks for one item. What is asked for in one turn of the event loop is asked for together,
 * since a call of Redis costs more than what is in it. If a call rejects, so do all of its items.
 *
 * @param ask - asks for several items, and resolves with their answers in the same order.
 */
export function createBatch<Item, Answer>(
  ask: (items: readonly Item[]) => Promise<readonly Answer[]>,
): (item: Item) => Promise<Answer> {
  let waiting: { readonly item: Item; readonly answer: PromiseWithResolvers<Answer> }[] = []
  const send = async (batch: typeof waiting) => {
    try {
      const answers = await ask(batch.map(({ item }) => item))
      for (const [index, { answer }] of batch.entries()) answer.resolve(answers[index] as Answer)
    } catch (error) {
      for (const { answer } of batch) answer.reject(error)
    }
  }
  const flush = () => {
    const all = waiting
    waiting = []
    for (let i = 0; i < all.length; i += MOST) void send(all.slice(i, i + MOST))
  }
  return (item) => {
    const answer = Promise.withResolvers<Answer>()
    if (waiting.push({ item, answer }) === 1) afterThisTurn(flush)
    return answer.promise
  }
}
