import { PlayerStop } from '../policy/player-stop.ts'
import type { GameStart } from './game.ts'
import { type LiveMatch, SeatFailure } from './live-match.ts'
import type { OutsidePlayer } from './outside-player.ts'

/** Seconds that one request waits for a step from outside. */
const FOLLOW_SECONDS = 20

/**
 * Lets a player from outside play, and resolves when the episode of its seat is over and the player has returned. Where
 * words are a move, it begins when its seat may act: what others have said by then is its first observation.
 */
export async function playOutside(seat: string, player: OutsidePlayer, match: LiveMatch): Promise<void> {
  const { game, start, views, signal } = match
  const { capability, observation: first } = start.seats[seat] as GameStart['seats'][string]
  const waits = game.info.tools.some(({ speech }) => speech !== undefined)
  const observation = waits ? (await views.next(seat, signal))?.observation : first
  if (!observation) return
  const over = new AbortController()
  const assignment = { context: match.contextOf(seat), capability, observation }
  const played = Promise.resolve()
    .then(() => player.playSeat({ ...assignment, signal: AbortSignal.any([signal, over.signal]) }))
    .then(() => new PlayerStop('no-action', `${player.name} stopped before the episode was over for ${seat}.`))
    .catch((cause: unknown) => {
      signal.throwIfAborted()
      if (PlayerStop.is(cause)) return cause
      throw new SeatFailure(seat, cause)
    })
  try {
    const ended = views.ended([seat], signal)
    // If the match fails first, the error is that of its cause.
    ended.catch(() => {})
    const stop = await Promise.race([ended, played])
    await match.catchUp()
    if (stop) await match.leave(seat, stop, [])
  } finally {
    over.abort()
    await played.catch(() => {})
  }
}

/** Takes in the steps of seats that are played from outside, until the episode is over for all. */
export async function followSeats(seats: ReadonlySet<string>, match: LiveMatch): Promise<void> {
  const { game, start, views, signal } = match
  const over = new AbortController()
  void views.ended(Object.keys(start.seats), signal).then(
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
      // Those of other seats come with their answers.
      if (seats.has(step.seat)) match.take(step)
    }
  }
}
