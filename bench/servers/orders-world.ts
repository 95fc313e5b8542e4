import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

const order = z.object({
  customer: z.string(),
  status: z.string(),
  total: z.number(),
  items: z.array(z.number()),
  city: z.string(),
})

type Orders = { readonly [id: string]: z.infer<typeof order> }

const tables = new Map<number, Orders>()

/** A table of so many rows of about 110 bytes, made once and frozen: sessions share it. */
export function tableOf(rows: number): Orders {
  const table = tables.get(rows) ?? Object.freeze(Object.fromEntries(Array.from({ length: rows }, (_, i) => rowOf(i))))
  tables.set(rows, table)
  return table
}

function rowOf(i: number): [string, Orders[string]] {
  const items = [i % 7, i % 11]
  Object.freeze(items)
  const row = {
    customer: `customer ${i % 977}`,
    status: 'open',
    total: (i * 3) % 1_000,
    items,
    city: `city ${i % 100}`,
  }
  return [`order-${i}`, Object.freeze(row)]
}

/** A world whose state is a table of orders, of which each call changes as many rows as it says. */
export const orders = defineEnvironment({
  name: 'orders',
  version: '1.0.0',
  description: 'Orders of a shop.',
  params: z.object({ rows: z.int().min(1) }),
  state: { public: z.object({ calls: z.int() }), private: z.object({ orders: z.record(z.string(), order) }) },
  start: ({ params }) => ({ public: { calls: 0 }, private: { orders: tableOf(params.rows) } }),
  observe: ({ calls }) => `${calls} calls.`,
  tools: ({ tool }) => ({
    change: tool({
      description: 'Changes the status of some orders.',
      input: z.object({ from: z.int().min(0), count: z.int().min(1) }),
      play({ state, input, params, say }) {
        for (let i = 0; i < input.count; i++) {
          const changed = state.private.orders[`order-${(input.from + i * 31) % params.rows}`]
          if (changed) changed.status = `changed in call ${state.public.calls}`
        }
        state.public.calls += 1
        return say('Changed.')
      },
    }),
  }),
  rewards: {},
  limits: { steps: 1_000_000 },
})
