import { definePolicy, randomPolicy, scriptedPolicy } from '@episodic/env'
import { defineGolden, withDelay } from '@episodic/harness'
import type { Action } from '@episodic/protocol'
import { environment } from './environment.ts'
import { SHOP } from './generated-shop.ts'
import { solver, stumbling } from './solver.ts'

// The episodes of the golden file. To record them, from the root of the repository:
//   pnpm episodic run examples/support-desk/src/golden.ts --policy golden --tasks 7 --out runs/golden-support-desk
//   cp runs/golden-support-desk/episodes.jsonl examples/support-desk/golden/<version>.jsonl

export { environment }

/** Every kind of mistake, and what reads no row. An episode that outlasts the script fails. */
const AWKWARD: Action[] = [
  { tool: 'repair', arguments: {} },
  { tool: 'say', arguments: { text: '' } },
  { tool: 'think', arguments: { thought: 'Who is it?' } },
  { tool: 'say', arguments: { text: 'Why? How do you pay? Who are you, by e-mail? Please confirm.' } },
  { tool: 'get_order_details', arguments: { order_id: 'constructor' } },
  { tool: 'find_user_id_by_name_zip', arguments: { first_name: 'ADA', last_name: 'abel', zip: '0' } },
  { tool: 'list_all_product_types', arguments: {} },
  { tool: 'calculate', arguments: { expression: '2 * (3 + 4.5) / 8 - 7 // 2' } },
  { tool: 'calculate', arguments: { expression: '1 / 0' } },
  { tool: 'transfer_to_human_agents', arguments: { summary: 'I give up.' } },
  { tool: 'say', arguments: { text: 'Is there anything else?' } },
  { tool: 'say', arguments: { text: 'Is there anything else?' } },
]

const awkward = scriptedPolicy(AWKWARD, 'awkward')

/** Serves the customer, and cancels an order that belongs to somebody else. */
const damaging = definePolicy({
  name: 'damaging',
  async start(context) {
    const player = await solver.start(context)
    const other = Object.values(SHOP.orders).find(({ status }) => status === 'pending')?.order_id
    let damaged = false
    return async (observation, view) => {
      const action = await player(observation, view)
      if (damaged || action.tool !== 'close_case') return action
      damaged = true
      return { tool: 'cancel_pending_order', arguments: { order_id: other, reason: 'ordered by mistake' } }
    }
  },
})

/** Each player with a customer who has two requests. */
export const { tasks, policies } = defineGolden({
  environment,
  players: {
    'Play at random.': { policy: randomPolicy() },
    'Play well.': { policy: solver },
    'Serve the first request.': { policy: stumbling },
    'Play awkwardly.': { policy: awkward },
    'Play awkwardly, and be cut off.': { policy: awkward, limits: { steps: 4 } },
    'Play awkwardly, and too slowly.': { policy: withDelay(awkward, 5), limits: { seconds: 0.001 } },
    'Do damage.': { policy: damaging },
  },
  params: () => ({ requests: 2, remembers: false }),
  limits: { steps: 30 },
})
