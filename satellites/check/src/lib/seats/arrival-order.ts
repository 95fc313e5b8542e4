import type { Rehearsal } from '@episodic/mcp-server'
import type { Json, Rng } from '@episodic/protocol'
import { toText } from '../deal.ts'
import { type Finding, findTextDifference } from '../finding.ts'
import { randomLegalAction } from '../noisy-policy.ts'
import {
  formatStart,
  listPositions,
  type Move,
  playMove,
  type RehearsedEpisode,
  returnsOf,
} from '../rehearsed-episode.ts'

/**
 * Plays the moves of a round of sealed moves in the order of the seats and in the reverse one, at each position of an
 * episode at which a round begins. The state, the random streams, rewards, ends and the next turn have to be equal,
 * byte for byte.
 */
export async function findOrderMatters(episode: RehearsedEpisode, rng: Rng) {
  const { environment, setting, steps } = episode
  const findings: Finding[] = []
  let rounds = 0
  for await (const { at, step, rehearsal } of listPositions(episode)) {
    const { turn } = step
    const began = at === 0 || steps[at - 1]?.seats?.sealed !== true
    if (!began || turn.length < 2) continue
    const round = turn.flatMap((seat): Move[] => {
      const legal = environment.legal(rehearsal.state, setting.params, seat)
      const action = randomLegalAction(legal, rng, (tool) => environment.tools[tool]?.sealed === true)
      return action ? [{ seat, action }] : []
    })
    if (round.length < turn.length) continue
    const first = await playRound(rehearsal.fork(), round)
    const second = await playRound(rehearsal.fork(), round.toReversed())
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
  let text: string | null = null
  for (const move of moves) {
    const step = await playMove(rehearsal, move).catch(() => null)
    if (!step || step.refused) return null
    const { state, turn, end } = rehearsal
    const [returns, ends] = [returnsOf({ ...step, seat: move.seat }), step.seats?.ends ?? {}]
    text = toText({ state, turn, end, returns, ends, hash: step.stateHash } as unknown as Json)
  }
  return text
}
