import type { EpisodeEnd, Observation, Terms } from '@episodic/protocol'
import type { GameStart, SeatStep } from './game.ts'
import type { SeatResult } from './match.ts'

/** What one seat knows when it may act. */
export interface SeatView {
  readonly observation: Observation
  /** Raw reward since the seat's own last step, by the steps of others. */
  readonly due: Terms
}

/** A seat, as the reports of all steps leave it. */
interface SeatState {
  view: Observation
  /** The text of its own last answer, if that did not show the state, and the messages since. */
  texts: string[]
  due: Record<string, number>
  end: EpisodeEnd | null
  success: boolean | undefined
  readonly terms: Record<string, number>
  steps: number
}

/**
 * What the seats of a match know, from the reports of the steps that this process has played: who may act, what each
 * sees, and what each has earned. Reports may come in another order than the steps were committed.
 */
export class Table {
  readonly #seats = new Map<string, SeatState>()
  #turn: readonly string[]
  #revision = 0
  #changed = Promise.withResolvers<void>()

  constructor({ turn, seats }: GameStart, terms: readonly string[]) {
    this.#turn = turn
    for (const [seat, { observation }] of Object.entries(seats))
      this.#seats.set(seat, {
        view: observation,
        texts: [],
        due: {},
        end: null,
        success: undefined,
        terms: Object.fromEntries(terms.map((term) => [term, 0])),
        steps: 0,
      })
  }

  /** Resolves with what a seat knows once it may act; with `null` once its episode is over. */
  async next(seat: string, signal: AbortSignal): Promise<SeatView | null> {
    for (;;) {
      signal.throwIfAborted()
      const state = this.#stateOf(seat)
      if (state.end) return null
      if (this.#turn.includes(seat)) {
        const { view, texts, due } = state
        return { observation: { ...view, text: [...texts, view.text].join('\n') }, due }
      }
      await this.#changed.promise
    }
  }

  /** Takes in the report of a step. */
  apply({ seat, observation, report }: SeatStep): void {
    const { terms = {}, ends = {}, successes = {}, views, turn = [], sent = {} } = report.seats ?? { views: {} }
    const mover = this.#stateOf(seat)
    mover.steps += 1
    mover.due = {}
    // An answer to who may act at once shows the state; another is put before the view that comes later.
    mover.texts = turn.includes(seat) ? [] : [observation.text]
    mover.view = observation
    addTo(mover.terms, report.terms)
    for (const [other, earned] of Object.entries(terms)) {
      const state = this.#stateOf(other)
      addTo(state.terms, earned)
      addTo(state.due, earned)
    }
    for (const [other, texts] of Object.entries(sent)) if (other !== seat) this.#stateOf(other).texts.push(...texts)
    for (const [other, end] of Object.entries(ends)) {
      this.#stateOf(other).end = end
      this.#stateOf(other).success = successes[other]
    }
    const newest = report.revision > this.#revision
    for (const [other, view] of Object.entries(views)) if (newest) this.#stateOf(other).view = view
    if (newest) {
      this.#revision = report.revision
      this.#turn = turn
    }
    this.wake()
  }

  /** Wakes the seats that wait, to look again whether they may act or the match is called off. */
  wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }

  /** What the episode was for each seat. Call it when it is over for all. */
  results(): { [seat: string]: SeatResult } {
    const results = [...this.#seats].map(([seat, { end, success, terms, steps }]) => {
      const total = Object.values(terms).reduce((sum, term) => sum + term, 0)
      const result = { end: end as EpisodeEnd, terms, return: total, steps }
      return [seat, success === undefined ? result : { ...result, success }] as const
    })
    return Object.fromEntries(results)
  }

  #stateOf(seat: string): SeatState {
    return this.#seats.get(seat) as SeatState
  }
}

function addTo(sums: Record<string, number>, terms: Terms): void {
  for (const [term, value] of Object.entries(terms)) sums[term] = (sums[term] ?? 0) + value
}
