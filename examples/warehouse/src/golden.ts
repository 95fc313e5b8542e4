import { randomPolicy, scriptedPolicy } from '@episodic/env'
import { defineGolden, withDelay } from '@episodic/harness'
import type { Action } from '@episodic/protocol'
import { environment } from './environment.ts'
import { solver } from './solver.ts'

// The episodes of the golden file. To record them, from the root of the repository:
//   pnpm episodic run examples/warehouse/src/golden.ts --policy golden --tasks 6 --out runs/golden-warehouse
//   cp runs/golden-warehouse/episodes.jsonl examples/warehouse/golden/<version>.jsonl

export { environment }

/** Every kind of mistake, and then a few moves. An episode that outlasts the script fails. */
const AWKWARD: Action[] = [
  { tool: 'teleport', arguments: {} },
  { tool: 'move', arguments: { direction: 'north' } },
  { tool: 'pick', arguments: { quantity: 0 } },
  { tool: 'move', arguments: { direction: 'up' } },
  { tool: 'deliver', arguments: {} },
  { tool: 'recharge', arguments: {} },
  { tool: 'pick', arguments: { quantity: 1 } },
  { tool: 'move', arguments: { direction: 'right' } },
  { tool: 'look', arguments: {} },
  { tool: 'recharge', arguments: {} },
]

/** Up and down, away from the dock, until the battery is empty. */
const STRANDED: Action[] = ['right', ...Array.from({ length: 9 }, (_, i) => (i % 2 === 0 ? 'down' : 'up'))].map(
  (direction) => ({ tool: 'move', arguments: { direction } }),
)

const awkward = scriptedPolicy(AWKWARD, 'awkward')

/** Each player on a small floor. */
export const { tasks, policies } = defineGolden({
  environment,
  players: {
    'Play at random.': { policy: randomPolicy() },
    'Play well.': { policy: solver },
    'Play awkwardly.': { policy: awkward },
    'Play awkwardly, and be cut off.': { policy: awkward, limits: { steps: 4 } },
    'Play awkwardly, and too slowly.': { policy: withDelay(awkward, 5), limits: { seconds: 0.001 } },
    'Play until the battery is empty.': { policy: scriptedPolicy(STRANDED, 'stranded') },
  },
  params: () => ({ size: 3, articles: 2, bins: 3, orders: 2, capacity: 8, battery: 10 }),
  limits: { steps: 24 },
})
