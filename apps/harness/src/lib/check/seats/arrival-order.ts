import type { EnvironmentDefinition, Rehearsal } from '@episodic/mcp-server'
import type { Rng, ToolInfo } from '@episodic/protocol'
import type { Setting } from '../check-context.ts'
import { written } from '../deal.ts'
import { type Finding, findTextDifference } from '../finding.ts'
import { randomAction } from '../noisy-policy.ts'
import { type Move, type PlayedStep, playMove, replayMoves, returnsOf } from '../rehearsed-episode.ts'

/**
 * Plays the moves of a round of sealed moves in the order of the seats and in the reverse one, at each position of an
 * episode at which a round begins. The state, the random streams, rewards, ends and the next turn have to be equal,
 * byte for byte.
 */
export async function findOrderMatters(
  environment: EnvironmentDefinition,
  setting: Setting,
  seed: string,
  steps: readonly PlayedStep[],
  rng: Rng,
): Promise<{ readonly rounds: number; readonly findings: readonly Finding[] }> {
  const findings: Finding[] = []
  let rounds = 0
  for (const [at, { turn }] of steps.entries()) {
    const began = at === 0 || steps[at - 1]?.seats?.sealed !== true
    if (!began || turn.length < 2) continue
    const moves = steps.slice(0, at)
    const position = () => replayMoves({ environment, setting, seed }, moves)
    const { state } = await position()
    const round = turn.map((seat): Move | null => {
      const legal = environment.legal(state, setting.params, seat)
      const tools = Object.entries(legal)
        .filter(([name]) => environment.tools[name]?.sealed)
        .map(([name, inputSchema]) => ({ name, inputSchema }) as unknown as ToolInfo)
      return tools.length === 0 ? null : { seat, action: randomAction(tools, rng) }
    })
    if (round.includes(null)) continue
    const first = await playRound(await position(), round as Move[])
    const second = await playRound(await position(), (round as Move[]).toReversed())
    if (first === null || second === null) continue
    rounds += 1
    const difference = findTextDifference(first, second)
    if (difference)
      findings.push({
        name: 'order-matters',
        what: 'What follows from a round of sealed moves depends on the order in which they come.',
        again: `params ${JSON.stringify(setting.params)}, seed ${seed}, after ${at} steps, moves ${JSON.stringify(round).slice(0, 600)} in this order and in reverse`,
        advice:
          'Let a sealed move change the part of its own seat alone, and let `settle` look at the seats in a fixed order.',
        difference,
      })
  }
  return { rounds, findings }
}

/** Resolves with what a round leads to, as JSON; `null` if a move is refused or fails. */
async function playRound(rehearsal: Rehearsal, moves: readonly Move[]): Promise<string | null> {
  let last: Pick<PlayedStep, 'stateHash' | 'seats' | 'terms' | 'end' | 'seat'> | null = null
  for (const move of moves) {
    try {
      const step = await playMove(rehearsal, move)
      if (step.refused) return null
      last = { ...step, seat: move.seat }
    } catch {
      return null
    }
  }
  if (!last) return null
  const returns = Object.entries(returnsOf(last)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const ends = Object.entries(last.seats?.ends ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const { state, turn, end } = rehearsal
  return JSON.stringify({ state: written(state), turn, end, returns, ends, hash: last.stateHash })
}
