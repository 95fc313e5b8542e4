import { defineEnvironment } from '@episodic/mcp-server'
import type { Action, JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { plainTasks } from '../plain-tasks.ts'
import { played } from '../played.ts'
import type { Reference } from '../reference.ts'
import { strategyPolicy } from '../strategy-policy.ts'
import { trajectory } from '../trajectory.ts'
import { type CartPole, hasFailed, push } from './cart-pole/physics.ts'

/** Balance a pole on a cart: Gymnasium's CartPole-v1. */
export const environment = defineEnvironment({
  name: 'cart-pole',
  version: '1.0.0',
  description: 'Push a cart left and right so that the pole on it does not fall over.',
  handle: 'cart',
  params: z.object({
    start: z
      .object({
        position: z.number().min(-1).max(1),
        velocity: z.number().min(-1).max(1),
        angle: z.number().min(-0.2).max(0.2),
        angularVelocity: z.number().min(-1).max(1),
      })
      .optional(),
  }),
  state: {
    public: z.object({
      position: z.number().min(-10).max(10).describe('Metres right of the middle of the track. Beyond 2.4 it ends.'),
      velocity: z.number().min(-100).max(100).describe('Metres a second, to the right.'),
      angle: z.number().min(-4).max(4).describe('Radians that the pole leans to the right. Beyond 0.2094 it ends.'),
      angularVelocity: z.number().min(-100).max(100).describe('Radians a second, to the right.'),
    }),
    private: z.object({}),
  },
  limits: { steps: 500 },
  start({ params, rng }) {
    const near = () => rng.float() * 0.1 - 0.05
    const drawn = () => ({ position: near(), velocity: near(), angle: near(), angularVelocity: near() })
    return { public: params.start ?? drawn(), private: {} }
  },
  observe: ({ position, velocity, angle, angularVelocity }) =>
    `The cart is at ${position.toFixed(4)} m and moves at ${velocity.toFixed(4)} m/s; the pole leans by ${angle.toFixed(4)} rad and turns at ${angularVelocity.toFixed(4)} rad/s. Positive is right.`,
  legal: () => ({ push: [{ side: 'left' }, { side: 'right' }] }),
  tools: ({ tool }) => ({
    push: tool({
      description:
        'Push the cart with 10 N for a fiftieth of a second. It ends when the pole leans more than 12 degrees, or the cart is more than 2.4 m from the middle.',
      input: z.object({ side: z.enum(['left', 'right']).describe('Where you push the cart.') }),
      play({ state, input, end, say }) {
        Object.assign(state.public, push(state.public, input.side))
        if (!hasFailed(state.public)) return say(`You pushed the cart ${input.side}.`)
        end('fallen')
        return say('The pole fell over, or the cart left the track.')
      },
    }),
  }),
  rewards: { upright: ({ refused }) => (refused === null ? 1 : 0) },
  success: ({ end }) => end.reason === 'step-limit',
  check: {
    waive: {
      'success-unearned':
        'Success is the limit of 500 steps, as in Gymnasium. A refused step counts towards it, and earns nothing.',
    },
  },
})

/** One pole for each seed. */
export const tasks = plainTasks(environment, {
  prompt: 'Keep the pole on the cart upright for 500 steps.',
  hints: ['Push to the side to which the pole leans and turns.'],
})

const pushing = (isRight: boolean): Action => ({ tool: 'push', arguments: { side: isRight ? 'right' : 'left' } })

/** Strategies with published trajectories or returns. */
const strategies = {
  right: () => pushing(true),
  'in-turn': (_: JsonObject, step: number) => pushing(step % 2 === 1),
  lean: (state: JsonObject) => {
    const { angle, angularVelocity } = state as unknown as CartPole
    return pushing(angle + 0.5 * angularVelocity > 0)
  },
  balance: (state: JsonObject) => {
    const { position, velocity, angle, angularVelocity } = state as unknown as CartPole
    return pushing(0.1 * position + 0.3 * velocity + angle + 0.5 * angularVelocity > 0)
  },
}

/** Pushes to where the pole leans and turns, and stays near the middle: the pole stands for all 500 steps. */
export const solver = strategyPolicy('balance', strategies.balance)

const REST = { position: 0, velocity: 0, angle: 0, angularVelocity: 0 }

/** Gymnasium's CartPole-v1. Its registered threshold is 475. */
export const references: readonly Reference[] = [
  trajectory(
    'right',
    REST,
    'always right: steps, last state',
    [9, 0.14065097203306187, 1.7603811257683097, -0.21518604988500967, -2.777886494012814],
  ),
  trajectory(
    'in-turn',
    REST,
    'left and right in turn: steps, last state',
    [33, -0.06798842646536493, -0.22704193111119805, 0.21752149891109665, 1.0187864542305172],
  ),
  trajectory(
    'balance',
    { position: 0.01, velocity: -0.02, angle: 0.03, angularVelocity: -0.04 },
    'right if 0.1 x + 0.3 x′ + θ + 0.5 θ′ > 0: steps, last state',
    [500, -0.06104966960219645, -0.023065730026330306, -0.005107779341694488, 0.027648620819595238],
  ),
  played('solver', { value: 500, tolerance: 'interval', source: 'the limit of steps of Gymnasium 1.4.0' }),
  // The reference is a mean of 2,000 episodes with a deviation of 11.7: twice its 99.9 % interval.
  played('random', { value: 22.3, tolerance: 1.7, source: 'simulated with Gymnasium 1.4.0' }),
]

export const cartPole: Classic = { environment, tasks, solver, references, strategies }
export const measure = measureOf(cartPole)
