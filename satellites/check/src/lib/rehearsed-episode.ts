import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Policy } from '@episodic/env'
import {
  type EnvironmentDefinition,
  type Rehearsal,
  type RehearsedStep,
  rehearse,
  ServerError,
} from '@episodic/mcp-server'
import { type Action, createRng, seedFor, type Truncation } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/internal'
import type { Setting } from './check-context.ts'
import { seatPlayers } from './seated-players.ts'
import type { TimeLimit } from './time-limit.ts'

/** A move of one seat; an environment of one seat has it too. */
export interface Move {
  readonly seat: string
  readonly action: Action
}

export interface PlayedStep extends RehearsedStep, Move {
  /** The seats that could act before it. */
  readonly turn: readonly string[]
  /** What the seat earned by it, each term with weight 1. */
  readonly reward: number
}

export interface RehearsedEpisode extends EpisodeStart {
  readonly rehearsal: Rehearsal
  readonly steps: readonly PlayedStep[]
  readonly total: number
  readonly fault: Error | null
}

export interface EpisodeStart {
  readonly environment: EnvironmentDefinition
  readonly setting: Setting
  readonly seed: string
}

export interface EpisodeSetting extends EpisodeStart {
  /** Plays every seat that has no policy of its own in `policies`. */
  readonly policy: Policy
  readonly policies?: Readonly<Record<string, Policy>>
  /** Stops after this many steps of all seats, like players who leave. */
  readonly maxSteps?: number
  /** Once it is over, players leave, and it says that something was called off. Default: none. */
  readonly time?: TimeLimit
}

/** Milliseconds of play after which the event loop has a turn. */
const SHARE = 100

let lastTurn = 0

/**
 * Gives the event loop a turn. A check plays thousands of episodes, and a slow player takes long for one: Ctrl-C can
 * end it meanwhile, and what watches this thread sees that its code goes on.
 */
async function takeTurn(): Promise<void> {
  await nextTurn()
  lastTurn = monotonic()
}

/** An error of the rules ends it as a fault. Who of several seats that are in turn moves first is drawn. */
export async function rehearseEpisode(options: EpisodeSetting): Promise<RehearsedEpisode> {
  const { environment, setting, seed, policy, policies = {}, time } = options
  const { maxSteps = Number.POSITIVE_INFINITY } = options
  const rehearsal = rehearse(environment, { params: setting.params, seed })
  await takeTurn()
  const rng = createRng(seedFor(seed, 'movers'))
  const players = await seatPlayers(environment, setting, seed, rehearsal, (seat) => policies[seat] ?? policy)
  const { table } = players
  const steps: PlayedStep[] = []
  let total = 0
  let fault: Error | null = null
  while (steps.length < maxSteps && rehearsal.end === null) {
    if (time?.isOver()) {
      time.hasCut = true
      break
    }
    if (monotonic() - lastTurn >= SHARE) await takeTurn()
    const { turn } = rehearsal
    const seat = rng.pick(turn)
    const action = await players.draw(seat, rehearsal)
    let step: RehearsedStep
    try {
      const truncation = truncationAt(table.stepsOf(seat), setting)
      step = await playMove(rehearsal, { seat, action }, truncation)
    } catch (cause) {
      // A recording answers what was recorded. A player of a check that does something else leaves.
      const hasLeft = ServerError.is(cause, 'not-recorded') || time?.hasCut === true
      if (!hasLeft) fault = cause as Error
      break
    }
    table.take(seat, step)
    const played = { ...step, action, seat, turn, reward: rewardOf(step) }
    total += Object.values(returnsOf(played)).reduce((sum, one) => sum + one, 0)
    steps.push(played)
  }
  return { environment, setting, seed, rehearsal, steps, total, fault }
}

export function truncationAt(played: number, { steps }: Pick<Setting, 'steps'>): Truncation | null {
  return played + 1 >= steps ? 'step-limit' : null
}

export function rewardOf({ terms }: Pick<RehearsedStep, 'terms'>): number {
  return Object.values(terms).reduce((sum, term) => sum + term, 0)
}

export function returnsOf(step: Pick<RehearsedStep, 'terms' | 'seats'> & { readonly seat: string }): {
  readonly [seat: string]: number
} {
  const others = Object.entries(step.seats?.terms ?? {}).map(([seat, terms]) => [seat, rewardOf({ terms })])
  return { ...Object.fromEntries(others), [step.seat]: rewardOf(step) }
}

export async function playMove(
  rehearsal: Rehearsal,
  { seat, action: { tool, arguments: args } }: Move,
  truncation: Truncation | null = null,
): Promise<RehearsedStep> {
  return rehearsal.play(tool, args, { seat, truncation, prepared: await rehearsal.prepare(tool, args) })
}

/** Plays an episode again, and yields it before each of its steps. To play something else there, fork the rehearsal. */
export async function* listPositions({ environment, setting, seed, steps }: RehearsedEpisode) {
  const rehearsal = rehearse(environment, { params: setting.params, seed })
  for (const [at, step] of steps.entries()) {
    yield { at, step, rehearsal }
    if (at + 1 < steps.length) await playMove(rehearsal, step)
  }
}

export function formatStart(start: { readonly setting: Pick<Setting, 'params'>; readonly seed: string }): string {
  return `params ${JSON.stringify(start.setting.params)}, seed ${start.seed}`
}

export function formatPlace(
  episode: Parameters<typeof formatStart>[0] & { readonly steps: readonly Move[] },
  count: number,
): string {
  const moves = episode.steps.slice(0, count).map(({ seat, action }) => [seat, action])
  return `${formatStart(episode)}, moves ${JSON.stringify(moves).slice(0, 600)}`
}
