import { randomPolicy } from '@episodic/env'
import type { Rehearsal, RehearsedStep } from '@episodic/mcp-server'
import { type Action, type Rng, seedFor } from '@episodic/protocol'
import type { CheckedWorld } from '../check-context.ts'
import { drawPlayPolicy, NO_NOISE, noisyPolicy, randomLegalAction } from '../noisy-policy.ts'
import { toolsOfSeat } from '../seat-players.ts'
import { seatPlayers } from '../seated-players.ts'
import { SeatTable } from '../targets/seat-table.ts'
import { type PlannedPair, STEPS } from './dealt-pairs.ts'
import { WordsOfAPair } from './words-of-a-pair.ts'

export interface PairPlayers {
  readonly names: string
  /** Resolves with the next action of a seat, and with `null` if nobody has one. */
  draw(mover: string, rehearsal: Rehearsal): Promise<Action | null>
  /** Notes a step of the first play, and whether the play goes on from it. */
  take(mover: string, step: RehearsedStep, isKept: boolean): void
}

type Begin = (world: CheckedWorld, pair: PlannedPair, begun: Rehearsal, rng: Rng, most: number) => Promise<PairPlayers>

/**
 * A policy for each seat. Half of those that play longer than usual make valid random calls, which rarely end an
 * episode early; in a game, whose solver may be slow, all of them.
 */
export const policies: Begin = async (world, { setting, first, from, narrowed }, begun, rng, most) => {
  const { environment, solver = null } = world
  const names = new Set<string>()
  const seated = await seatPlayers(environment, setting, seedFor(first.seed, from), begun, (name) => {
    // A player that wanders about in a large state reads little of it.
    const isSolved = narrowed !== undefined && solver !== null && rng.chance()
    const isLong = most > STEPS && (environment.multiplayer || rng.chance())
    const policy = isSolved ? noisyPolicy(solver, NO_NOISE) : isLong ? randomPolicy() : drawPlayPolicy(world, rng)
    names.add(environment.multiplayer ? `${policy.name} as ${name}` : policy.name)
    return policy
  })
  return { names: [...names].join(', '), draw: seated.draw, take: (mover, step) => seated.table.take(mover, step) }
}

/** The share of the calls that repeat an earlier one. */
const AGAIN = 0.15

/** Calls about what the pair differs in. Half of the time they begin as the solver does, for a part of its way. */
export const explorer: Begin = async ({ environment, solver }, pair, begun, rng, most) => {
  const { setting, first } = pair
  const words = new WordsOfAPair(environment, pair, rng)
  const played: { readonly mover: string; readonly action: Action }[] = []
  let guided = solver && !environment.multiplayer && rng.chance() ? rng.int(1, Math.min(setting.steps, most)) : 0
  const guide = guided > 0 && solver && (await seatPlayers(environment, setting, first.seed, begun, () => solver))
  const table = guide ? guide.table : new SeatTable(environment, begun)
  let drawn: Action | null = null
  const drawNew = async (mover: string, rehearsal: Rehearsal): Promise<Action> => {
    if (guide && guided-- > 0)
      try {
        return await guide.draw(mover, rehearsal)
      } catch {
        // It is in a state that its own actions never lead to.
        guided = 0
      }
    const own = played.filter((earlier) => earlier.mover === mover).slice(-3)
    if (own.length > 0 && rng.chance(AGAIN)) return rng.pick(own).action
    const legal = environment.hasLegal && rng.chance() ? environment.legal(rehearsal.state, setting.params, mover) : {}
    return randomLegalAction(legal, rng) ?? words.draw(toolsOfSeat(environment, mover, table.seenBy(mover).observation))
  }
  return {
    names: 'words of both',
    draw: async (mover, rehearsal) => {
      drawn = await drawNew(mover, rehearsal)
      return drawn
    },
    take(mover, step, isKept) {
      words.hear(step.observation.text)
      if (isKept && drawn) played.push({ mover, action: drawn })
      if (isKept) table.take(mover, step)
      else guided = 0
    },
  }
}
