import { type EnvironmentInfo, SeatViews } from '@episodic/protocol'
import type { SeatView } from '@episodic/protocol/internal'
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

  constructor(info: EnvironmentInfo, opened: GameStart, { origin }: Pick<MatchOptions, 'origin'>) {
    const { start: first, steps, answer } = origin ?? { start: opened, steps: [] }
    this.#info = info
    this.first = first
    this.views = new SeatViews(first, info.terms, steps.length === 0 ? answer : undefined)
    for (const [i, step] of steps.entries()) {
      const numbered = { ...step, report: { ...step.report, revision: i + 1 } }
      const read = answer !== undefined && i === steps.length - 1 ? SeatViews.withAnswer(numbered, answer) : numbered
      this.add({ ...step, asked: this.views.replay(read) })
    }
    const { turn, seats } = this.views.goOn()
    const begun = Object.entries(opened.seats).map(([name, seat]) => [name, { ...seat, ...seats[name] }])
    this.start = { ...opened, turn, seats: Object.fromEntries(begun) }
  }

  /** Adds a step that no player of this match has chosen. */
  add(step: AskedStep): void {
    this.#steps.push(step)
  }

  /** The steps after which the player of a seat takes over, and the last of them as it was reported. */
  of(seat: string): { readonly steps: readonly EarlierStep[]; readonly last: SeatStep | null } {
    const { tools } = this.#info
    // What no tool has played and was not refused is the server's step for a seat that did not act.
    const isOwn = ({ action, report }: AskedStep) =>
      report.refused !== null || tools.some(({ name }) => name === action.tool)
    const own = this.#steps.filter((step) => step.seat === seat && isOwn(step))
    const steps = own.map(({ asked, action, completions, ...step }, i): EarlierStep => {
      const seen = own[i + 1]?.asked ?? this.views.seen(seat)
      return { observation: asked.observation, action, step: ownStepOf(step, seen), answers: completions }
    })
    return { steps, last: own.at(-1) ?? null }
  }
}
