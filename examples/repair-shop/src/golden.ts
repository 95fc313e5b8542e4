import { randomPolicy, scriptedPolicy } from '@episodic/env'
import { defineGolden, withDelay } from '@episodic/harness'
import type { Action } from '@episodic/protocol'
import { environment } from './environment.ts'
import { solver, stumbling } from './solver.ts'

// The episodes of the golden file. To record them, from the root of the repository:
//   pnpm episodic run examples/repair-shop/src/golden.ts --policy golden --tasks 6 --out runs/golden-repair-shop
//   cp runs/golden-repair-shop/episodes.jsonl examples/repair-shop/golden/<version>.jsonl

export { environment }

/** Every kind of mistake, and a look around with each tool. An episode that outlasts the script fails. */
const AWKWARD: Action[] = [
  { tool: 'repair', arguments: {} },
  { tool: 'bash', arguments: { command: '' } },
  { tool: 'read_file', arguments: { path: 'nothing.js' } },
  { tool: 'bash', arguments: { command: 'pwd; ls; node test/all.js; cat /judge/calls.json' } },
  { tool: 'list_files', arguments: {} },
  { tool: 'search', arguments: { pattern: 'export function', path: 'src' } },
  { tool: 'read_file', arguments: { path: 'src/index.js', lines: 8 } },
  { tool: 'write_file', arguments: { path: 'src/index.js', content: 'export const = 1\n' } },
  { tool: 'submit', arguments: {} },
  { tool: 'bash', arguments: { command: 'rm -r src; date; echo $RANDOM' } },
  { tool: 'submit', arguments: {} },
  { tool: 'edit_file', arguments: { path: 'README.md', old_text: '# ', new_text: '## ' } },
]

const awkward = scriptedPolicy(AWKWARD, 'awkward')

/** Each player with two bugs. */
export const { tasks, policies } = defineGolden({
  environment,
  players: {
    'Play at random.': { policy: randomPolicy() },
    'Play well.': { policy: solver },
    'Play well, as far as it goes.': { policy: stumbling },
    'Play awkwardly.': { policy: awkward },
    'Play awkwardly, and be cut off.': { policy: awkward, limits: { steps: 4 } },
    'Play awkwardly, and too slowly.': { policy: withDelay(awkward, 5), limits: { seconds: 0.001 } },
  },
  params: () => ({ difficulty: 2 }),
  limits: { steps: 16 },
})
