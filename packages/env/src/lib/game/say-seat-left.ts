import { WireError } from '@episodic/protocol'
import type { PlayerStop } from '../policy/player-stop.ts'
import type { ModelAnswer } from '../policy/policy.ts'
import type { LiveMatch } from './live-match.ts'
import { SeatFailure } from './seat-failure.ts'

/**
 * Says for a player that has stopped, when it is the turn of its seat, that it has left: the rules decide what the seat
 * loses. Throws a `SeatFailure` with the stop if they do not say. Then the match cannot go on.
 */
export async function leaveSeat(
  seat: string,
  stop: PlayerStop,
  undecided: readonly ModelAnswer[],
  match: LiveMatch,
): Promise<void> {
  const { game, views, signal } = match
  while (await views.next(seat, signal)) {
    match.stopped(seat, stop, undecided)
    await game.leave(seat, { signal }).catch((error: unknown) => {
      throw WireError.is(error, 'invalid-params') ? new SeatFailure(seat, stop, undecided) : error
    })
    await match.catchUp()
  }
}
