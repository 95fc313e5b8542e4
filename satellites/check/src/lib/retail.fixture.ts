import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { createRng, type Rng } from '@episodic/protocol'
import { z } from 'zod'

// A shop whose whole database is private state, as in benchmarks of customer service.

const address = z.object({ street: z.string(), city: z.string(), country: z.string(), zip: z.string() })
const item = z.object({
  product: z.string(),
  name: z.string(),
  price: z.number(),
  options: z.record(z.string(), z.string()),
})
const payment = z.object({ method: z.string(), amount: z.number(), card: z.string() })
const user = z.object({ name: z.string(), email: z.string(), address, phone: z.string(), orders: z.array(z.string()) })
const order = z.object({
  user: z.string(),
  status: z.enum(['pending', 'delivered', 'cancelled']),
  address,
  items: z.array(item),
  payments: z.array(payment),
  note: z.string(),
})
const database = z.object({
  users: z.record(z.string(), user),
  orders: z.record(z.string(), order),
})
type Database = z.infer<typeof database>

const CITIES = ['Lahore', 'Austin', 'Denver', 'Utrecht', 'Osaka', 'Leeds', 'Turin', 'Quito']
const THINGS = ['lamp', 'kettle', 'backpack', 'keyboard', 'jigsaw', 'bottle', 'bicycle', 'desk']
const COLOURS = ['red', 'blue', 'green', 'black']

function wordOf(rng: Rng, length: number): string {
  return Array.from({ length }, () => String.fromCharCode(97 + rng.int(0, 25))).join('')
}

function addressOf(rng: Rng): z.infer<typeof address> {
  return {
    street: `${rng.int(1, 999)} ${wordOf(rng, 9)} street`,
    city: rng.pick(CITIES),
    country: 'Nowhere',
    zip: String(rng.int(10_000, 99_999)),
  }
}

function databaseOf(rng: Rng, rows: number): Database {
  const users: Database['users'] = {}
  const orders: Database['orders'] = {}
  for (let i = 0; i < Math.ceil(rows / 4); i++)
    users[`user_${i}`] = {
      name: `${wordOf(rng, 6)} ${wordOf(rng, 8)}`,
      email: `${wordOf(rng, 7)}.${i}@shop.example`,
      address: addressOf(rng),
      phone: `+${rng.int(100_000_000, 999_999_999)}`,
      orders: [],
    }
  for (let i = 0; i < rows; i++) {
    const buyer = `user_${i % Math.ceil(rows / 4)}`
    const items = Array.from({ length: 4 }, (_, at) => ({
      product: `product_${rng.int(0, 999)}`,
      name: `${COLOURS[at]} ${rng.pick(THINGS)}`,
      price: rng.int(100, 99_999) / 100,
      options: { size: rng.pick(['small', 'large']), material: rng.pick(['wood', 'steel', 'glass']) },
    }))
    orders[`W${100_000 + i}`] = {
      user: buyer,
      status: i % 3 === 2 ? 'delivered' : 'pending',
      address: addressOf(rng),
      items,
      payments: [{ method: 'card', amount: 10, card: String(rng.int(1_000_000_000, 9_999_999_999)) }],
      note: `${wordOf(rng, 12)} ${wordOf(rng, 10)} ${wordOf(rng, 11)}`,
    }
    users[buyer]?.orders.push(`W${100_000 + i}`)
  }
  return { users, orders }
}

/** What the answers of a shop say without \`reveal\`: all of an order, or one field of it. */
export type RetailLeak = 'row' | 'column' | 'prepared' | null

export interface Retail {
  /** Orders of the database: about 1,000 bytes each, with their users. */
  readonly rows: number
  /** Whether all episodes begin with one frozen database. Otherwise each has one of its own. */
  readonly shared?: boolean
  readonly leak?: RetailLeak
  /** Whether agents may read the database, so that nothing of it has to be revealed. */
  readonly readable?: boolean
}

