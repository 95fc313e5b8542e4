import { defineTasks } from '@episodic/dataset'
import { definePolicy, type Policy, randomPolicy, scriptedPolicy } from '@episodic/env'
import { withDelay } from '@episodic/harness'
import type { Action } from '@episodic/protocol'
import { environment } from './environment.ts'
import { solver } from './solver.ts'

// The plays that are kept as golden episodes. To record them, from the root of the repository:
//   pnpm episodic run examples/frozen-lake/src/golden.ts --policy golden --tasks 10 --out runs/golden-frozen-lake
//   cp runs/golden-frozen-lake/episodes.jsonl examples/frozen-lake/golden/<version>.jsonl

export { environment }

/** Whatever can be got wrong, and then a walk into a corner. The script is shorter than the game: whoever plays it to its end fails. */
const AWKWARD: Action[] = [
  { tool: 'jump', arguments: {} },
  { tool: 'move', arguments: {} },
  { tool: 'move', arguments: { direction: 'north' } },
  { tool: 'move', arguments: { direction: 'up', steps: 2 } },
  { tool: 'move', arguments: { direction: 'left' } },
  { tool: 'move', arguments: { direction: 'up' } },
]

const awkward = scriptedPolicy(AWKWARD, 'awkward')

/** Who plays a task, by what it is asked. */
const PLAYERS: Readonly<Record<string, Policy>> = {
  'Play at random.': randomPolicy(),
  'Play well.': solver,
  'Play awkwardly.': awkward,
  'Play awkwardly, and be cut off.': awkward,
  'Play awkwardly, and too slowly.': withDelay(awkward, 5),
}

/** Each player on a small slippery lake, and on a large firm one. */
export const tasks = defineTasks({
  name: 'frozen-lake-golden',
  environment,
  generate({ index }) {
    const prompts = Object.keys(PLAYERS)
    const prompt = prompts[index % prompts.length] as string
    const isSmall = index < prompts.length
    return {
      prompt,
      params: isSmall ? { map: '4x4', slippery: true } : { map: '8x8', slippery: false },
      limits: {
        steps: prompt.endsWith('cut off.') ? 4 : 16,
        ...(prompt.endsWith('slowly.') && { seconds: 0.001 }),
      },
      difficulty: 0,
    }
  },
})

export const policies = {
  golden: definePolicy({ name: 'golden', begin: (context) => (PLAYERS[context.task.prompt] ?? solver).begin(context) }),
}
