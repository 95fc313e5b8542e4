import type { PlayContext, Tool } from '@episodic/mcp-server'
import { z } from 'zod'
import type { ReadOnlyDisk } from '../disk/disk.ts'
import type { WorkspaceState } from './workspace-state.ts'

interface State {
  private: WorkspaceState
}

/**
 * Returns a tool by which the agent says that the work is done. It ends the episode with the reason `solved` or
 * `wrong`, by what a function says of the final disk; the agent reads neither.
 *
 * `tool` is the maker of tools of the definition.
 */
export function submitTool(tool: unknown, isSolved: (disk: ReadOnlyDisk) => boolean): Tool {
  return (tool as (definition: object) => Tool)({
    description: 'Say that the work is done.',
    input: z.object({}),
    play({ state, end, say }: PlayContext<State, unknown, object, undefined>) {
      end(isSolved(state.private.disk) ? 'solved' : 'wrong')
      return say('Thank you.')
    },
  })
}
