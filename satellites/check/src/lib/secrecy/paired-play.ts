import { type Player, randomPolicy } from '@episodic/env'
import { type EnvironmentDefinition, type Rehearsal, type RehearsedStep, rehearse } from '@episodic/mcp-server'
import { type Action, type Json, type Rng, seedFor } from '@episodic/protocol'
import { partName } from '@episodic/state/internal'
import type { CheckedWorld, Setting } from '../check-context.ts'
import { type Deal, dealtEnvironment } from '../deal.ts'
import { type Difference, findTextDifference } from '../finding.ts'
import { drawPlayPolicy, NO_NOISE, noisyPolicy, randomLegalAction } from '../noisy-policy.ts'
import { playMove, truncationAt } from '../rehearsed-episode.ts'
import { startPlayer } from '../seat-players.ts'
import { SeatTable } from '../seat-table.ts'
import type { DealtPair } from './dealt-pairs.ts'
import { ReadPlaces } from './read-places.ts'

/** Most steps of a pair, unless it is played on. */
export const STEPS = 64

export interface PlannedPair extends DealtPair {
  readonly setting: Setting
  readonly seat: string
  /** Whether the sealed moves of other seats may differ too. */
  readonly sealed: boolean
}

export interface PairedMove {
  readonly seat: string
  readonly first: Action
  readonly second: Action | null
}

/** Returns moves as a finding says how to reproduce it. */
export function formatMoves({ multiplayer }: EnvironmentDefinition, moves: readonly PairedMove[]): string {
  return JSON.stringify(multiplayer ? moves : moves.map(({ first }) => first)).slice(0, 600)
}

export type Received = Readonly<Record<Channel, string>>
export type Channel = 'answer' | 'view' | 'tools' | 'legal' | 'message' | 'turn' | 'end' | 'state'

export interface PairedPlay {
  /** What was compared: the planned pair, or one that differs in less. */
  readonly pair: PlannedPair
  readonly moves: readonly PairedMove[]
  readonly policies: string
  readonly diverged: boolean
  /** Whether that was at the first call that was not refused. */
  readonly atOnce: boolean
  /** Whether a move was possible in the first play alone, which proves nothing about what the seat learns. */
  readonly invalid: boolean
  /** What the seat gets first that differs, by the last of the moves, or at the start. */
  readonly differs: { readonly channel: Channel; readonly difference: Difference } | null
}

/**
 * Plays an episode by policies, and then the same moves of all seats again from the other deal. Stops where different
 * values are revealed to the seat, where it gets something else, and where a move of another seat is possible in one
 * play alone.
 *
 * @param most - most steps. Half of the pairs that have more than usual are of valid random calls, which rarely end an
 *   episode early; in a game, whose solver may be slow, all of them.
 */
export async function playPair(world: CheckedWorld, planned: PlannedPair, rng: Rng, most = STEPS): Promise<PairedPlay> {
  const { environment } = world
  const { setting, seat, first: deal, narrowed } = planned
  const read = new ReadPlaces()
  const first = startSide(narrowed ? read.watch(environment) : environment, planned, deal)
  const start = first.now
  const table = new SeatTable(environment, first.rehearsal)
  const players = new Map<string, Player>()
  const names = new Set<string>()
  for (const name of table.seats) {
    // A player that wanders about in a large state reads little of it.
    const isSolved = narrowed !== undefined && world.solver != null && rng.chance()
    const policy = isSolved
      ? noisyPolicy(world.solver ?? null, NO_NOISE)
      : most > STEPS && (environment.multiplayer || rng.chance())
        ? randomPolicy()
        : drawPlayPolicy(world, rng)
    names.add(environment.multiplayer ? `${policy.name} as ${name}` : policy.name)
    const { observation } = table.seenBy(name)
    const own = seedFor(deal.seed, planned.from)
    players.set(name, await startPlayer(policy, environment, setting, own, name, observation))
  }
  const moves: PairedMove[] = []
  const seen: Outcome[] = []
  while (moves.length < most && first.rehearsal.end === null) {
    const { rehearsal } = first
    const mover = rng.pick(rehearsal.turn)
    const { observation, ...view } = table.seenBy(mover)
    const legal = environment.hasLegal
      ? async () => environment.legal(rehearsal.state, setting.params, mover)
      : undefined
    const action = await (players.get(mover) as Player)(observation, { ...view, legal })
    const drawn =
      planned.sealed && mover !== seat ? otherMove(environment, rehearsal, setting, mover, action, rng) : action
    const outcome = await first.play(mover, action)
    // A step that ends the episode for all, such as the last one allowed, is no secret.
    const second = drawn ?? (rehearsal.end ? action : null)
    moves.push({ seat: mover, first: action, second })
    seen.push(outcome)
    if (outcome.step) table.take(mover, outcome.step)
    if (second === null) break
  }
  const pair = { ...planned, ...narrowed?.(read) }
  return { pair, policies: [...names].join(', '), ...(await compare(environment, pair, moves, seen, start)) }
}

