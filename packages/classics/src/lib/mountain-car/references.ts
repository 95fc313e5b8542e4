import type { Reference } from '../reference.ts'
import { trajectory } from '../trajectory.ts'

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
  {
    id: 'solver-played',
    params: {},
    quantity: 'mean return of the solver',
    value: -119.41,
    // The reference is a mean over 401 even starts; those of played episodes are drawn.
    tolerance: 0.5,
    source: 'simulated with Gymnasium 1.4.0',
    how: { kind: 'played', policy: 'solver' },
  },
]
