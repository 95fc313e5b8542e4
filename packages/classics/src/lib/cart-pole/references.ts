import type { Reference } from '../reference.ts'
import { trajectory } from '../trajectory.ts'

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
  {
    id: 'solver-played',
    params: {},
    quantity: 'mean return of the solver',
    value: 500,
    tolerance: 'interval',
    source: 'the limit of steps of Gymnasium 1.4.0',
    how: { kind: 'played', policy: 'solver' },
  },
  {
    id: 'random-played',
    params: {},
    quantity: 'mean return of random actions',
    value: 22.3,
    // The reference is a mean of 2,000 episodes with a deviation of 11.7: twice its 99.9 % interval.
    tolerance: 1.7,
    source: 'simulated with Gymnasium 1.4.0',
    how: { kind: 'played', policy: 'random' },
  },
]
