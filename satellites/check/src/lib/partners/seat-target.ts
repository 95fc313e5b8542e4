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
    const seated = new SeatAttempt(attempt, task, learner, (played) => open(task, played))
    await seated.wait()
    for (const { action } of moves) await seated.step(action)
    return seated
  }
  return { ...game, seats: [learner.seat], forks: false, open: (task) => open(task) }
}

class SeatAttempt implements Attempt {
  readonly #game: Attempt
  readonly #task: TargetTask
  readonly #learner: Learner
  readonly #again: (moves: readonly Move[]) => Promise<Attempt>
  readonly #players = new Map<string, Player>()
  readonly #moves: Move[] = []
  #earned = 0

  constructor(game: Attempt, task: TargetTask, learner: Learner, again: (moves: readonly Move[]) => Promise<Attempt>) {
    this.#game = game
    this.#task = task
    this.#learner = learner
    this.#again = again
  }

  get turn() {
    return this.#game.turn.filter((seat) => seat === this.#learner.seat)
  }

  get end() {
    return this.#game.end
  }

  get stateHash() {
    return this.#game.stateHash
  }

  get state() {
    return this.#game.state
  }

  succeeds() {
    return this.#game.succeeds(this.#learner.seat)
  }

  view() {
    return this.#game.view(this.#learner.seat)
  }

  async step(action: Move['action']): Promise<AttemptStep> {
    const { seat } = this.#learner
    this.#moves.push({ action, seat })
    const step = await this.#game.step(action, seat)
    this.#earned = step.reward
    await this.wait()
    return { ...step, reward: this.#earned, rewards: { [seat]: this.#earned }, terms: {}, end: this.end }
  }

  fork() {
    return this.#again(this.#moves)
  }

  /** Lets the partners play until it is the turn of the learner, and sums what they earn it. */
  async wait(): Promise<void> {
    const { seat: own, partners } = this.#learner
    while (this.end === null && this.turn.length === 0 && this.#game.turn.length > 0) {
      const [seat] = this.#game.turn as [string]
      const { observation, ...view } = this.#game.view(seat)
      const policy = partners[seat] as Learner['partners'][string]
      const task = { ...this.#task, ...this.#task.seats?.[seat] }
      const player = this.#players.get(seat) ?? (await startSeat(policy, task, view.tools ?? [], task.seed, seat))
      this.#players.set(seat, player)
      const { rewards } = await this.#game.step(await player(observation, view), seat)
      this.#earned += rewards[own] ?? 0
    }
  }

  async [Symbol.asyncDispose]() {
    await this.#game[Symbol.asyncDispose]()
  }
}
