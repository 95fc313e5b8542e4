import { defineTasks } from '@episodic/dataset'
import { definePolicy, type Policy, randomPolicy, scriptedPolicy } from '@episodic/env'
import { withDelay } from '@episodic/harness'
import type { Action } from '@episodic/protocol'
import { environment } from './environment.ts'
import { solver } from './solver.ts'

// The plays that are kept as golden episodes. To record them, from the root of the repository:
//   pnpm episodic run examples/warehouse/src/golden.ts --policy golden --tasks 6 --out runs/golden-warehouse
//   cp runs/golden-warehouse/episodes.jsonl examples/warehouse/golden/<version>.jsonl

export { environment }

/** Whatever can be got wrong, and then a few moves. The script is shorter than the game: whoever plays it to its end fails. */
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

/** Who plays a task, by what it is asked. */
const PLAYERS: Readonly<Record<string, Policy>> = {
  'Play at random.': randomPolicy(),
  'Play well.': solver,
  'Play awkwardly.': awkward,
  'Play awkwardly, and be cut off.': awkward,
  'Play awkwardly, and too slowly.': withDelay(awkward, 5),
  'Play until the battery is empty.': scriptedPolicy(STRANDED, 'stranded'),
}

/** Each player on a small floor. */
export const tasks = defineTasks({
  name: 'warehouse-golden',
  environment,
  generate({ index }) {
    const prompts = Object.keys(PLAYERS)
    const prompt = prompts[index % prompts.length] as string
    return {
      prompt,
      params: { size: 3, articles: 2, bins: 3, orders: 2, capacity: 8, battery: 10 },
      limits: {
        steps: prompt.endsWith('cut off.') ? 4 : 24,
        ...(prompt.endsWith('slowly.') && { seconds: 0.001 }),
      },
      difficulty: 0,
    }
  },
})

export const policies = {
  golden: definePolicy({ name: 'golden', begin: (context) => (PLAYERS[context.task.prompt] ?? solver).begin(context) }),
}
