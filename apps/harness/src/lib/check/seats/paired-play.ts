import type { Player } from '@episodic/env'
import { type EnvironmentDefinition, type Rehearsal, type RehearsedStep, rehearse } from '@episodic/mcp-server'
import { type Action, type Json, type Rng, seedFor, type ToolInfo } from '@episodic/protocol'
import type { CheckedWorld, Setting } from '../check-context.ts'
import { type Deal, startDealt } from '../deal.ts'
import { type Difference, findTextDifference } from '../finding.ts'
import { drawPlayPolicy, randomAction } from '../noisy-policy.ts'
import { truncationAt } from '../rehearsed-episode.ts'
import { startSeatPlayer } from '../seat-players.ts'
import type { DealtPair } from './dealt-pairs.ts'
import { SeatTable } from './seat-table.ts'

/** Most steps of a pair. */
const STEPS = 64

/** Two plays between which one seat must not be able to tell. */
export interface PlannedPair extends DealtPair {
  readonly setting: Setting
  readonly seat: string
  /** Whether the sealed moves of other seats may differ too. */
  readonly sealed: boolean
}

/** A move of one seat in both plays. `null` where it has not moved yet. */
export interface PairedMove {
  readonly seat: string
  readonly first: Action
  readonly second: Action | null
}

/** What a seat gets by a step, by channel, as JSON. */
export type Received = Readonly<Record<Channel, string>>
export type Channel = 'answer' | 'view' | 'legal' | 'message' | 'turn' | 'end'

/** The comparison of two plays. */
export interface PairedPlay {
  /** The moves until the plays diverge. */
  readonly moves: readonly PairedMove[]
  /** The names of the policies. */
  readonly policies: string
  /** Whether different values were revealed to the seat, which ended it. */
  readonly diverged: boolean
  /** Whether a move was possible in the first play alone, which proves nothing about what other seats learn. */
  readonly invalid: boolean
  /** What the seat gets first that differs, by the last of the moves, or at the start. */
  readonly differs: { readonly channel: Channel; readonly difference: Difference } | null
}

/**
 * Plays an episode by policies, and then the same moves of all seats again from the other deal. Stops where different
 * values are revealed to the seat, where it gets something else, and where a move of another seat is possible in one
 * play alone.
 */
export async function playPair(world: CheckedWorld, planned: PlannedPair, rng: Rng): Promise<PairedPlay> {
  const { environment } = world
  const { setting, seat, first: deal } = planned
  const first = startSide(environment, setting, deal, deal.seed)
  const start = first.received(seat)
  const players = new Map<string, Player>()
  const names = new Set<string>()
  for (const name of Object.keys(first.rehearsal.start.seats ?? {})) {
    const policy = drawPlayPolicy(world, rng)
    names.add(`${policy.name} as ${name}`)
    players.set(name, await startSeatPlayer(policy, environment, setting, seedFor(deal.seed, planned.from), name))
  }
  const moves: PairedMove[] = []
  const seen: Outcome[] = []
  const table = new SeatTable(environment, first.rehearsal)
  while (moves.length < STEPS && first.rehearsal.end === null) {
    const { rehearsal } = first
    const mover = rng.pick(rehearsal.turn)
    const { observation, last } = table.seenBy(mover)
    const legal = environment.hasLegal
      ? async () => environment.legal(rehearsal.state, setting.params, mover)
      : undefined
    const action = await (players.get(mover) as Player)(observation, { last, legal })
    const drawn =
      planned.sealed && mover !== seat ? otherMove(environment, rehearsal, setting, mover, action, rng) : action
    const outcome = first.play(mover, action, seat, truncationAt(playedBy(mover, moves), setting))
    // A step that ends the episode for all, such as the last one allowed, is no secret.
    const second = drawn ?? (rehearsal.end ? action : null)
    moves.push({ seat: mover, first: action, second })
    seen.push(outcome)
    if (outcome.step) table.take(mover, outcome.step)
    if (second === null) break
  }
  return { policies: [...names].join(', '), ...compare(environment, planned, moves, seen, start) }
}

