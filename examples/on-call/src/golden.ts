import { definePolicy, randomPolicy, scriptedPolicy } from '@episodic/env'
import { defineGolden, withDelay } from '@episodic/harness'
import type { Action } from '@episodic/protocol'
import { environment } from './environment.ts'
import { solver, stumbling } from './solver.ts'

// The episodes of the golden file. To record them, from the root of the repository:
//   pnpm episodic run examples/on-call/src/golden.ts --policy golden --tasks 7 --out runs/golden-on-call
//   cp runs/golden-on-call/episodes.jsonl examples/on-call/golden/<version>.jsonl

export { environment }

/** Every kind of mistake, and each command and service. An episode that outlasts the script fails. */
const AWKWARD: Action[] = [
  { tool: 'repair', arguments: {} },
  { tool: 'bash', arguments: { command: '' } },
  { tool: 'read_file', arguments: { path: '/run/facts' } },
  { tool: 'bash', arguments: { command: 'services; restart; restart cart; curl -s http://web.internal/; ls /run' } },
  { tool: 'bash', arguments: { command: 'echo release 9 >> /etc/shop/web.conf; restart web; tail -n 4 /var/log/*' } },
  {
    tool: 'bash',
    arguments: { command: 'curl -s http://web.internal/checkout http://10.0.0.1/; rm /etc/shop/web.conf' },
  },
  { tool: 'bash', arguments: { command: 'restart web || services; date' } },
]

const awkward = scriptedPolicy(AWKWARD, 'awkward')

/** Restores the shop, and changes the orders of customers before the incident is closed. */
const damaging = definePolicy({
  name: 'damaging',
  async start(context) {
    const player = await solver.start(context)
    let damaged = false
    return async (observation, view) => {
      const action = await player(observation, view)
      if (damaged || action.tool !== 'close_incident') return action
      damaged = true
      return { tool: 'bash', arguments: { command: 'echo >> /var/lib/orders/orders.csv' } }
    }
  },
})

/** Each player with one fault. */
export const { tasks, policies } = defineGolden({
  environment,
  players: {
    'Play at random.': { policy: randomPolicy() },
    'Play well.': { policy: solver },
    'Restart, and hope.': { policy: stumbling },
    'Play awkwardly.': { policy: awkward },
    'Play awkwardly, and be cut off.': { policy: awkward, limits: { steps: 4 } },
    'Play awkwardly, and too slowly.': { policy: withDelay(awkward, 5), limits: { seconds: 0.001 } },
    'Do damage.': { policy: damaging },
  },
  params: () => ({ faults: 1 }),
  limits: { steps: 16 },
})
