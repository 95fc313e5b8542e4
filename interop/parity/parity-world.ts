import { classics } from '@episodic/classics'
import * as onCall from '@episodic-world/on-call'
import * as repairShop from '@episodic-world/repair-shop'
import * as supportDesk from '@episodic-world/support-desk'
import { WORLDS, type World } from '../worlds/world.ts'

/** A world whose solver knows its parameters. */
export type ParityWorld = Pick<World, 'name' | 'environment' | 'tasks' | 'solver' | 'demanding'>

/** Tools of the classics with an argument that is required. Frozen lake is among the examples. */
const DEMANDING: Readonly<Record<string, ParityWorld['demanding']>> = {
  'cliff-walking': { tool: 'move', argument: 'direction' },
  taxi: { tool: 'act', argument: 'action' },
}

/** Worlds with a large state: of files and a shell, and of a database. */
export const COMPUTERS: readonly ParityWorld[] = [
  { name: 'on-call', ...onCall, demanding: { tool: 'bash', argument: 'command' } },
  { name: 'repair-shop', ...repairShop, demanding: { tool: 'read_file', argument: 'path' } },
  { name: 'support-desk', ...supportDesk, demanding: { tool: 'get_user_details', argument: 'user_id' } },
]

/** The example worlds, and the classics. */
export const PARITY_WORLDS: readonly ParityWorld[] = [
  ...WORLDS,
  ...COMPUTERS,
  ...classics.flatMap(({ environment, tasks, solver }) => {
    const { name } = environment
    const demanding = DEMANDING[name]
    return demanding ? [{ name, environment, tasks, solver, demanding }] : []
  }),
]