/** Plays the moves from the other deal, after the first play is over, as a server plays one session after another. */
function compare(
  environment: EnvironmentDefinition,
  { setting, seat, first: { seed }, second, fits }: PlannedPair,
  moves: readonly PairedMove[],
  seen: readonly Outcome[],
  start: Received,
): Omit<PairedPlay, 'policies'> {
  const side = startSide(environment, setting, second, seed)
  const stopped = (at: number, rest: Partial<PairedPlay> = {}) => ({
    moves: moves.slice(0, at),
    diverged: false,
    invalid: false,
    differs: null,
    ...rest,
  })
  const atStart = findDifference(start, side.received(seat))
  if (atStart) return stopped(0, { differs: atStart })
  for (const [at, move] of moves.entries()) {
    const { seat: mover, second: action } = move
    const one = seen[at] as Outcome
    if (action === null) {
      const other = side.received(seat)
      return stopped(at + 1, { differs: findDifference(one.received, other) })
    }
    if (!side.rehearsal.turn.includes(mover)) {
      const differs = findDifference(one.before, side.received(seat))
      return stopped(at, differs ? { differs } : { invalid: true })
    }
    const other = side.play(mover, action, seat, truncationAt(playedBy(mover, moves.slice(0, at)), setting))
    const apart = one.step?.refused !== other.step?.refused
    if (apart && (mover !== seat || (!fits && !other.step))) return stopped(at, { invalid: true })
    if (JSON.stringify(one.revealed) !== JSON.stringify(other.revealed)) return stopped(at, { diverged: true })
    const differs = findDifference(one.received, other.received)
    if (differs) return stopped(at + 1, { differs })
  }
  return stopped(moves.length)
}

/** Steps are limited for each seat by itself. */
function playedBy(seat: string, moves: readonly PairedMove[]): number {
  return moves.filter((move) => move.seat === seat).length
}

/** What came of one step. */
interface Outcome {
  readonly step: RehearsedStep | null
  /** What the seat had before it, and by it. */
  readonly before: Received
  readonly received: Received
  /** The values that are revealed to the seat. */
  readonly revealed: readonly Json[]
}

/** One of two plays. */
interface Side {
  readonly rehearsal: Rehearsal
  /** Returns what a seat has now. */
  received(seat: string): Received
  /** Plays a move, and returns what it means to `seat`. An error of the rules leaves the state unchanged. */
  play(mover: string, action: Action, seat: string, truncation: ReturnType<typeof truncationAt>): Outcome
}

function startSide(environment: EnvironmentDefinition, { params }: Setting, deal: Deal, seed: string): Side {
  const dealt = {
    ...environment,
    start: (context: Parameters<typeof environment.start>[0]) => startDealt(environment, context, deal),
  }
  const rehearsal = rehearse(dealt, { params, seed })
  const received = (seat: string, step: RehearsedStep | null = null, mover: string | null = null): Received => {
    const mine = rehearsal.turn.includes(seat)
    const { ends = {}, sent = {} } = step?.seats ?? {}
    return {
      answer: mover === seat ? answerText(step) : '',
      view: JSON.stringify(rehearsal.observe(seat)),
      legal: mine ? JSON.stringify(environment.legal(rehearsal.state, params, seat)) : '',
      message: JSON.stringify(sent[seat] ?? []),
      turn: String(mine),
      end: JSON.stringify(ends[seat] ?? null),
    }
  }
  return {
    rehearsal,
    received: (seat) => received(seat),
    play(mover, { tool, arguments: args }, seat, truncation) {
      const before = received(seat)
      try {
        const step = rehearsal.play(tool, args, { seat: mover, truncation })
        const revealed = step.revealed.filter((_, i) => step.revealedTo[i]?.includes(seat) ?? true)
        return { step, before, received: received(seat, step, mover), revealed }
      } catch {
        return { step: null, before, received: received(seat, null, mover), revealed: [] }
      }
    },
  }
}

function answerText(step: RehearsedStep | null): string {
  if (!step) return 'the environment failed'
  const { text, structured } = step.observation
  return JSON.stringify({ text, ...(step.refused ? { isError: true } : { structured }) })
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
  const tools = Object.entries(legal)
    .filter(([name]) => environment.tools[name]?.sealed)
    .map(([name, inputSchema]) => ({ name, inputSchema }) as unknown as ToolInfo)
  return tools.length > 0 ? randomAction(tools, rng) : action
}
