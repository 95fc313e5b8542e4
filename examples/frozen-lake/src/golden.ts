import { randomPolicy, scriptedPolicy } from '@episodic/env'
import { defineGolden, withDelay } from '@episodic/harness'
import type { Action } from '@episodic/protocol'
import { environment, solver } from './index.ts'

// The episodes of the golden file. To record them, from the root of the repository:
//   pnpm episodic run examples/frozen-lake/src/golden.ts --policy golden --tasks 10 --out runs/golden-frozen-lake
//   cp runs/golden-frozen-lake/episodes.jsonl examples/frozen-lake/golden/<version>.jsonl

export { environment }

/** Every kind of mistake, and then a walk into a corner. An episode that outlasts the script fails. */
const AWKWARD: Action[] = [
  { tool: 'jump', arguments: {} },
  { tool: 'move', arguments: {} },
  { tool: 'move', arguments: { direction: 'north' } },
  { tool: 'move', arguments: { direction: 'up', steps: 2 } },
  { tool: 'move', arguments: { direction: 'left' } },
  { tool: 'move', arguments: { direction: 'up' } },
]

const awkward = scriptedPolicy(AWKWARD, 'awkward')

/** Each player, on a small slippery lake and on a large firm one. */
export const { tasks, policies } = defineGolden({
  environment,
  players: {
    'Play at random.': { policy: randomPolicy() },
    'Play well.': { policy: solver },
    'Play awkwardly.': { policy: awkward },
    'Play awkwardly, and be cut off.': { policy: awkward, limits: { steps: 4 } },
    'Play awkwardly, and too slowly.': { policy: withDelay(awkward, 5), limits: { seconds: 0.001 } },
  },
  params: (round) => ({ map: round === 0 ? ('4x4' as const) : ('8x8' as const), slippery: round === 0 }),
  limits: { steps: 16 },
})
