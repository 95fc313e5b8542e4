import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'
import { formatFloor, list, place } from './describe-floor.ts'
import { addUnits, binHere, countUnits, distance, Floor, isAtDock } from './floor.ts'
import { drawLayout } from './layout.ts'
import { handIn, isComplete, unitsDelivered, unitsOrdered, unitsUnderWay } from './orders.ts'
import { MOST_ORDERED, Params, roundTrip } from './params.ts'

/** The range of a look, in moves. */
export const LOOK_REACH = 2

const STEPS = {
  up: { row: -1, column: 0 },
  down: { row: 1, column: 0 },
  left: { row: 0, column: -1 },
  right: { row: 0, column: 1 },
}

/** Fill orders from bins with unknown stock, with a small cart and a battery that runs out. */
export const environment = defineEnvironment({
  name: 'warehouse',
  version: '1.1.0',
  description: 'Fill the orders of a warehouse: find the stock, fetch it with a cart, and mind the battery.',
  handle: 'shift',
  params: Params,
  state: {
    public: Floor,
    // The actual stock of each bin.
    private: z.object({ stock: z.record(z.string(), z.int().min(0)) }),
  },
  // Enough to fetch every unit by itself and to try every bin, with a recharge and a delivery each time.
  limits: ({ orders, bins, size }) => ({ steps: (orders * MOST_ORDERED + bins) * (roundTrip(size) + 2) }),
  start({ params, rng }) {
    const { floor, stock } = drawLayout(params, rng)
    return { public: floor, private: { stock } }
  },
  observe: formatFloor,
  tools: ({ tool }) => ({
    look: tool({
      description: `Count what is in the bins up to ${LOOK_REACH} moves away. Takes 1 of the battery.`,
      input: z.object({}),
      play({ state: { public: floor, private: hidden }, refuse, reveal, say, end }) {
        const near = floor.bins.filter((bin) => distance(bin, floor.position) <= LOOK_REACH)
        if (near.length === 0) return refuse(`No bin is within ${LOOK_REACH} moves.`)
        if (floor.battery === 0) return refuse('The battery is empty. Recharge.')
        for (const bin of near) bin.counted = reveal(hidden.stock[bin.name] ?? 0)
        if (drain(floor)) end('out-of-battery')
        const counts = near.map(({ name, counted }) => `${counted} in ${name}`).join(', ')
        return say(`You counted ${counts}.${stranded(floor)}`)
      },
    }),
    move: tool({
      description:
        'Move the cart by one tile. Takes 1 of the battery. With an empty battery away from the dock the cart is stranded, and everything ends.',
      input: z.object({
        direction: z
          .enum(['up', 'down', 'left', 'right'])
          .describe('Up is to a lower row, down to a higher row, left to a lower column, right to a higher column.'),
      }),
      play({ state: { public: floor }, input, refuse, say, end }) {
        const step = STEPS[input.direction]
        const row = floor.position.row + step.row
        const column = floor.position.column + step.column
        if (Math.min(row, column) < 0 || Math.max(row, column) >= floor.size)
          return refuse('There is a wall, and the cart is where it was.')
        if (floor.battery === 0) return refuse('The battery is empty. Recharge.')
        floor.position = { row, column }
        if (drain(floor)) end('out-of-battery')
        return say(`You moved to ${place(floor.position)}.${stranded(floor)}`)
      },
    }),
    pick: tool({
      description:
        'Take up to a number of units from the bin where you are, as far as it has them and the cart has room. Takes 1 of the battery.',
      input: z.object({ quantity: z.int().min(1).max(50).describe('Most units to take.') }),
      play({ state: { public: floor, private: hidden }, input, params, refuse, reveal, say, end }) {
        const bin = binHere(floor)
        if (!bin) return refuse('There is no bin on this tile.')
        const asked = Math.min(input.quantity, params.capacity - countUnits(floor.cart))
        if (asked === 0) return refuse('The cart is full.')
        const inStock = hidden.stock[bin.name] ?? 0
        const taken = reveal(Math.min(asked, inStock))
        hidden.stock[bin.name] = inStock - taken
        addUnits(floor.cart, bin.article, taken)
        // A pick of fewer units than asked for reveals that the bin is empty.
        if (taken < asked) bin.counted = 0
        else if (bin.counted !== null) bin.counted -= taken
        if (drain(floor)) end('out-of-battery')
        return say(`You took ${taken} ${bin.article} from ${bin.name}.${stranded(floor)}`)
      },
    }),
    deliver: tool({
      description: 'Hand in the whole cart at the dock. Urgent orders are filled first; what no order wants is wasted.',
      input: z.object({}),
      play({ state: { public: floor }, refuse, say, end }) {
        if (!isAtDock(floor)) return refuse('You can deliver only at the dock, which is at row 0, column 0.')
        if (countUnits(floor.cart) === 0) return refuse('The cart is empty.')
        const said = `You delivered ${list(floor.cart)}.`
        handIn(floor)
        floor.minute += 1
        if (!floor.orders.every(isComplete)) return say(said)
        end('all-delivered')
        return say(`${said} Every order is complete.`)
      },
    }),
    recharge: tool({
      description: 'Charge the battery at the dock until it is full.',
      input: z.object({}),
      play({ state: { public: floor }, params, refuse, say }) {
        if (!isAtDock(floor)) return refuse('You can recharge only at the dock, which is at row 0, column 0.')
        if (floor.battery === params.battery) return refuse('The battery is full.')
        floor.battery = params.battery
        floor.minute += 1
        return say('The battery is full again.')
      },
    }),
  }),
  rewards: {
    // The share of all ordered units that this step delivered: 1 over an episode that delivers all.
    delivered: ({ before, after }) =>
      (unitsDelivered(after.public.orders) - unitsDelivered(before.public.orders)) / unitsOrdered(after.public.orders),
    // At most ½ per episode, split evenly over the urgent orders, for those that are completed in time.
    priority({ before, after }) {
      const urgent = after.public.orders.filter(({ due }) => due !== null)
      const completed = urgent.filter(
        (order) =>
          isComplete(order) &&
          after.public.minute <= (order.due as number) &&
          before.public.orders.some((earlier) => earlier.name === order.name && !isComplete(earlier)),
      )
      return urgent.length === 0 ? 0 : (0.5 * completed.length) / urgent.length
    },
    // A penalty for each surplus unit: half of the reward of a wanted one.
    waste: ({ before, after }) =>
      (0.5 * (countUnits(before.public.surplus) - countUnits(after.public.surplus))) /
      unitsOrdered(after.public.orders),
    // Every answered step costs a little, refused ones too; a charge costs more.
    cost: ({ tool, refused }) => (tool === 'recharge' && !refused ? -0.01 : -0.001),
  },
  // Φ, from 0 to 1: the share of the ordered units that is delivered; those in the cart count half.
  potential: ({ public: { orders, cart } }) =>
    (unitsDelivered(orders) + unitsUnderWay(orders, cart) / 2) / unitsOrdered(orders),
})

/** Uses one unit of charge and a minute. Returns whether the cart is stranded. */
function drain(floor: Floor): boolean {
  floor.battery -= 1
  floor.minute += 1
  return isStranded(floor)
}

function isStranded(floor: Floor): boolean {
  return floor.battery === 0 && !isAtDock(floor)
}

/** Added to an answer if the cart is stranded. */
function stranded(floor: Floor): string {
  return isStranded(floor) ? ' The battery is empty, and the cart is stranded.' : ''
}
