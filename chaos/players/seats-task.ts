import { createRng, type StepReport, type Terms } from '@episodic/protocol'
import { SEATS, type SeatName } from '../worlds/seats-world.ts'

/** What is played in all games of a trial. Those with an odd number have sealed rounds. */
export interface SeatsTask {
  readonly seed: string
  /** Moves of each seat in an episode. */
  readonly moves: number
}

/** An action, before it is sent. */
export interface SentAction {
  readonly tool: 'add' | 'seal'
  readonly arguments: { readonly amount: number }
}

/** A step whose answer its player received. */
export interface ReceivedStep {
  readonly tool: string
  readonly amount: number
  readonly report: StepReport
}

/** What the player of one seat reports of one episode. */
export interface PlayedSeat {
  readonly game: number
  readonly seat: SeatName
  readonly id: string
  readonly session: string
  readonly steps: readonly ReceivedStep[]
  /** Its return by its own count: `terms` and `due` of its steps, and what was due to it at the end. */
  readonly earned: number
  /** Steps out of turn that the server rejected. */
  readonly rejected: number
  /** Steps that were answered from the store, as their first answer was lost. */
  readonly replayed: number
  /** Steps whose `due` was not the one that `environment/turn` had reported. */
  readonly differingDue: number
}

/** So few amounts make many a step the same as the one before it, which a weaker check would take for it. */
const AMOUNT = 3

/** Returns the action of a seat, which both a player and the reference derive from its place. */
export function actionOf(
  { seed }: SeatsTask,
  { game, seat, seq }: { readonly game: number; readonly seat: SeatName; readonly seq: number },
): SentAction {
  const amount = createRng(`${seed} ${game}`).stream(`${seat} ${seq}`).int(1, AMOUNT)
  return { tool: game % 2 === 1 ? 'seal' : 'add', arguments: { amount } }
}

/** Returns the seat of the nth move, counted from 0, if the seats alternate. */
export function moverOf(move: number): SeatName {
  return SEATS[move % 2] as SeatName
}

/** Returns the sum of all terms. */
export function totalOf(terms: Terms = {}): number {
  return Object.values(terms).reduce((all, one) => all + one, 0)
}
