import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'
import { hasFailed, push } from './physics.ts'

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
