import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { type Action, createRng } from '@episodic/protocol'
import { isSamePart } from '@episodic/state/internal'
import type { Setting } from '../check-context.ts'
import { randomAction } from '../noisy-policy.ts'
import { playMove } from '../rehearsed-episode.ts'
import { toolsOfSeat } from '../seat-players.ts'

const TRIES = 60

/** Resolves with an action that the rules accept and that changes nothing; a call of an unknown tool without one. */
export async function idleAction(
  environment: EnvironmentDefinition,
  params: Setting['params'],
  seed: string,
  seat = environment.seats[0] as string,
): Promise<Action> {
  const rng = createRng(seed).stream('idle')
  const before = rehearse(environment, { params, seed }).state
  for (let i = 0; i < TRIES; i++) {
    const action = randomAction(toolsOfSeat(environment, seat), rng)
    const rehearsal = rehearse(environment, { params, seed })
    try {
      await playMove(rehearsal, { seat, action })
    } catch {
      continue
    }
    if (rehearsal.end === null && isSamePart(rehearsal.state, before)) return action
  }
  return { tool: 'wait', arguments: {} }
}
