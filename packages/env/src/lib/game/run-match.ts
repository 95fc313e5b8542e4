import type { EnvironmentInfo } from '@episodic/protocol'
import { optionInvalid } from '../env-error.ts'
import { PlayerStop } from '../policy/player-stop.ts'
import { closedEpisode } from '../session/closed-episode.ts'
import { type Game, seatsOf } from './game.ts'
import { createLiveMatch, type LiveMatch, SeatFailure } from './live-match.ts'
import type { Match, MatchOptions } from './match.ts'
import { followSeats, playOutside } from './play-outside.ts'
import { playSeat, seatPlayer } from './play-seat.ts'

/**
 * Plays one episode of one seat or several to its end, with one policy for each seat, closes the game and resolves with
 * the match. The players of a round are asked at once. A player from outside plays at the session URL of its seat.
 *
 * Never rejects: after a crash, an abort or a failed close the match is `failed`, and has the steps that were played. A
 * player that throws {@link PlayerStop}, or leaves its session URL, has caused that itself: the match is finished.
 */
export async function runMatch(options: MatchOptions): Promise<Match> {
  let game: Game | null = null
  let live: LiveMatch | null = null
  let match: Match
  const played = () => ({
    start: live?.start ?? null,
    steps: live?.steps.toSorted((a, b) => a.report.revision - b.report.revision) ?? [],
  })
  try {
    game = options.createGame()
    const { task = {}, seed, signal, origin } = options
    assertPolicies(game.info, options)
    const opened = await (origin ? game.restore(origin.snapshot, { signal }) : game.reset(task, { seed, signal }))
    live = createLiveMatch(game, opened, options)
    const { seats, undecided } = await playSeats(live)
    match = { kind: 'finished', ...played(), start: live.start, seats, undecided }
  } catch (error) {
    const { seat, cause, undecided } =
      error instanceof SeatFailure ? error : { seat: null, cause: error, undecided: [] }
    match = { kind: 'failed', ...played(), cause, seat, undecided }
  }
  return closedEpisode(game, match)
}

/**
 * Plays all seats at once, each to its own end. The first failure ends the others. If a player has stopped and the
 * rules do not say what its seat loses, the match ends there.
 */
async function playSeats(match: LiveMatch): Promise<Pick<Match & { kind: 'finished' }, 'seats' | 'undecided'>> {
  const { game, options, failed, signal } = match
  const wake = () => match.views.wake()
  signal.addEventListener('abort', wake, { once: true })
  const outside = new Set<string>()
  try {
    if (options.origin?.call) await match.playGiven(options.origin.call)
    const seated = match.views.order.flatMap((seat) => {
      const player = options.policies[seat] as MatchOptions['policies'][string]
      if (match.views.hasEnded(seat)) return []
      if ('playSeat' in player) outside.add(seat)
      return { seat, player: 'playSeat' in player ? player : seatPlayer(seat, player, match) }
    })
    // Who takes over late moves no later than others.
    await Promise.allSettled(seated.map(({ player }) => player))
    const players = seated.map(({ seat, player }) =>
      'playSeat' in player ? playOutside(seat, player, match) : playSeat(seat, player, match),
    )
    if (outside.size > 0) players.push(followSeats(outside, match))
    const guarded = players.map((player) =>
      player.catch((error) => {
        failed.abort(error)
        throw error
      }),
    )
    // Every seat has stopped before the first failure is passed on.
    const settled = await Promise.allSettled(guarded)
    if (!failed.signal.aborted) {
      for (const result of settled) if (result.status === 'rejected') throw result.reason
      return { seats: match.results() }
    }
    const { reason } = failed.signal
    if (!(reason instanceof SeatFailure && PlayerStop.is(reason.cause)) || options.signal?.aborted) throw reason
    // A step whose answer was not waited for may have been played.
    for (const step of await game.log({ after: match.views.known, signal: options.signal })) match.take(step)
    return { seats: match.results(), undecided: reason.undecided }
  } finally {
    signal.removeEventListener('abort', wake)
  }
}

function assertPolicies(info: EnvironmentInfo, { policies, task }: MatchOptions): void {
  const { name } = info
  const seats = seatsOf(info)
  const missing = seats.find((seat) => !Object.hasOwn(policies, seat.name))
  if (missing) throw optionInvalid(`No policy is given for the seat ${missing.name} of ${name}.`)
  const given = [...Object.keys(policies), ...Object.keys(task?.seats ?? {})]
  const unknown = given.find((name) => !seats.some((seat) => seat.name === name))
  if (unknown !== undefined)
    throw optionInvalid(
      `${name} has no seat "${unknown}". Its seats are: ${seats.map((seat) => seat.name).join(', ')}.`,
    )
}
