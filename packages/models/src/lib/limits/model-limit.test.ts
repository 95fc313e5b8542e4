import { expect, it } from 'vitest'
import { createModelLimit, type ModelLimit, untilTurn } from './model-limit.ts'
import { describeModelLimit } from './model-limit-contract.fixture.ts'

describeModelLimit('createModelLimit', createModelLimit)

const rates = { requestsPerMinute: 1, tokensPerMinute: null }

it('untilTurn rejects with the reason of an abort while it waits', async () => {
  const limit = createModelLimit()
  await untilTurn(limit, 'm', rates, 0, undefined)
  const controller = new AbortController()
  const waiting = untilTurn(limit, 'm', rates, 0, controller.signal)
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

it('untilTurn takes a new turn if a pause began while it waited, and gives the tokens of the lost one back', async () => {
  const waits = [1, 1, 0]
  const pauses = [5, 0]
  const corrected: number[] = []
  const limit: ModelLimit = {
    reserve: async () => waits.shift() as number,
    correct: async (_, __, tokens) => void corrected.push(tokens),
    pause: () => Promise.reject(new Error('nobody pauses here')),
    pausedFor: async () => pauses.shift() as number,
  }
  await untilTurn(limit, 'm', rates, 7, undefined)
  expect([waits, pauses, corrected]).toEqual([[0], [], [-7]])
})