async function compare(
  environment: EnvironmentDefinition,
  planned: PlannedPair,
  moves: readonly PairedMove[],
  seen: readonly Outcome[],
  start: Received,
): Promise<Omit<PairedPlay, 'pair' | 'policies'>> {
  const { seat, second, fits } = planned
  const side = startSide(environment, planned, second)
  const stopped = (at: number, rest: Partial<PairedPlay> = {}) => ({
    moves: moves.slice(0, at),
    diverged: false,
    atOnce: false,
    invalid: false,
    differs: null,
    ...rest,
  })
  const atStart = findDifference(start, side.now)
  if (atStart) return stopped(0, { differs: atStart })
  for (const [at, { seat: mover, second: action }] of moves.entries()) {
    const one = seen[at] as Outcome
    if (action === null) return stopped(at + 1, { differs: findDifference(one.received, side.now) })
    if (!side.rehearsal.turn.includes(mover)) {
      const differs = findDifference(one.before, side.now)
      return stopped(at, differs ? { differs } : { invalid: true })
    }
    const other = await side.play(mover, action)
    const apart = one.step?.refused !== other.step?.refused
    if (apart && (mover !== seat || (!fits && !other.step))) return stopped(at, { invalid: true })
    if (JSON.stringify(one.revealed) !== JSON.stringify(other.revealed))
      return stopped(at, { diverged: true, atOnce: seen.slice(0, at).every(({ step }) => step?.refused !== null) })
    const differs = findDifference(one.received, other.received)
    if (differs) return stopped(at + 1, { differs })
  }
  return stopped(moves.length)
}

interface Outcome {
  readonly step: RehearsedStep | null
  readonly before: Received
  readonly received: Received
  readonly revealed: readonly Json[]
}

function startSide(environment: EnvironmentDefinition, { setting, seat, first }: PlannedPair, deal: Deal) {
  const { params } = setting
  const { multiplayer, hasLegal } = environment
  const rehearsal = rehearse(dealtEnvironment(environment, deal), { params, seed: first.seed })
  const played = new Map<string, number>()
  const read = (): Received => {
    const { state, turn } = rehearsal
    const mine = turn.includes(seat)
    return {
      answer: '',
      // The only seat reads its view in its answers alone.
      view: multiplayer ? JSON.stringify(rehearsal.observe(seat)) : '',
      tools: JSON.stringify(environment.offers?.(state, params, seat) ?? null),
      legal: mine && hasLegal ? JSON.stringify(environment.legal(state, params, seat)) : '',
      message: '[]',
      turn: String(mine),
      end: 'null',
      // With the keys in their order, as the resource of the state has them.
      state: JSON.stringify([state.public, state.own?.[seat]].map((part) => partName(part) ?? part)),
    }
  }
  let now = read()
  return {
    rehearsal,
    get now() {
      return now
    },
    /** An error of the rules leaves the state unchanged. */
    async play(mover: string, action: Action): Promise<Outcome> {
      const count = played.get(mover) ?? 0
      const before = now
      let step: RehearsedStep | null = null
      try {
        step = await playMove(rehearsal, { seat: mover, action }, truncationAt(count, setting))
        played.set(mover, count + 1)
      } catch {
        // The plays of both deals have to fail.
      }
      now = read()
      const { ends = {}, sent = {} } = step?.seats ?? {}
      const received = {
        ...now,
        answer: mover === seat ? answerText(step) : '',
        message: JSON.stringify(sent[seat] ?? []),
        end: JSON.stringify(ends[seat] ?? null),
      }
      const revealed = step?.revealed.filter((_, i) => step.revealedTo[i]?.includes(seat) ?? true) ?? []
      return { step, before, received, revealed }
    },
  }
}

function answerText(step: RehearsedStep | null): string {
  if (!step) return 'the environment failed'
  const { observation, refused, end } = step
  const { text, structured } = observation
  return JSON.stringify({ text, ...(refused ? { isError: true } : { structured }), over: end !== null })
}

function findDifference(first: Received, second: Received): PairedPlay['differs'] {
  for (const channel of Object.keys(first) as Channel[]) {
    const difference = findTextDifference(first[channel], second[channel])
    if (difference) return { channel, difference }
  }
  return null
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