/** A shop whose agent finds an order of a customer and cancels it. */
export function retail({ rows, shared = true, leak = null, readable = false }: Retail) {
  const frozen = freeze(databaseOf(createRng('shop'), rows))
  const environment = defineEnvironment({
    name: 'retail',
    version: '1.0.0',
    description: 'Cancel the pending orders of a customer who wrote to the shop.',
    params: z.object({}),
    state: {
      public: z.object({ email: z.string(), cancelled: z.int() }),
      private: z.object({ db: database, most: z.int() }),
    },
    limits: { steps: 20 },
    ...(readable && { readable: ['db'] }),
    start({ rng }) {
      const db = shared ? frozen : databaseOf(rng.stream('shop'), rows)
      const chosen = rng.pick(Object.keys(db.users))
      return {
        public: { email: db.users[chosen]?.email as string, cancelled: 0 },
        private: { db, most: rng.int(1, 9) },
      }
    },
    observe: ({ email, cancelled }) => `${email} writes: cancel my pending orders. Cancelled: ${cancelled}.`,
    tools: ({ tool }) => ({
      find_orders: tool({
        description: 'Find the orders of a customer by the address of the e-mail.',
        input: z.object({ email: z.string().max(100).describe('Where the e-mail came from.') }),
        output: z.object({ orders: z.array(z.string()) }),
        play({ state, input, reveal, say, refuse }) {
          const found = Object.values(state.private.db.users).find(({ email }) => email === input.email)
          if (!reveal(found !== undefined)) return refuse('There is no such customer.')
          return say({ orders: reveal([...(found?.orders ?? [])]) })
        },
      }),
      read_order: tool({
        description: 'Read the status of an order.',
        input: z.object({ order: z.string().max(20).describe('Its id.') }),
        output: z.object({ status: z.string(), more: z.string() }),
        prepared: z.object({ note: z.string() }),
        repeatable: true,
        prepare: ({ state, input }) => ({
          note: leak === 'prepared' ? (state.private.db.orders[input.order]?.note ?? '') : '',
        }),
        play({ state, input, prepared, reveal, say, refuse }) {
          const found = state.private.db.orders[input.order]
          if (!reveal(found !== undefined) || !found) return refuse('There is no such order.')
          const more = leak === 'row' ? JSON.stringify(found) : leak === 'column' ? found.note : prepared.note
          return say({ status: reveal(found.status), more })
        },
      }),
      cancel_order: tool({
        description: 'Cancel a pending order.',
        input: z.object({ order: z.string().max(20).describe('Its id.') }),
        play({ state, input, reveal, say, refuse, end }) {
          const found = state.private.db.orders[input.order]
          if (!reveal(found?.status === 'pending') || !found) return refuse('There is no such pending order.')
          found.status = 'cancelled'
          state.public.cancelled += 1
          const { orders = [] } =
            Object.values(state.private.db.users).find(({ email }) => email === state.public.email) ?? {}
          if (reveal(orders.every((id) => state.private.db.orders[id]?.status !== 'pending'))) end('done')
          return say('It is cancelled.')
        },
      }),
    }),
    rewards: {
      done: ({ end }) => (end?.reason === 'done' ? 1 : 0),
      wrong: ({ before, after, tool, input }) =>
        tool === 'cancel_order' &&
        after.public.cancelled > before.public.cancelled &&
        after.private.db.users[after.private.db.orders[String(input?.order)]?.user as string]?.email !==
          after.public.email
          ? -1
          : 0,
      time: () => -0.01,
    },
    success: ({ end }) => end.reason === 'done',
  })
  const tasks = defineTasks({
    name: 'retail',
    environment,
    generate: ({ difficulty }) => ({ prompt: 'Cancel the pending orders of the customer.', params: {}, difficulty }),
  })
  const solver = definePolicy({
    name: 'clerk',
    start() {
      let todo: string[] = []
      return (observation, { last }) => {
        const { orders, status } = observation.structured ?? {}
        const email = /^\S+/.exec(observation.text)?.[0] ?? ''
        if (last === null) return { tool: 'find_orders', arguments: { email } }
        if (Array.isArray(orders)) todo = [...(orders as string[])]
        if (status === 'pending') return { tool: 'cancel_order', arguments: { order: todo.shift() as string } }
        if (status !== undefined) todo.shift()
        return { tool: 'read_order', arguments: { order: todo[0] ?? 'W0' } }
      }
    },
  })
  return { environment, tasks, solver }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(Object.freeze(value))) freeze(inner)
  return value
}
