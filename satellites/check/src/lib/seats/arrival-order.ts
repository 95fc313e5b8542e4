import type { Rehearsal } from '@episodic/mcp-server'
import type { Rng } from '@episodic/protocol'
import { written } from '../deal.ts'
import { type Finding, findTextDifference } from '../finding.ts'
import { randomLegalAction } from '../noisy-policy.ts'
import {
  formatStart,
  type Move,
  type PlayedStep,
  playMove,
  type RehearsedEpisode,
  replayMoves,
  returnsOf,
} from '../rehearsed-episode.ts'

/**
 * Plays the moves of a round of sealed moves in the order of the seats and in the reverse one, at each position of an
 * episode at which a round begins. The state, the random streams, rewards, ends and the next turn have to be equal,
 * byte for byte.
 */
export async function findOrderMatters(
  episode: RehearsedEpisode,
  rng: Rng,
): Promise<{ readonly rounds: number; readonly findings: readonly Finding[] }> {
  const { environment, setting, steps } = episode
  const findings: Finding[] = []
  let rounds = 0
  for (const [at, { turn }] of steps.entries()) {
    const began = at === 0 || steps[at - 1]?.seats?.sealed !== true
    if (!began || turn.length < 2) continue
    const { state } = await replayMoves(episode, at)
    const round = turn.flatMap((seat): Move[] => {
      const legal = environment.legal(state, setting.params, seat)
      const action = randomLegalAction(legal, rng, (tool) => environment.tools[tool]?.sealed === true)
      return action ? [{ seat, action }] : []
    })
    if (round.length < turn.length) continue
    const first = await playRound(await replayMoves(episode, at), round)
    const second = await playRound(await replayMoves(episode, at), round.toReversed())
    if (first === null || second === null) continue
    rounds += 1
    const difference = findTextDifference(first, second)
    if (difference)
      findings.push({
        name: 'order-matters',
        what: 'What follows from a round of sealed moves depends on the order in which they come.',
        again: `${formatStart(episode)}, after ${at} steps, moves ${JSON.stringify(round).slice(0, 600)} in this order and in reverse`,
        advice:
          'Let a sealed move change the part of its own seat alone, and let `settle` look at the seats in a fixed order.',
        difference,
      })
  }
  return { rounds, findings }
}

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
