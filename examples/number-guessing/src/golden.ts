import { defineTasks } from '@episodic/dataset'
import { definePolicy, type Policy, randomPolicy, scriptedPolicy } from '@episodic/env'
import { withDelay } from '@episodic/harness'
import type { Action } from '@episodic/protocol'
import { environment } from './environment.ts'
import { solver } from './solver.ts'

// The plays that are kept as golden episodes. To record them, from the root of the repository:
//   pnpm episodic run examples/number-guessing/src/golden.ts --policy golden --tasks 20 --out runs/golden-number-guessing
//   cp runs/golden-number-guessing/episodes.jsonl examples/number-guessing/golden/<version>.jsonl

export { environment }

/** Whatever can be got wrong, and then a few guesses. The script is shorter than the game: whoever plays it to its end fails. */
const AWKWARD: Action[] = [
  { tool: 'peek', arguments: {} },
  { tool: 'guess', arguments: {} },
  { tool: 'guess', arguments: { value: 'fifty' } },
  { tool: 'guess', arguments: { value: 2.5 } },
  { tool: 'guess', arguments: { value: 101 } },
  { tool: 'guess', arguments: { value: 1, and: 'more' } },
  { tool: 'guess', arguments: { value: 1 } },
  { tool: 'guess', arguments: { value: 2 } },
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

/** Each player with many guesses and with few. */
export const tasks = defineTasks({
  name: 'number-guessing-golden',
  environment,
  generate({ index }) {
    const prompts = Object.keys(PLAYERS)
    const prompt = prompts[index % prompts.length] as string
    return {
      prompt,
      params: { maxGuesses: index < prompts.length ? 8 : 3 },
      limits: {
        steps: prompt.endsWith('cut off.') ? 4 : 20,
        ...(prompt.endsWith('slowly.') && { seconds: 0.001 }),
      },
      difficulty: 0,
    }
  },
})

export const policies = {
  golden: definePolicy({ name: 'golden', begin: (context) => (PLAYERS[context.task.prompt] ?? solver).begin(context) }),
}
