import { defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { digestOf, type GoldenCase, playGolden } from './golden.ts'

/** A till: `add` puts coins in, and `close` ends it, which is solved with the amount of the task in it. */
const environment = defineEnvironment({
  name: 'till',
  version: '1.0.0',
  description: 'Put coins into a till.',
  params: z.object({ task: z.string(), amount: z.int() }),
  state: { public: z.object({}), private: z.object({ coins: z.int(), moved: z.int() }) },
  start: () => ({ public: {}, private: { coins: 0, moved: 0 } }),
  observe: () => 'A till.',
  tools: ({ tool }) => ({
    add: tool({
      description: 'Puts coins in.',
      input: z.object({ coins: z.int() }),
      play({ state, input: { coins }, refuse, say }) {
        if (coins < 0) return refuse('Coins are not taken out.')
        state.private.coins += coins
        state.private.moved += 1
        return say(`${coins} more.`)
      },
    }),
    close: tool({
      description: 'Ends.',
      input: z.object({}),
      play({ end, say }) {
        end('closed')
        return say('Closed.')
      },
    }),
  }),
  rewards: {},
  success: ({ state, params }) => state.private.coins === params.amount,
})

const world = {
  environment,
  goldenState: ({ private: { coins } }: { private: { coins?: unknown } }) => ({ coins: coins as number }),
}
const add = (coins: number) => ({ tool: 'add', arguments: { coins } })
const close = { tool: 'close', arguments: {}, answers: false as const }
const right: GoldenCase = {
  task: 'three',
  params: { task: 'three', amount: 3 },
  calls: [add(1), add(-1), add(2), close],
  // printf '%s' '["1 more.","Coins are not taken out.","2 more."]' | sha256sum, and of '{"coins":3}'
  expected: { answers: 'a232939e54fdf92a', state: '48adb0b8ee56bbc2', solved: true },
}

describe('playGolden', () => {
  it('finds nothing different where answers, compared parts of the state and the verdict are those of the original', async () => {
    expect(await playGolden(world, right)).toMatchObject({ task: 'three', differs: [], failure: null, solved: true })
    // How often coins were moved is no part that is compared, and nor is the answer of a call of our own.
    const other = { ...right, calls: [add(1), add(-1), { ...add(0), answers: false as const }, add(2), close] }
    expect(await playGolden(world, other)).toMatchObject({ differs: [] })
  })

  it('names what is different, and plays a task of which nothing was recorded', async () => {
    const fewer = { ...right, calls: [add(1), add(1), close] }
    expect(await playGolden(world, fewer)).toMatchObject({ differs: ['answers', 'state', 'solved'], solved: false })
    expect(await playGolden(world, { ...right, calls: right.calls.slice(0, 3) })).toMatchObject({ differs: ['solved'] })
    expect(await playGolden(world, { ...fewer, expected: null })).toMatchObject({
      differs: [],
      state: digestOf({ coins: 2 }),
    })
  })

  it('says of calls that cannot be played why', async () => {
    const after = { ...right, calls: [...right.calls, add(1)] }
    expect(await playGolden(world, after)).toMatchObject({ failure: expect.stringContaining('has ended (closed)') })
  })
})
