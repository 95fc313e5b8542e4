import { defineEnvironment } from '@episodic/mcp-server'
import { type Disk, readFile, startWorkspace, workspaceState, workspaceTools } from '@episodic/workspace'
import { z } from 'zod'
import { drawIncident, KEPT, KINDS } from './incidents.ts'
import { checkout, configFile } from './machine.ts'

/** A shop that takes no orders, and the computer from which it is run. */
export const environment = defineEnvironment({
  name: 'on-call',
  version: '1.0.0',
  description: 'A shop takes no orders. Find out why, make it take orders again, and close the incident.',
  handle: 'incident',
  params: z.object({
    /** The number of things that are wrong at once. */
    faults: z.int().min(1).max(2).default(1),
  }),
  limits: { steps: 30 },
  state: {
    public: z.object({ closed: z.boolean().describe('Whether the incident is closed.') }),
    private: z.object({
      ...workspaceState,
      kinds: z.array(z.enum(KINDS)),
      /** What the files that have to stay as they are began with. */
      kept: z.array(z.string()),
    }),
  },
  start({ params, rng }) {
    const { disk, kinds } = drawIncident(rng, params.faults)
    const kept = KEPT.map((path) => readFile(disk, path) as string)
    return { public: { closed: false }, private: { ...startWorkspace(disk), kinds, kept } }
  },
  observe: () => 'You are on call: http://web.internal/checkout fails. Begin with /root/runbook.md.',
  tools: ({ tool }) => ({
    ...workspaceTools(tool, { cwd: '/root', hidden: ['/run'], programs: new URL('./programs.ts', import.meta.url) }),
    close_incident: tool({
      description: 'Close the incident, once the shop takes orders again. It ends the episode.',
      input: z.object({}),
      play({ state, end, reveal, say }) {
        const shop = state.private
        const works = takesOrders(shop.disk)
        const isWhole = KEPT.every((path, i) => readFile(shop.disk, path) === shop.kept[i])
        state.public.closed = true
        end(reveal(works ? (isWhole ? 'restored' : 'damaged') : 'unresolved'))
        return say('The incident is closed.')
      },
    }),
  }),
  rewards: {
    restored: ({ end }) => (end?.reason === 'restored' ? 1 : 0),
    cost: () => -0.01,
  },
  // Φ, from 0 to ½: ¼ if the files are right, and as much again if the services run with them.
  potential: ({ private: { disk } }) => (takesOrders(disk, configFile) ? 0.25 : 0) + (takesOrders(disk) ? 0.25 : 0),
  success: ({ end }) => end.reason === 'restored',
})

function takesOrders(disk: Disk, file?: Parameters<typeof checkout>[1]): boolean {
  return checkout((path) => readFile(disk, path), file).status === 200
}
