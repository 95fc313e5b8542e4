import type { Player, Policy } from '@episodic/env'
import { type Rehearsal, type RehearsedStep, rehearse } from '@episodic/mcp-server'
import { type Action, createRng, seedFor } from '@episodic/protocol'
import {
  type EpisodeSetting,
  type OngoingEpisode,
  type PlayedStep,
  type RehearsedEpisode,
  rewardOf,
  truncationAt,
} from '../rehearsed-episode.ts'
import { startSeatPlayer } from '../seat-players.ts'
import { SeatTable } from './seat-table.ts'

/** A move of an episode of several seats. */
export interface Move {
  readonly seat: string
  readonly action: Action
}

/** A step of an episode of several seats. */
export interface GameStep extends PlayedStep {
  readonly seat: string
  /** The seats that could act before it. */
  readonly turn: readonly string[]
}

/** An episode of several seats, of the rules alone. `total` is what all seats earned. */
export interface GameEpisode extends RehearsedEpisode {
  readonly steps: readonly GameStep[]
}

/** An episode of several seats in progress. */
export interface OngoingGame extends OngoingEpisode {
  readonly episode: GameEpisode
}

/** An episode of several seats. Every seat is played by `policy`, except those that have one of their own. */
export interface GameSetting extends EpisodeSetting {
  readonly policies?: Readonly<Record<string, Policy>>
}

/** Starts an episode of several seats. Who of several that are in turn moves first is drawn. */
export async function startGame(options: GameSetting): Promise<OngoingGame> {
  const {
    environment,
    setting,
    seed,
    policy,
    policies = {},
    strict = false,
    maxSteps = Number.POSITIVE_INFINITY,
  } = options
  const rehearsal = rehearse(environment, { params: setting.params, seed, strict })
  const rng = createRng(seedFor(seed, 'movers'))
  const players = new Map<string, Player>()
  for (const seat of Object.keys(rehearsal.start.seats ?? {}))
    players.set(seat, await startSeatPlayer(policies[seat] ?? policy, environment, setting, seed, seat))
  const steps: GameStep[] = []
  const table = new SeatTable(environment, rehearsal)
  let total = 0
  let fault: Error | null = null
  return {
    get episode() {
      return { rehearsal, steps, total, fault }
    },
    async advance() {
      if (fault || steps.length >= maxSteps || rehearsal.end !== null) return false
      const { turn } = rehearsal
      const seat = rng.pick(turn)
      const { state } = rehearsal
      const legal = environment.hasLegal ? async () => environment.legal(state, setting.params, seat) : undefined
      const { observation, last } = table.seenBy(seat)
      const action = await (players.get(seat) as Player)(observation, { last, legal })
      const played = steps.filter((step) => step.seat === seat).length
      let step: RehearsedStep
      try {
        step = rehearsal.play(action.tool, action.arguments, { seat, truncation: truncationAt(played, setting) })
      } catch (cause) {
        fault = cause as Error
        return false
      }
      const reward = rewardOf(step)
      total += Object.values(returnsOf({ ...step, seat })).reduce((sum, one) => sum + one, 0)
      steps.push({ ...step, action, reward, seat, turn })
      table.take(seat, step)
      return true
    },
  }
}

/** Plays an episode of several seats to its end. */
export async function playGame(options: GameSetting): Promise<GameEpisode> {
  const ongoing = await startGame(options)
  while (await ongoing.advance());
  return ongoing.episode
}

/** Returns what each seat earned by a step. */
export function returnsOf(step: Pick<RehearsedStep, 'terms' | 'seats'> & { readonly seat: string }): {
  readonly [seat: string]: number
} {
  const others = Object.entries(step.seats?.terms ?? {}).map(([seat, terms]) => [seat, rewardOf({ terms })])
  return { ...Object.fromEntries(others), [step.seat]: rewardOf(step) }
}

/** Plays moves again, and returns where they lead to. */
export function replayMoves(
  { environment, setting, seed }: Pick<EpisodeSetting, 'environment' | 'setting' | 'seed'>,
  moves: readonly Move[],
): Rehearsal {
  const rehearsal = rehearse(environment, { params: setting.params, seed })
  for (const { seat, action } of moves) rehearsal.play(action.tool, action.arguments, { seat })
  return rehearsal
}
