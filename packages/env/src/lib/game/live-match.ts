import { type LoggedStep, seedFor } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/extend'
import type { PolicyContext } from '../policy/policy.ts'
import type { Game, GameStart } from './game.ts'
import type { MatchOptions, MatchStep } from './match.ts'
import { Table } from './table.ts'

/** A match that is being played: what its players share. */
export class LiveMatch {
  readonly game: Game
  readonly start: GameStart
  readonly table: Table
  readonly options: MatchOptions
  /** Aborts when the match is called off, or has failed. */
  readonly signal: AbortSignal
  readonly #steps: MatchStep[]

  /** @param steps - takes in the steps, in the order in which they become known. */
  constructor(game: Game, start: GameStart, steps: MatchStep[], options: MatchOptions, signal: AbortSignal) {
    this.game = game
    this.start = start
    this.table = new Table(start, game.info.terms)
    this.options = options
    this.signal = signal
    this.#steps = steps
  }

  /** Keeps a step of this process, whose report the table has. */
  keep(step: Omit<MatchStep, 'seen'>): void {
    const { now = monotonic } = this.options
    this.#steps.push({ ...step, seen: now() })
  }

  /** Takes in a step of the log. Returns `false` if it is known. */
  take({ seat, action, observation, report }: LoggedStep): boolean {
    if (!this.table.apply({ seat, observation, report })) return false
    this.keep({ seat, action, observation, report, replayed: false, completions: [], milliseconds: null })
    return true
  }

  /**
   * Takes in the steps that nobody in this process has played: those from outside, and those that the server took for
   * seats that did not act, in their time or because they had no steps left. Resolves with whether there were any.
   */
  async catchUp(): Promise<boolean> {
    const { game, table, signal } = this
    await table.settled(signal)
    let found = false
    for (const step of await game.log({ after: table.known, signal })) found = this.take(step) || found
    table.closeGap()
    return found
  }

  /** Returns what the player of a seat knows before it plays. */
  contextOf(seat: string): PolicyContext {
    const { task = {}, policySeed = 'match' } = this.options
    const { tools, seats = [] } = this.game.info
    const own = seats.find(({ name }) => name === seat)
    const { prompt = '', hints = [] } = task.seats?.[seat] ?? task
    return {
      task: { prompt, hints, params: this.start.info.params },
      tools: tools.filter(({ name }) => own?.tools.includes(name)),
      seed: seedFor(policySeed, seat),
      seat,
    }
  }
}
