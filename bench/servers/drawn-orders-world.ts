import { defineEnvironment } from '@episodic/mcp-server'
import type { Rng } from '@episodic/protocol'
import { z } from 'zod'

const STATUSES = ['pending', 'paid', 'delivered', 'returned'] as const
const order = z.object({
  customer: z.string(),
  status: z.enum(STATUSES),
  total: z.number(),
  items: z.array(z.object({ sku: z.string(), count: z.int() })),
})
export const drawnState = z.object({ orders: z.record(z.string(), order) })

/** Draws a table of orders of about 120 bytes each. */
export function drawOrders(rng: Rng, rows: number): z.output<typeof drawnState> {
  const draw = rng.stream('orders')
  const one = (): z.output<typeof order> => ({
    customer: `customer-${draw.int(0, 4_999)}`,
    status: draw.pick(STATUSES),
    total: draw.int(100, 99_999) / 100,
    items: [{ sku: `sku-${draw.int(0, 9_999)}`, count: draw.int(1, 5) }],
  })
  return { orders: Object.fromEntries(Array.from({ length: rows }, (_, i) => [`order-${i}`, one()])) }
}

/** A world whose large table is drawn by the seed, so that no two sessions share it. */
export const drawnOrders = defineEnvironment({
  name: 'drawn-orders',
  version: '1.0.0',
  description: 'Orders that the seed draws.',
  params: z.object({ rows: z.int().min(1).default(20_000) }),
  state: { public: z.object({}), private: drawnState },
  limits: { steps: 1_000 },
  start: ({ params, rng }) => ({ public: {}, private: drawOrders(rng, params.rows) }),
  observe: () => 'There are orders.',
  tools: ({ tool }) => ({
    find: tool({
      description: 'Read an order.',
      input: z.object({ id: z.string() }),
      play: ({ state, input, say, reveal }) => say(reveal(JSON.stringify(state.private.orders[input.id] ?? null))),
    }),
  }),
  rewards: { cost: () => -0.01 },
})
