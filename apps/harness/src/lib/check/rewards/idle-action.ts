import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { type Action, createRng } from '@episodic/protocol'
import type { Setting } from '../check-context.ts'
import { randomAction } from '../noisy-policy.ts'

/** Random actions to try. */
const TRIES = 60

/** Returns an action that the rules accept and that changes nothing; a call of an unknown tool if there is none. */
export function idleAction(environment: EnvironmentDefinition, params: Setting['params'], seed: string): Action {
  const rng = createRng(seed).stream('idle')
  const before = JSON.stringify(rehearse(environment, { params, seed }).state)
  for (let i = 0; i < TRIES; i++) {
    const action = randomAction(environment.toolInfos, rng)
    const rehearsal = rehearse(environment, { params, seed })
    try {
      rehearsal.play(action.tool, action.arguments)
    } catch {
      continue
    }
    if (rehearsal.end === null && JSON.stringify(rehearsal.state) === before) return action
  }
  return { tool: 'wait', arguments: {} }
}
