import type { Action } from '@episodic/protocol'
import type { Tool } from './environment.ts'

/** What a player does to be paid without the work, before it says that the work is done. */
export interface Attack {
  /** To complete "A player who …". */
  readonly name: string
  readonly actions: readonly Action[]
}

/** Returns the attacks by a tool of this name, from the private state at the start and after the solver's work. */
export type AttacksOfTool = (tool: string, start: unknown, solved: unknown) => readonly Attack[]

// A world may have another copy of this package than the command that checks it.
const ATTACKS = Symbol.for('episodic.attacks')

type Attackable = Tool & { readonly [ATTACKS]?: AttacksOfTool }

/** Returns a tool that `check` uses for attacks, which only the package knows that makes the tool. */
export function withAttacks<Made extends Tool>(tool: Made, attacks: AttacksOfTool): Made {
  return { ...tool, [ATTACKS]: attacks }
}

export function attacksOfTool(tool: Tool): AttacksOfTool | null {
  return (tool as Attackable)[ATTACKS] ?? null
}
