import { type Action, type LoggedStep, type SeatViews, seedFor, WireError } from '@episodic/protocol'
import { monotonic, type SeatResult } from '@episodic/protocol/internal'
import { offeredTools } from '../policy/offered-tools.ts'
import type { PlayerStop } from '../policy/player-stop.ts'
import { conversationOf, type ModelAnswer, type PolicyContext } from '../policy/policy.ts'
import type { EarlierMatch } from './earlier-match.ts'
import type { Game, GameStart } from './game.ts'
import type { MatchOptions, MatchStep } from './match.ts'

/** A failure of a match that names the seat whose policy, player or action it was. */
export class SeatFailure extends Error {
  readonly seat: string
  /** Answers of a language model since the last step of the seat. */
  readonly undecided: readonly ModelAnswer[]

  constructor(seat: string, cause: unknown, undecided: readonly ModelAnswer[] = []) {
    super(`Seat ${seat} failed.`, { cause })
    this.seat = seat
    this.undecided = undecided
  }
}

/** A match that is being played: what its players share. */
export class LiveMatch {
  readonly game: Game
  readonly earlier: EarlierMatch
  readonly start: GameStart
  readonly views: SeatViews
  readonly options: MatchOptions
  /** Aborts when the match is called off, or has failed. */
  readonly signal: AbortSignal
  readonly #steps: MatchStep[]
  /** The seats whose players have stopped, and the answers of their language models since their last steps. */
  readonly #stops = new Map<string, { readonly stop: PlayerStop; readonly undecided: ModelAnswer[] }>()

  /** @param steps - takes in the steps, in the order in which they become known. */
  constructor(game: Game, earlier: EarlierMatch, steps: MatchStep[], options: MatchOptions, signal: AbortSignal) {
    this.game = game
    this.earlier = earlier
    this.start = earlier.start
    this.views = earlier.views
    this.options = options
    this.signal = signal
    this.#steps = steps
  }

  /** Keeps a step of this process, whose report the views have. */
  keep(step: Omit<MatchStep, 'seen'>): void {
    const { now = monotonic } = this.options
    this.#steps.push({ ...step, seen: now() })
  }

  /** Plays an action that no player chose. */
  async playGiven({ seat, ...action }: Action & { readonly seat: string }): Promise<void> {
    const { game, earlier, views, signal } = this
    const { now = monotonic } = this.options
    const asked = views.ask(seat)
    const sent = now()
    const step = { ...(await views.play(game.step(seat, action, { signal }))), action, completions: [] }
    earlier.add({ ...step, asked })
    this.keep({ ...step, milliseconds: now() - sent })
  }

  /** Takes in a step of the log. Returns `false` if it is known. */
  take({ seat, action, observation, report }: LoggedStep): boolean {
    if (!this.views.apply({ seat, observation, report })) return false
    const completions = this.#stops.get(seat)?.undecided.splice(0) ?? []
    this.keep({ seat, action, observation, report, replayed: false, completions, milliseconds: null })
    return true
  }

  /**
   * Says for a player that has stopped, when it is the turn of its seat, that it has left: the rules decide what the
   * seat loses, and its answers are kept with the step that the server takes for it. Throws a {@link SeatFailure} with
   * the stop if the rules do not say. Then the match cannot go on.
   */
  async leave(seat: string, stop: PlayerStop, undecided: readonly ModelAnswer[]): Promise<void> {
    const { game, views, signal } = this
    while (await views.next(seat, signal)) {
      this.#stops.set(seat, { stop, undecided: [...undecided] })
      await game.leave(seat, { signal }).catch((error: unknown) => {
        throw WireError.is(error, 'invalid-params') ? new SeatFailure(seat, stop, undecided) : error
      })
      await this.catchUp()
    }
  }

  /** What the match was for each seat. It was cut off if it is not over for all. */
  results(): { readonly [seat: string]: SeatResult } {
    const { success } = this.game.info
    const results = this.views.results((seat) => ({
      end: { kind: 'truncated', reason: this.#stops.get(seat)?.stop.code ?? 'closed' },
      ...(success && { success: false }),
    }))
    for (const [seat, { stop }] of this.#stops) {
      const { code: reason, message } = stop
      if (reason !== 'closed') results[seat] = { ...(results[seat] as SeatResult), stopped: { reason, message } }
    }
    return results
  }

  /**
   * Takes in the steps that nobody in this process has played: those from outside, and those that the server took for
   * seats that did not act, in their time or because they had no steps left. Resolves with whether there were any.
   */
  async catchUp(): Promise<boolean> {
    const { game, views, signal } = this
    await views.settled(signal)
    let found = false
    for (const step of await game.log({ after: views.known, signal })) found = this.take(step) || found
    views.closeGap()
    return found
  }

  /** Takes in whose turn it is if an outside event has passed it on from a seat. Resolves with whether one has. */
  async followTurn(seat: string): Promise<boolean> {
    const { game, views, signal } = this
    const { mine, turn, revision } = await game.turn(seat, { signal })
    if (mine) return false
    const seen = turn.map(async (name) => [name, (await game.turn(name, { signal })).observation] as const)
    views.pass(turn, revision, Object.fromEntries(await Promise.all(seen)))
    return true
  }

  contextOf(seat: string): PolicyContext {
    const { task = {}, policySeed = 'match' } = this.options
    const { info } = this.game
    const { prompt = '', hints = [] } = task.seats?.[seat] ?? task
    return {
      task: { prompt, hints, params: this.start.info.params },
      tools: offeredTools(info, this.earlier.first.seats[seat]?.observation ?? {}, seat),
      seed: seedFor(policySeed, seat),
      seat,
      ...conversationOf(info, seat),
    }
  }
}
