import type { Policy } from '@episodic/env'
import { rehearse } from '@episodic/mcp-server'
import type { Action, JsonObject, Step } from '@episodic/protocol'
import { asStep, beginPlayer } from '../rehearsed-episode.ts'
import type { CheckedWorld, Setting } from '../subject.ts'

/**
 * A player that gives one action after the other without being told what came of them: it plays the same in a rehearsal
 * of its own, so that what it does makes sense. Once that has ended, it goes on with what it did last.
 */
export async function listeningPlayer(
  { environment }: CheckedWorld,
  setting: Setting,
  policy: Policy,
  { seed, privateState }: { readonly seed: string; readonly privateState: JsonObject },
): Promise<() => Promise<Action>> {
  const rehearsal = rehearse(environment, { params: setting.params, seed, privateState })
  const player = await beginPlayer(policy, environment, setting, seed)
  let last: Step | null = null
  let action: Action | null = null
  let steps = 0
  return async () => {
    if (action && rehearsal.end !== null) return action
    action = await player(rehearsal.observation, { last })
    try {
      last = asStep(rehearsal.play(action.tool, action.arguments), ++steps)
    } catch {
      // What the rules throw changes nothing.
    }
    return action
  }
}
