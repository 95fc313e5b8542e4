import { defineEnvironment } from '@episodic/mcp-server'
import type { Action, JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { plainTasks } from '../plain-tasks.ts'
import { played } from '../played.ts'
import type { Reference } from '../reference.ts'
import { cosine, sine } from '../sine.ts'
import { strategyPolicy } from '../strategy-policy.ts'
import { trajectory } from '../trajectory.ts'

const PUSHES = { left: -0.001, none: 0, right: 0.001 } as const
const GRAVITY = 0.0025
const TOP_SPEED = 0.07
const LEFT_WALL = -1.2
const RIGHT_END = 0.6
const GOAL = 0.5

/** Drive a car that is too weak out of a valley: Gymnasium's MountainCar-v0. */
export const environment = defineEnvironment({
  name: 'mountain-car',
  version: '1.0.0',
  description: 'Drive a car out of a valley. Its engine is too weak to climb the right side without a run-up.',
  handle: 'drive',
  params: z.object({
    start: z
      .object({
        position: z.number().min(LEFT_WALL).max(GOAL),
        velocity: z.number().min(-TOP_SPEED).max(TOP_SPEED),
      })
      .optional(),
  }),
  state: {
    public: z.object({
      position: z
        .number()
        .min(LEFT_WALL)
        .max(RIGHT_END)
        .describe('From -1.2, a wall on the left, to the goal at 0.5. The lowest point is at -0.52.'),
      velocity: z.number().min(-TOP_SPEED).max(TOP_SPEED).describe('The change of the position a step.'),
    }),
    private: z.object({}),
  },
  limits: { steps: 200 },
  start: ({ params, rng }) => ({
    public: params.start ?? { position: rng.float() * 0.2 - 0.6, velocity: 0 },
    private: {},
  }),
  observe: ({ position, velocity }) =>
    `The car is at ${position.toFixed(4)} and moves by ${velocity.toFixed(5)} a step. The goal is at 0.5, on the right. Positive is right.`,
  legal: () => ({ drive: Object.keys(PUSHES).map((push) => ({ push })) }),
  tools: ({ tool }) => ({
    drive: tool({
      description: 'Drive for one step: push left, push right, or let the car roll.',
      input: z.object({ push: z.enum(['left', 'none', 'right']).describe('Where the engine pushes.') }),
      play({ state: { public: car }, input, end, say }) {
        const velocity = bounded(
          car.velocity + PUSHES[input.push] + cosine(3 * car.position) * -GRAVITY,
          -TOP_SPEED,
          TOP_SPEED,
        )
        car.position = bounded(car.position + velocity, LEFT_WALL, RIGHT_END)
        car.velocity = car.position === LEFT_WALL && velocity < 0 ? 0 : velocity
        if (car.position < GOAL || car.velocity < 0) return say('You drove on.')
        end('goal')
        return say('You reached the goal.')
      },
    }),
  }),
  rewards: { step: () => -1 },
  // Φ: the energy of the car, from about -50 at rest in the valley to 50 at rest at the goal.
  potential: ({ public: { position, velocity } }) =>
    50 * (sine(3 * position) + (3 / (2 * GRAVITY)) * velocity * velocity),
  success: ({ end }) => end.reason === 'goal',
  check: {
    waive: {
      'exploit-pays':
        'The classic has costs and no prize, so a drive that is given up costs less than one that arrives.',
      'not-learned': 'The classic is hard to explore: random play never meets the goal.',
    },
  },
})

function bounded(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}

/** One start for each seed. */
export const tasks = plainTasks(environment, {
  prompt: 'Drive the car to the goal on the right in as few steps as you can, within 200.',
  hints: ['The engine is too weak to climb at once: swing to and fro first.'],
})

const pushing = (push: 'left' | 'right'): Action => ({ tool: 'drive', arguments: { push } })

/** Strategies with published trajectories. */
const strategies = {
  right: () => pushing('right'),
  swing: ({ velocity = 0 }: JsonObject) => pushing((velocity as number) >= 0 ? 'right' : 'left'),
}

/** Pushes to where the car rolls, so that it swings higher each time. It arrives, some 20 steps later than the best. */
export const solver = strategyPolicy('swing', strategies.swing)

const REST = { position: -0.5, velocity: 0 }

/** Gymnasium's MountainCar-v0. Its registered threshold is -110. */
export const references: readonly Reference[] = [
  trajectory(
    'swing',
    REST,
    'right if the velocity is 0 or more, else left: steps, last state',
    [124, 0.5349499825655736, 0.04819097792866507],
  ),
  trajectory('right', REST, 'always right: steps, last state', [200, -0.2965991815988749, -0.005983565045918341]),
  // The reference is a mean over 401 even starts; those of played episodes are drawn.
  played('solver', { value: -119.41, tolerance: 0.5, source: 'simulated with Gymnasium 1.4.0' }),
]

export const mountainCar: Classic = { environment, tasks, solver, references, strategies }
export const measure = measureOf(mountainCar)
