import { type EnvironmentInfo, SeatViews } from '@episodic/protocol'
import { type SeatView, withAnswer } from '@episodic/protocol/internal'
import type { EarlierStep } from '../policy/policy.ts'
import type { GameStart, SeatStep } from './game.ts'
import type { MatchOptions, MatchStep } from './match.ts'
import { ownStepOf } from './own-step.ts'

/** A step, and what the player of its seat was asked with. */
type AskedStep = Pick<MatchStep, 'action' | 'completions'> & SeatStep & { readonly asked: SeatView }

/** What was played before a match goes on: what its seats know there, and what each player takes over after. */
export class EarlierMatch {
  readonly views: SeatViews
  /** The start of what follows. */
  readonly start: GameStart
  /** The start of the whole: that of the match that it goes on from. */
  readonly first: GameStart
  readonly #info: EnvironmentInfo
  readonly #steps: AskedStep[] = []
  /** All seats, in the order of their last steps. */
  #seats: readonly string[]
  /** What the players of the seats that may act were asked with, in the order in which they were. */
  readonly #asked = new Map<string, SeatView>()

  constructor(info: EnvironmentInfo, opened: GameStart, { origin }: Pick<MatchOptions, 'origin'>) {
    const { start: first, steps, answer } = origin ?? { start: opened, steps: [] }
    this.#info = info
    this.first = first
    this.views = new SeatViews(first, info.terms, steps.length === 0 ? answer : undefined)
    this.#seats = Object.keys(first.seats)
    this.#ask()
    for (const [i, step] of steps.entries()) {
      const numbered = { ...step, report: { ...step.report, revision: i + 1 } }
      this.views.apply(answer !== undefined && i === steps.length - 1 ? withAnswer(numbered, answer) : numbered)
      this.add(step)
    }
    const { turn, seats } = this.views.goOn()
    const begun = Object.entries(opened.seats).map(([name, seat]) => [name, { ...seat, ...seats[name] }])
    this.start = { ...opened, turn, seats: Object.fromEntries(begun) }
  }

  /** Takes in a step that no player of this match has chosen, which the views have. */
  add(step: Omit<AskedStep, 'asked'>): void {
    const { seat } = step
    this.#steps.push({ ...step, asked: this.#asked.get(seat) ?? this.views.seen(seat) })
    this.#asked.delete(seat)
    this.#seats = [...this.#seats.filter((name) => name !== seat), seat]
    this.#ask()
  }

  #ask(): void {
    for (const seat of this.#seats)
      if (!this.views.mayAct(seat)) this.#asked.delete(seat)
      else if (!this.#asked.has(seat)) this.#asked.set(seat, this.views.seen(seat))
  }

  /** The seats in the order in which their players are asked: where several may act at once, as they were before. */
  get order(): readonly string[] {
    return this.#steps.length > 0 ? [...new Set([...this.#asked.keys(), ...this.#seats])] : this.#seats
  }

  /** What the player of a seat was asked with before others moved, and has not answered. */
  askedOf(seat: string): SeatView | undefined {
    return this.#steps.length > 0 ? this.#asked.get(seat) : undefined
  }

  /** The steps after which the player of a seat takes over, and the last of them as it was reported. */
  of(seat: string): { readonly steps: readonly EarlierStep[]; readonly last: SeatStep | null } {
    const { tools } = this.#info
    // What no tool has played and was not refused is the server's step for a seat that did not act.
    const isOwn = ({ action, report }: AskedStep) =>
      report.refused !== null || tools.some(({ name }) => name === action.tool)
    const own = this.#steps.filter((step) => step.seat === seat && isOwn(step))
    const steps = own.map(({ asked, action, completions, ...step }, i): EarlierStep => {
      const seen = own[i + 1]?.asked ?? this.#asked.get(seat) ?? this.views.seen(seat)
      return { observation: asked.observation, action, step: ownStepOf(step, seen), answers: completions }
    })
    return { steps, last: own.at(-1) ?? null }
  }
}
