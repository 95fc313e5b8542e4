import type { PlayContext, Tool } from '@episodic/mcp-server'
import { z } from 'zod'
import type { ReadOnlyDisk } from '../disk/disk.ts'
import type { WorkspaceState } from './workspace-state.ts'

const NO_INPUT = z.object({})

interface State {
  private: WorkspaceState
}

/**
 * Returns a tool by which the agent says that the work is done. It ends the episode with the reason `solved` or
 * `wrong`, by what a function says of the final disk; the agent reads neither.
 *
 * `tool` is the maker of tools of the definition.
 */
export function submitTool(tool: unknown, isSolved: (disk: ReadOnlyDisk) => boolean): Tool<typeof NO_INPUT, null> {
  return (tool as (definition: object) => Tool<typeof NO_INPUT, null>)({
    description: 'Say that the work is done.',
    input: NO_INPUT,
    play({ state, end, say }: PlayContext<State, unknown, object, undefined>) {
      end(isSolved(state.private.disk) ? 'solved' : 'wrong')
      return say('Thank you.')
    },
  })
}
