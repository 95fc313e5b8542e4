import type { EnvironmentDefinition, Rehearsal } from '@episodic/mcp-server'
import type { Action, Rng } from '@episodic/protocol'
import type { CheckContext, CheckedWorld, Setting } from '../check-context.ts'
import type { Difference } from '../finding.ts'
import { randomLegalAction } from '../noisy-policy.ts'
import type { PlannedPair } from './dealt-pairs.ts'
import { explorer, type PairPlayers, policies } from './pair-players.ts'
import { ReadPlaces } from './read-places.ts'
import { type Channel, findDifference, startSide } from './side.ts'

export interface PairedMove {
  readonly seat: string
  readonly first: Action
  readonly second: Action | null
}

export function formatMoves({ multiplayer }: EnvironmentDefinition, moves: readonly PairedMove[]): string {
  return JSON.stringify(multiplayer ? moves : moves.map(({ first }) => first)).slice(0, 600)
}

export interface PairedPlay {
  /** What was compared: the planned pair, or one that differs in less. */
  readonly pair: PlannedPair
  readonly moves: readonly PairedMove[]
  /** Steps that were played, and those of them that both deals accepted and that were compared. */
  readonly steps: number
  readonly compared: number
  readonly policies: string
  readonly diverged: boolean
  /** Whether a move was possible in the first play alone, which proves nothing about what the seat learns. */
  readonly invalid: boolean
  /** What the seat gets first that differs, by the last of the moves, or at the start. */
  readonly differs: { readonly channel: Channel; readonly difference: Difference } | null
}

/** Steps that are taken back in a row, after which nothing but these is left to do. */
const TAKEN_BACK = 12

/**
 * Plays the same moves from both deals, side by side. Stops where different values are revealed to the seat, where it
 * gets something else, and where a move of another seat is possible in one play alone.
 *
 * @param most - most steps, those that are taken back included.
 * @param explores - compares a step that ends the episode or reveals different values, and takes it back: what leaks
 *   late is found even where a lucky call ends the game.
 */
export async function playPair(
  { world, time }: Pick<CheckContext, 'world' | 'time'>,
  planned: PlannedPair,
  rng: Rng,
  most: number,
  explores = false,
): Promise<PairedPlay> {
  const { environment } = world
  const { pair, recorded } = await narrow(world, planned, rng, most)
  const { setting, seat, first: deal, second, fits } = pair
  let [one, other] = [startSide(environment, pair, deal), startSide(environment, pair, second)]
  const players = recorded ?? (await (explores ? explorer : policies)(world, pair, one.rehearsal, rng, most))
  const moves: PairedMove[] = []
  let [steps, compared, back, diverged] = [0, 0, 0, false]
  const stopped = (rest: Partial<PairedPlay> = {}): PairedPlay => ({
    ...{ pair, moves, steps, compared, policies: players.names, diverged, invalid: false, differs: null },
    ...rest,
  })
  const atStart = findDifference(one.now, other.now)
  if (atStart) return stopped({ differs: atStart })
  for (; steps < most && back < TAKEN_BACK && one.rehearsal.end === null; steps++) {
    if (time.isOver()) time.hasCut = true
    if (time.hasCut) break
    const mover = rng.pick(one.rehearsal.turn)
    const action = await players.draw(mover, one.rehearsal)
    if (!action) break
    const drawn =
      pair.sealed && mover !== seat ? otherMove(environment, one.rehearsal, setting, mover, action, rng) : action
    const [mine, theirs] = explores ? [one.fork(), other.fork()] : [one, other]
    const { now: before } = mine
    const first = await mine.play(mover, action)
    // A step that ends the episode for all, such as the last one allowed, is no secret.
    const answered = drawn ?? (mine.rehearsal.end ? action : null)
    const move = { seat: mover, first: action, second: answered }
    if (answered === null)
      return stopped({ moves: [...moves, move], differs: findDifference(first.received, theirs.now) })
    if (!theirs.rehearsal.turn.includes(mover)) {
      const differs = findDifference(before, theirs.now)
      return stopped(differs ? { differs } : { invalid: true })
    }
    const reply = await theirs.play(mover, answered)
    const isApart = first.step?.refused !== reply.step?.refused
    const isInvalid = isApart && (mover !== seat || (!fits && !reply.step))
    const isRevealed = !isInvalid && JSON.stringify(first.revealed) !== JSON.stringify(reply.revealed)
    diverged ||= isRevealed
    if ((isInvalid || isRevealed) && !explores) return stopped({ invalid: isInvalid })
    const differs = isInvalid || isRevealed ? null : findDifference(first.received, reply.received)
    if (differs) return stopped({ moves: [...moves, move], differs })
    if (first.step?.refused === null && !isInvalid && !isRevealed) compared += 1
    const isTaken = !explores || !(isInvalid || isRevealed || !first.step || first.step.end)
    back = isTaken ? 0 : back + 1
    if (isTaken) {
      ;[one, other] = [mine, theirs]
      moves.push(move)
    }
    if (first.step) players.take(mover, first.step, isTaken)
  }
  return stopped()
}

/** Plays the first deal of a pair alone, if what the pair differs in follows from what that play reads. */
async function narrow(
  world: CheckedWorld,
  planned: PlannedPair,
  rng: Rng,
  most: number,
): Promise<{ readonly pair: PlannedPair; readonly recorded: PairPlayers | null }> {
  if (!planned.narrowed) return { pair: planned, recorded: null }
  const read = new ReadPlaces()
  const side = startSide(read.watch(world.environment), planned, planned.first)
  const players = await policies(world, planned, side.rehearsal, rng, most)
  const moves: Action[] = []
  while (moves.length < most && side.rehearsal.end === null) {
    const mover = side.rehearsal.turn[0] as string
    const action = await players.draw(mover, side.rehearsal)
    if (!action) break
    const { step } = await side.play(mover, action)
    moves.push(action)
    if (step) players.take(mover, step, true)
  }
  const draw = async () => moves.shift() ?? null
  return { pair: { ...planned, ...planned.narrowed(read) }, recorded: { ...players, draw, take() {} } }
}

/** Chances that another seat's sealed move differs in the second play, and that it has not been made there yet. */
const DIFFERENT = 0.5
const LATE = 0.4

/**
 * Returns what a seat does in the second play in the place of a sealed move: the same, another move, or nothing yet.
 */
function otherMove(
  environment: EnvironmentDefinition,
  { turn, state }: Rehearsal,
  { params }: Setting,
  seat: string,
  action: Action,
  rng: Rng,
): Action | null {
  if (!environment.tools[action.tool]?.sealed || !rng.chance(DIFFERENT)) return action
  // The last move of a round is played at once.
  if (turn.length > 1 && rng.chance(LATE)) return null
  const legal = environment.legal(state, params, seat)
  return randomLegalAction(legal, rng, (tool) => environment.tools[tool]?.sealed === true) ?? action
}
