import { WireError } from '@episodic/protocol'
import { offeredTools } from '../policy/offered-tools.ts'
import { isUnplayable, PlayerStop, unplayable } from '../policy/player-stop.ts'
import type { ModelAnswer, Player, Policy } from '../policy/policy.ts'
import { createPlayer } from '../policy/resume-player.ts'
import type { Game } from './game.ts'
import { type LiveMatch, ownStepOf, SeatFailure } from './live-match.ts'

/** Errors of a step that mean that somebody has taken a step since. */
const MOVED = ['not-your-turn', 'episode-ended', 'seq-reused', 'seq-conflict'] as const

/** Resolves with the player of a seat: a new one, or one that takes over where the match goes on. */
export async function seatPlayer(seat: string, policy: Policy, match: LiveMatch): Promise<Player> {
  return createPlayer(policy, match.contextOf(seat), match.earlierOf(seat).earlier, match)
}

export async function playSeat(seat: string, player: Promise<Player>, match: LiveMatch): Promise<void> {
  try {
    await playWith(seat, player, match)
  } catch (error) {
    if (!(error instanceof SeatFailure && PlayerStop.is(error.cause))) throw error
    await match.leave(seat, error.cause, error.undecided)
  }
}

async function playWith(seat: string, ready: Promise<Player>, match: LiveMatch): Promise<void> {
  const { game, start, views, signal, now } = match
  let completions: ModelAnswer[] = []
  const blame = (cause: unknown): never => {
    signal.throwIfAborted()
    throw new SeatFailure(seat, cause, completions)
  }
  const player = await ready.catch(blame)
  const legal = game.legal && (() => (game.legal as NonNullable<Game['legal']>)(seat, { signal }))
  let { last } = match.earlierOf(seat)
  for (let view = await views.next(seat, signal); view; view = await views.next(seat, signal)) {
    const seen = view
    if (views.stepsOf(seat) >= start.info.limits.steps) {
      // The server takes the step of a seat that has none left.
      await game.turn(seat, { signal })
      await match.catchUp()
      if (!views.mayAct(seat)) continue
    }
    const onCompletion = (answer: ModelAnswer) => void completions.push(answer)
    const { observation } = seen
    const tools = game.info.offers && offeredTools(game.info, observation, seat)
    const action = await Promise.resolve()
      .then(() => player(observation, { last: last && ownStepOf(last, seen), tools, legal, signal, onCompletion }))
      .catch(blame)
    const sent = now()
    try {
      last = await views.play(game.step(seat, action, { signal }))
    } catch (error) {
      if (MOVED.some((code) => WireError.is(error, code))) {
        // Another seat has moved since, or the server for this one. Its player is asked again when it may act.
        if ((await match.catchUp()) || !views.mayAct(seat)) continue
        if (await match.followTurn(seat)) continue
      }
      throw isUnplayable(error) ? new SeatFailure(seat, unplayable(error), completions) : error
    }
    match.keep({ ...last, action, completions }, sent)
    completions = []
    if (views.hasGap) await match.catchUp()
  }
}
