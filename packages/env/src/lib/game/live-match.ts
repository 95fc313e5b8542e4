import { type Action, type LoggedStep, SeatViews, seedFor, WireError } from '@episodic/protocol'
import { monotonic, type SeatResult, type SeatView } from '@episodic/protocol/internal'
import { offeredTools } from '../policy/offered-tools.ts'
import type { PlayerStop } from '../policy/player-stop.ts'
import { conversationOf, type EarlierStep, type ModelAnswer, type PolicyContext } from '../policy/policy.ts'
import type { Game, GameStart, SeatStep } from './game.ts'
import type { MatchOptions, MatchStep } from './match.ts'
import { ownStepOf } from './own-step.ts'

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

/** A step that was played before, with what the player of its seat was asked with. */
type EarlierOfSeat = Pick<MatchStep, 'action' | 'completions'> & SeatStep & { readonly asked: SeatView }

/** A match that is being played: what its players share. */
export class LiveMatch {
  readonly game: Game
  readonly start: GameStart
  readonly views: SeatViews
  readonly options: MatchOptions
  /** Its steps, in the order in which they become known. */
  readonly steps: MatchStep[] = []
  /** Aborted with the failure of a seat. */
  readonly failed = new AbortController()
  /** Aborts when the match is called off, or has failed. */
  readonly signal: AbortSignal
  /** The start of the whole: that of the match that it goes on from. */
  readonly #first: GameStart
  readonly #earlier: EarlierOfSeat[] = []
  /** The seats whose players have stopped, and the answers of their language models since their last steps. */
  readonly #stops = new Map<string, { readonly stop: PlayerStop; readonly undecided: ModelAnswer[] }>()

  constructor(game: Game, opened: GameStart, options: MatchOptions) {
    const { origin, signal } = options
    const { start, steps = [], answer } = origin ?? { start: opened }
    this.game = game
    this.options = options
    this.signal = signal ? AbortSignal.any([signal, this.failed.signal]) : this.failed.signal
    this.#first = start
    this.views = new SeatViews(start, game.info.terms)
    for (const [i, step] of steps.entries()) {
      const numbered = { ...step, report: { ...step.report, revision: i + 1 } }
      this.#earlier.push({ ...step, asked: this.views.replay(numbered) })
      if (step.answer !== undefined) this.views.answer(step.answer)
    }
    if (answer !== undefined) this.views.answer(answer)
    const { turn, seats } = this.views.goOn()
    const begun = Object.entries(opened.seats).map(([name, seat]) => [name, { ...seat, ...seats[name] }])
    this.start = { ...opened, turn, seats: Object.fromEntries(begun) }
  }

  /** The steps after which the player of a seat takes over, and the last of them as it was reported. */
  earlierOf(seat: string): { readonly earlier: readonly EarlierStep[]; readonly last: SeatStep | null } {
    const { tools } = this.game.info
    // What no tool has played and was not refused is the server's step for a seat that did not act.
    const own = this.#earlier.filter(
      ({ action, report, ...step }) =>
        step.seat === seat && (report.refused !== null || tools.some(({ name }) => name === action.tool)),
    )
    const earlier = own.map(({ asked, action, completions, ...step }, i): EarlierStep => {
      const seen = own[i + 1]?.asked ?? this.views.seen(seat)
      return { observation: asked.observation, action, step: ownStepOf(step, seen), answers: completions }
    })
    return { earlier, last: own.at(-1) ?? null }
  }

  /** Keeps a step of this process, whose report the views have. */
  keep(step: Omit<MatchStep, 'seen'>): void {
    const { now = monotonic } = this.options
    this.steps.push({ ...step, seen: now() })
  }

  /** Plays an action that no player chose. */
  async playGiven({ seat, ...action }: Action & { readonly seat: string }): Promise<void> {
    const { now = monotonic } = this.options
    const asked = this.views.ask(seat)
    const sent = now()
    const played = await this.views.play(this.game.step(seat, action, { signal: this.signal }))
    const step = { ...played, action, completions: [] }
    this.#earlier.push({ ...step, asked })
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
      tools: offeredTools(info, this.#first.seats[seat]?.observation ?? {}, seat),
      seed: seedFor(policySeed, seat),
      seat,
      ...conversationOf(info, seat),
    }
  }
}
