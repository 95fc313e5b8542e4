import type { Player } from '@episodic/env'
import type { Learner } from '../check-context.ts'
import type { Move } from '../rehearsed-episode.ts'
import { startSeat } from '../seat-players.ts'
import type { Attempt, AttemptStep, CheckTarget, TargetTask } from '../targets/target.ts'

/**
 * Returns one seat of a game as a target, with partners in the other ones. A fork plays the same moves again, because a
 * partner cannot be copied.
 */
export function seatTarget(game: CheckTarget, learner: Learner): CheckTarget {
  const open = async (task: TargetTask, moves: readonly Move[] = []): Promise<Attempt> => {
    const attempt = await game.open(task)
    const seated = seatAttempt(attempt, task, learner, (played) => open(task, played))
    await seated.wait()
    for (const { action } of moves) await seated.step(action)
    return seated
  }
  return { ...game, seats: [learner.seat], forks: false, open: (task) => open(task), openBeside: (task) => open(task) }
}

function seatAttempt(
  game: Attempt,
  task: TargetTask,
  { seat: own, partners }: Learner,
  again: (moves: readonly Move[]) => Promise<Attempt>,
) {
  const players = new Map<string, Player>()
  const moves: Move[] = []
  let earned = 0
  return {
    get turn() {
      return game.turn.filter((seat) => seat === own)
    },
    get end() {
      return game.end
    },
    get state() {
      return game.state
    },
    succeeds: () => game.succeeds(own),
    view: () => game.view(own),
    async step(action: Move['action']): Promise<AttemptStep> {
      moves.push({ action, seat: own })
      const step = await game.step(action, own)
      earned = step.reward
      await this.wait()
      return { ...step, reward: earned, rewards: { [own]: earned }, terms: {}, end: game.end }
    },
    fork: () => again(moves),
    /** Lets the partners play until it is the turn of the learner, and sums what they earn it. */
    async wait(): Promise<void> {
      while (game.end === null && this.turn.length === 0 && game.turn.length > 0) {
        const [seat] = game.turn as [string]
        const { observation, ...view } = game.view(seat)
        const policy = partners[seat] as Learner['partners'][string]
        const named = { ...task, ...task.seats?.[seat] }
        const player = players.get(seat) ?? (await startSeat(policy, named, view.tools ?? [], task.seed, seat))
        players.set(seat, player)
        const { rewards } = await game.step(await player(observation, view), seat)
        earned += rewards[own] ?? 0
      }
    },
    [Symbol.asyncDispose]: () => game[Symbol.asyncDispose](),
  }
}
