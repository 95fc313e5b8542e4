import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from './check-world.ts'

interface Answering {
  readonly text: string
  /** Of the answer that ends an episode. */
  readonly last?: string
  readonly dataFollows?: boolean
}

/** A shop with one tool, which answers twice with a text and data. */
function shop({ text, last = text, dataFollows }: Answering) {
  return {
    environment: defineEnvironment({
      name: 'shop',
      version: '1.0.0',
      description: 'Ask for a price.',
      params: z.object({}),
      state: { public: z.object({ asked: z.int() }), private: z.object({}) },
      start: () => ({ public: { asked: 0 }, private: {} }),
      // What the player observes is not what the tool says.
      observe: () => 'Something for 120 is open.',
      tools: ({ tool }) => ({
        ask: tool({
          description: 'Ask.',
          input: z.object({}),
          output: z.object({ price: z.int(), status: z.string() }),
          ...(dataFollows !== undefined && { dataFollows }),
          play({ state, end, say }) {
            state.public.asked += 1
            if (state.public.asked === 2) end('asked')
            return say(state.public.asked === 2 ? last : text, { price: 120, status: 'open' })
          },
        }),
      }),
      rewards: { asked: ({ end }) => (end?.reason === 'asked' ? 1 : 0) },
    }),
    solver: definePolicy({ name: 'asking', start: () => () => ({ tool: 'ask', arguments: {} }) }),
  }
}

const warned = async (answering: Answering) =>
  (await checkWorld(shop(answering), { only: ['rewards'] })).checks.flatMap(({ warnings }) =>
    warnings.map(({ name }) => name).filter((name) => name.startsWith('data-')),
  )

const ALL = 'It is open, for 120.'

describe('the check of what the texts of answers leave out of their data', () => {
  it('warns of each field that no text and no line of JSON shows a model', async () => {
    expect(await warned({ text: 'It is open.', dataFollows: false })).toEqual(['data-unsaid:ask.price'])
    expect(await warned({ text: ALL, last: 'Done.', dataFollows: false })).toEqual([
      'data-unsaid:ask.price',
      'data-unsaid:ask.status',
    ])
    expect(await warned({ text: ALL, dataFollows: false })).toEqual([])
  })

  it('warns if every text says what follows it', async () => {
    expect(await warned({ text: ALL })).toEqual(['data-repeated:ask'])
    for (const some of [{ text: 'It is open.' }, { text: ALL, last: 'Done.' }, { text: 'Done.', last: ALL }])
      expect(await warned(some)).toEqual([])
    expect(await warned({ text: 'Here: {"price":120,"status":"open"}' })).toEqual([])
  })
})
