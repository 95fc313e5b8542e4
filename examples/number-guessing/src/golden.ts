import { randomPolicy, scriptedPolicy } from '@episodic/env'
import { defineGolden, withDelay } from '@episodic/harness'
import type { Action } from '@episodic/protocol'
import { environment, solver } from './index.ts'

// The episodes of the golden file. To record them, from the root of the repository:
//   pnpm episodic run examples/number-guessing/src/golden.ts --policy golden --tasks 10 --out runs/golden
//   cp runs/golden/episodes.jsonl examples/number-guessing/golden/<version>.jsonl

export { environment }

/** Every kind of mistake, and then a few guesses. An episode that outlasts the script fails. */
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

/** Each player, with many guesses and with few. */
export const { tasks, policies } = defineGolden({
  environment,
  players: {
    'Play at random.': { policy: randomPolicy() },
    'Play well.': { policy: solver },
    'Play awkwardly.': { policy: awkward },
    'Play awkwardly, and be cut off.': { policy: awkward, limits: { steps: 4 } },
    'Play awkwardly, and too slowly.': { policy: withDelay(awkward, 5), limits: { seconds: 0.001 } },
  },
  params: (round) => ({ maxGuesses: round === 0 ? 8 : 3 }),
  limits: { steps: 20 },
})
