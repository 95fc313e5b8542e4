import {
  type Completion,
  type EnvironmentInfo,
  type LoggedStep,
  type Step,
  seedFor,
  WireError,
} from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/extend'
import { EnvError } from '../env-error.ts'
import { stepResultOf } from '../environment/environment.ts'
import type { Policy, PolicyContext } from '../policy/policy.ts'
import type { Game, GameStart, SeatStep } from './game.ts'
import type { Match, MatchOptions, MatchStep } from './match.ts'
import { isOutsidePlayer, type OutsidePlayer } from './outside-player.ts'
import { type SeatView, Table } from './table.ts'

/** A failure that names the seat whose policy or action it was. */
class SeatFailure extends Error {
  readonly seat: string
  readonly undecided: readonly Completion[]

  constructor(seat: string, cause: unknown, undecided: readonly Completion[] = []) {
    super(`Seat ${seat} failed.`, { cause })
    this.seat = seat
    this.undecided = undecided
  }
}

/**
 * Plays one episode of several seats to its end, with one policy for each seat, closes the game and resolves with the
 * match. The players of a round are asked at once. A player from outside plays at the session URL of its seat.
 *
 * Never rejects: after a crash, an abort or a failed close the match is `failed`, and has the steps that were played.
 */
export async function runMatch(options: MatchOptions): Promise<Match> {
  const steps: MatchStep[] = []
  let start: GameStart | null = null
  let game: Game | null = null
  let match: Match
  const inOrder = () => steps.toSorted((a, b) => a.report.revision - b.report.revision)
  try {
    game = options.createGame()
    const { task = {}, seed, signal } = options
    assertPolicies(game.info, options)
    start = await game.reset(task, { seed, signal })
    const table = new Table(start, game.info.terms)
    await playSeats(game, start, table, steps, options)
    match = { kind: 'finished', start, steps: inOrder(), seats: table.results() }
  } catch (error) {
    const blamed = error instanceof SeatFailure ? error : { seat: null, cause: error, undecided: [] }
    match = {
      kind: 'failed',
      start,
      steps: inOrder(),
      cause: blamed.cause,
      seat: blamed.seat,
      undecided: blamed.undecided,
    }
  }
  try {
    await game?.close()
  } catch (cause) {
    if (match.kind === 'finished')
      return { kind: 'failed', start, steps: match.steps, cause, seat: null, undecided: [] }
  }
  return match
}

/** What the players of a match share. */
interface Playing {
  readonly game: Game
  readonly start: GameStart
  readonly table: Table
  readonly onStep: (step: MatchStep) => void
  readonly options: MatchOptions
  readonly signal: AbortSignal
}

/** Plays all seats at once, each to its own end. The first failure ends the others. */
async function playSeats(
  game: Game,
  start: GameStart,
  table: Table,
  steps: MatchStep[],
  options: MatchOptions,
): Promise<void> {
  const failed = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal
  const wake = () => table.wake()
  signal.addEventListener('abort', wake, { once: true })
  const playing: Playing = { game, start, table, onStep: (step) => void steps.push(step), options, signal }
  const outside = new Set<string>()
  try {
    const players = Object.keys(start.seats).map((seat) => {
      const player = options.policies[seat] as MatchOptions['policies'][string]
      if (!isOutsidePlayer(player)) return playSeat(seat, player, playing)
      outside.add(seat)
      return playOutside(seat, player, playing)
    })
    if (outside.size > 0) players.push(follow(outside, playing))
    const guarded = players.map((player) =>
      player.catch((error) => {
        failed.abort(error)
        throw error
      }),
    )
    // Every seat has stopped before the first failure is passed on.
    const settled = await Promise.allSettled(guarded)
    if (failed.signal.aborted) throw failed.signal.reason
    for (const result of settled) if (result.status === 'rejected') throw result.reason
  } finally {
    signal.removeEventListener('abort', wake)
  }
}

/** Seconds that one request waits for a step from outside. */
const FOLLOW_SECONDS = 20

/** Takes in the steps of seats that are played from outside, until the episode is over for all. */
async function follow(seats: ReadonlySet<string>, { game, start, table, onStep, signal }: Playing): Promise<void> {
  const over = new AbortController()
  void table.ended(Object.keys(start.seats), signal).then(
    () => over.abort(),
    () => {},
  )
  const waiting = AbortSignal.any([signal, over.signal])
  for (let after = 0; !over.signal.aborted; ) {
    const logged = await game.log({ after, wait: FOLLOW_SECONDS, signal: waiting }).catch((error: unknown) => {
      if (over.signal.aborted) return []
      throw error
    })
    for (const step of logged) {
      after = step.report.revision
      if (seats.has(step.seat)) take(step, table, onStep)
    }
  }
}

/** Lets a player from outside play, and resolves when the episode of its seat is over and the player has returned. */
async function playOutside(seat: string, player: OutsidePlayer, playing: Playing): Promise<void> {
  const { game, start, table, onStep, options, signal } = playing
  const { capability, observation } = start.seats[seat] as GameStart['seats'][string]
  const over = new AbortController()
  const context = contextOf(game.info, start, seat, options)
  const outside = { context, capability, observation, signal: AbortSignal.any([signal, over.signal]) }
  const played = Promise.resolve().then(() => player.playSeat(outside))
  try {
    const ended = table.ended([seat], signal)
    // If the match fails first, the error is that of its cause.
    ended.catch(() => {})
    await Promise.race([ended, played])
    await catchUp(game, table, onStep, signal)
    // It has left: what that means is decided when it is its turn.
    while (await table.next(seat, signal)) {
      await game.leave(seat, { signal })
      await catchUp(game, table, onStep, signal)
    }
  } catch (cause) {
    signal.throwIfAborted()
    const left = WireError.is(cause, 'invalid-params')
    throw new SeatFailure(seat, left ? leftEarly(seat, player, cause) : cause)
  } finally {
    over.abort()
    await played.catch(() => {})
  }
}

