import { classics } from '@episodic/classics'
import { WORLDS, type World } from '../world.ts'

/** A world whose solver knows its parameters. */
export type ParityWorld = Pick<World, 'name' | 'environment' | 'tasks' | 'solver' | 'demanding'>

/** Tools of the classics with an argument that is required. Frozen lake is among the examples. */
const DEMANDING: Readonly<Record<string, ParityWorld['demanding']>> = {
  'cliff-walking': { tool: 'move', argument: 'direction' },
  taxi: { tool: 'act', argument: 'action' },
}

/** The example worlds, and the classics. */
export const PARITY_WORLDS: readonly ParityWorld[] = [
  ...WORLDS,
  ...classics.flatMap(({ environment, tasks, solver }) => {
    const { name } = environment
    const demanding = DEMANDING[name]
    return demanding ? [{ name, environment, tasks, solver, demanding }] : []
  }),
]
