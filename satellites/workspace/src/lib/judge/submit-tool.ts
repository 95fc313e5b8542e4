import type { PlayContext, Tool } from '@episodic/mcp-server'
import { z } from 'zod'
import type { ReadOnlyDisk } from '../disk/disk.ts'
import type { WorkspaceState } from '../tools/workspace-state.ts'
import { type Judgement, judgement } from './judgement.ts'

const NO_INPUT = z.object({})

type Play<Prepared = undefined> = PlayContext<{ private: WorkspaceState }, unknown, object, undefined, Prepared>

/** Decides by running programs, as `judge` and `judgeCalls` do: the episode is solved if all tests passed. */
export interface SubmitJudge {
  readonly judge: (disk: ReadOnlyDisk, signal: AbortSignal) => Promise<Judgement>
}

/** Seconds that a judge may take, with the time until there is a thread. */
const SECONDS = 1_200

/**
 * Returns a tool by which the agent says that the work is done. It ends the episode with the reason `solved` or
 * `wrong`, by what a function says of the final disk, or by a judge; the agent reads neither.
 *
 * `tool` is the maker of tools of the definition.
 */
export function submitTool(
  tool: unknown,
  by: ((disk: ReadOnlyDisk) => boolean) | SubmitJudge,
): Tool<typeof NO_INPUT, null> {
  const make = tool as (definition: object) => Tool<typeof NO_INPUT, null>
  const common = { description: 'Say that the work is done.', input: NO_INPUT }
  const play = ({ end, say }: Pick<Play, 'end' | 'say'>, isSolved: boolean) => {
    end(isSolved ? 'solved' : 'wrong')
    return say('Thank you.')
  }
  if (typeof by === 'function')
    return make({ ...common, play: (context: Play) => play(context, by(context.state.private.disk)) })
  return make({
    ...common,
    prepared: judgement,
    repeatable: true,
    prepareSeconds: SECONDS,
    annotations: { openWorldHint: false },
    prepare: ({ state, signal }: Pick<Play & { readonly signal: AbortSignal }, 'state' | 'signal'>) =>
      by.judge(state.private.disk, signal),
    play: (context: Play<Judgement>) => play(context, context.prepared.passed === context.prepared.tests.length),
  })
}
