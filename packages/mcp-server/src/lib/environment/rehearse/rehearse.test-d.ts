import { z } from 'zod'
import { defineEnvironment } from '../definition/define-environment.ts'
import type { EnvironmentDefinition } from '../definition/environment.ts'
import { type Rehearsal, rehearse } from './rehearse.ts'

const shop = defineEnvironment({
  name: 'shop',
  version: '1.0.0',
  description: 'Sells things.',
  params: z.object({ stock: z.int().default(3) }),
  state: {
    public: z.object({ stock: z.int(), open: z.boolean() }),
    private: z.object({ price: z.number() }),
  },
  tools: ({ tool }) => ({
    buy: tool({
      description: 'Buy some.',
      input: z.object({ amount: z.int(), gift: z.boolean().default(false) }),
      output: z.object({ paid: z.number() }),
      play: ({ say }) => say({ paid: 1 }),
    }),
    close: tool({ description: 'Close.', input: z.object({}), play: ({ say }) => say('Closed.') }),
  }),
  start: ({ params }) => ({ public: { stock: params.stock, open: true }, private: { price: 2 } }),
  observe: ({ stock }) => `${stock} left.`,
  rewards: { sold: () => 0 },
})

const world = rehearse(shop, { params: { stock: 2 }, privateState: { price: 5 } })
world.state.public.stock satisfies number
world.state.private.price satisfies number
world.play('buy', { amount: 1 }).observation.structured?.paid satisfies number | undefined
world.play('close', {}).observation.structured?.open satisfies boolean | undefined
void world.prepare('buy', { amount: 1, gift: true })

world.play('close', {}).terms.sold satisfies number

// @ts-expect-error there is no such reward term
world.play('close', {}).terms.solt
// @ts-expect-error there is no such tool
world.play('sell', {})
// @ts-expect-error an argument is missing
world.play('buy', {})
// @ts-expect-error an argument has another type
world.play('buy', { amount: 'one' })
// @ts-expect-error the tool has no such argument
world.play('buy', { amount: 1, colour: 'red' })
// @ts-expect-error the answer has no such field
world.play('buy', { amount: 1 }).observation.structured?.change
// @ts-expect-error the public state has no such field
world.state.public.price
// @ts-expect-error the private state has no such field
world.state.private.stock
// @ts-expect-error there is no such parameter
rehearse(shop, { params: { stok: 2 } })
// @ts-expect-error the private state has another type
rehearse(shop, { privateState: { price: 'five' } })

// A test of refusals plays what an agent may send.
const any: Rehearsal = rehearse<EnvironmentDefinition>(shop)
any.play('sell', {})
any.play('buy', { amount: 'one' })