function leftEarly(seat: string, { name }: OutsidePlayer, cause: unknown): EnvError {
  return new EnvError('player-left', `${name} stopped before the episode was over for ${seat}.`, { cause })
}

async function playSeat(seat: string, policy: Policy, playing: Playing): Promise<void> {
  const { game, start, table, onStep, options, signal } = playing
  const { now = monotonic } = options
  let completions: Completion[] = []
  const blame = (cause: unknown): never => {
    signal.throwIfAborted()
    throw new SeatFailure(seat, cause, completions)
  }
  const player = await Promise.resolve()
    .then(() => policy.start(contextOf(game.info, start, seat, options)))
    .catch(blame)
  const legal = game.legal && (() => (game.legal as NonNullable<Game['legal']>)(seat, { signal }))
  let last: SeatStep | null = null
  for (let view = await table.next(seat, signal); view; view = await table.next(seat, signal)) {
    const seen = view
    completions = []
    if (table.stepsOf(seat) >= start.info.limits.steps) {
      // The server takes the step of a seat that has none left.
      await game.turn(seat, { signal })
      await catchUp(game, table, onStep, signal)
      if (!table.mayAct(seat)) continue
    }
    const onCompletion = (completion: Completion) => void completions.push(completion)
    const action = await Promise.resolve()
      .then(() => player(seen.observation, { last: last && stepOf(last, seen), legal, signal, onCompletion }))
      .catch(blame)
    const sent = now()
    try {
      last = await table.play(game.step(seat, action, { signal }))
    } catch (error) {
      if (MOVED.some((code) => WireError.is(error, code))) {
        // Another seat has moved since, or the server for this one. Its player is asked again when it may act.
        if ((await catchUp(game, table, onStep, signal)) || !table.mayAct(seat)) continue
      }
      throw WireError.is(error, 'invalid-params') ? new SeatFailure(seat, error, completions) : error
    }
    onStep({ ...last, action, completions, milliseconds: now() - sent })
    if (table.hasGap) await catchUp(game, table, onStep, signal)
  }
}

/** Errors of a step that mean that somebody has taken a step since. */
const MOVED = ['not-your-turn', 'episode-ended', 'seq-reused', 'seq-conflict'] as const

/**
 * Takes in the steps that nobody in this process has played: those from outside, and those that the server took for seats
 * that did not act, in their time or because they had no steps left. Resolves with whether there were any.
 */
async function catchUp(
  game: Game,
  table: Table,
  onStep: (step: MatchStep) => void,
  signal: AbortSignal,
): Promise<boolean> {
  await table.settled(signal)
  let found = false
  for (const step of await game.log({ after: table.known, signal })) found = take(step, table, onStep) || found
  table.closeGap()
  return found
}

/** Takes in a step of the log. Returns `false` if it is known. */
function take(
  { seat, action, observation, report }: LoggedStep,
  table: Table,
  onStep: (step: MatchStep) => void,
): boolean {
  if (!table.apply({ seat, observation, report })) return false
  onStep({ seat, action, observation, report, replayed: false, completions: [], milliseconds: null })
  return true
}

/** The seat's own last step as its policy sees it: with the reward since, by the steps of others. */
function stepOf({ report, replayed }: SeatStep, { observation, due }: SeatView): Step {
  const { seq, potential, refused, stateHash, success, end } = report
  const terms = { ...report.terms }
  for (const [term, value] of Object.entries(due)) terms[term] = (terms[term] ?? 0) + value
  const total = Object.values(terms).reduce((sum, term) => sum + term, 0)
  return stepResultOf({
    observation,
    reward: { total, terms, shaping: 0 },
    end,
    info: { seq, potential, refused, stateHash, replayed, ...(success !== undefined && { success }) },
  })
}

function contextOf(
  { tools, seats = [] }: EnvironmentInfo,
  start: GameStart,
  seat: string,
  { task = {}, policySeed = 'match' }: MatchOptions,
): PolicyContext {
  const own = seats.find(({ name }) => name === seat)
  const { prompt = '', hints = [] } = task.seats?.[seat] ?? task
  return {
    task: { prompt, hints, params: start.info.params },
    tools: tools.filter(({ name }) => own?.tools.includes(name)),
    seed: seedFor(policySeed, seat),
    seat,
  }
}

function assertPolicies({ name, seats = [] }: EnvironmentInfo, { policies, task }: MatchOptions): void {
  const missing = seats.find((seat) => !Object.hasOwn(policies, seat.name))
  if (missing) throw new EnvError('option-invalid', `No policy is given for the seat ${missing.name} of ${name}.`)
  const given = [...Object.keys(policies), ...Object.keys(task?.seats ?? {})]
  const unknown = given.find((name) => !seats.some((seat) => seat.name === name))
  if (unknown !== undefined)
    throw new EnvError(
      'option-invalid',
      `${name} has no seat "${unknown}". Its seats are: ${seats.map((seat) => seat.name).join(', ')}.`,
    )
}
