import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'
import { roundTrip } from './params.ts'

/**
 * From two articles on a small floor to a floor of 8 × 8 with a small cart and a battery for little more than one trip.
 */
export const tasks = defineTasks({
  name: 'warehouse',
  environment,
  generate({ rng, difficulty }) {
    const between = (easiest: number, hardest: number) => Math.round(easiest + (hardest - easiest) * difficulty)
    const size = between(3, 8)
    const articles = between(2, 7)
    const orders = between(2, 8)
    const capacity = between(8, 4)
    const params = {
      size,
      articles,
      bins: articles + rng.int(1, between(2, 6)),
      orders,
      capacity,
      battery: roundTrip(size) + Math.round((1 - difficulty) * 2 * roundTrip(size)),
    }
    return {
      prompt: `Deliver all ${orders} orders to the dock with a cart for ${capacity} units. Urgent ones first, and do not run out of battery.`,
      hints: [
        'Nobody has counted the bins. Look before you walk all the way to one that may be empty.',
        'The way back to the dock takes battery too.',
      ],
      params,
      difficulty,
      tags: [size <= 5 ? 'small' : 'large', `articles-${articles}`],
    }
  },
})
