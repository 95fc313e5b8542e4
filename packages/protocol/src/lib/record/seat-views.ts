import { type EpisodeEnd, type Judgement, judgementOf } from '../wire/end-reasons.ts'
import type { PlayerStopped } from '../wire/episode-end.ts'
import { eventTexts } from '../wire/event-texts.ts'
import type { Observation } from '../wire/observation.ts'
import type { AppliedEvent } from '../wire/outside-event.ts'
import type { SeatsReport, Terms } from '../wire/seats-report.ts'
import type { StepReport } from '../wire/step.ts'

/** What an episode was for one seat. If the match was cut off, it has no success, and nobody judged the rest. */
export interface SeatResult extends Judgement {
  readonly end: EpisodeEnd
  /** That the player of the seat stopped before the episode was over for it, and why. */
  readonly stopped?: PlayerStopped | undefined
  readonly terms: { readonly [name: string]: number }
  /** The sum of the terms. */
  readonly return: number
  /** Answered steps of the seat, with those of the match that this one goes on from. */
  readonly steps: number
}

/** The start of a match: who may act, and what each seat sees. */
interface MatchStart {
  readonly turn: readonly string[]
  readonly seats: {
    /** `messages`: if it goes on from a step, the texts for the seat since its own last one. Default: none. */
    readonly [seat: string]: { readonly observation: Observation; readonly messages?: readonly string[] | undefined }
  }
}

/** A step of a seat, as far as it concerns what the seats know. */
interface SeatStep {
  readonly seat: string
  readonly observation: Observation
  readonly report: Pick<StepReport, 'terms' | 'revision' | 'seats'> &
    Partial<Pick<StepReport, 'end' | 'success' | 'verdicts'>> & {
      readonly events?: readonly Pick<AppliedEvent, 'said' | 'sent'>[] | undefined
    }
}

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
  /** How many of the texts its player has been asked with. */
  shown: number
  due: Record<string, number>
  ended: (Judgement & { readonly end: EpisodeEnd }) | null
  terms: Record<string, number>
  steps: number
}

/**
 * What the seats of a match know, from the reports of the steps that this process has played: who may act, what each
 * sees, and what each has earned. Reports may come in another order than the steps were committed.
 */
export class SeatViews {
  /** In the order of their last steps, as far as those were replayed. */
  readonly #seats = new Map<string, SeatState>()
  /** What players were asked with before and have not answered, in the order in which they were. */
  readonly #asked = new Map<string, SeatView>()
  #turn: readonly string[]
  #revision = 0
  #sent = 0
  #known = 0
  /** Commits that are known behind the first unknown one. */
  readonly #later = new Set<number>()
  #changed = Promise.withResolvers<void>()

  constructor({ turn, seats }: MatchStart, terms: readonly string[]) {
    this.#turn = turn
    for (const [seat, { observation, messages = [] }] of Object.entries(seats))
      this.#seats.set(seat, {
        ...{ view: observation, texts: [...messages], shown: 0, due: {}, ended: null },
        ...{ terms: Object.fromEntries(terms.map((term) => [term, 0])), steps: 0 },
      })
  }

  /** Goes on in another session: commits and rewards count anew. Returns its start, at which seats know as much. */
  goOn(): MatchStart {
    this.#revision = 0
    this.#known = 0
    this.#later.clear()
    const seats: { [seat: string]: MatchStart['seats'][string] } = {}
    for (const [name, state] of this.#seats) {
      state.terms = Object.fromEntries(Object.keys(state.terms).map((term) => [term, 0]))
      const { view: observation, texts } = state
      seats[name] = { observation, ...(texts.length > 0 && { messages: [...texts] }) }
    }
    return { turn: this.#turn, seats }
  }

  /** Resolves with what a seat knows once it may act; with `null` once its episode is over. */
  async next(seat: string, signal: AbortSignal): Promise<SeatView | null> {
    for (;;) {
      signal.throwIfAborted()
      if (this.hasEnded(seat)) return null
      if (this.mayAct(seat)) return this.ask(seat)
      await this.#changed.promise
    }
  }

  /**
   * Returns what the player of a seat is asked for a move with: the texts since its own last step, its view, and the
   * reward since. Of a seat whose player was asked before and has not answered, see {@link replay}, what that was.
   */
  seen(seat: string): SeatView {
    const asked = this.#asked.get(seat)
    if (asked) return asked
    const state = this.#stateOf(seat)
    const { view, texts, due } = state
    state.shown = texts.length
    return { observation: { ...view, text: [...texts, view.text].join('\n') }, due: { ...due } }
  }

  /** The same, when its player is asked. */
  ask(seat: string): SeatView {
    const seen = this.seen(seat)
    this.#asked.delete(seat)
    return seen
  }

  /** Takes in a step that was played before, by players asked once they may act. Returns what its own was shown. */
  replay(step: SeatStep): SeatView {
    const { seat } = step
    this.#askAll()
    const asked = this.ask(seat)
    this.apply(step)
    const mover = this.#stateOf(seat)
    this.#seats.delete(seat)
    this.#seats.set(seat, mover)
    this.#askAll()
    return asked
  }

  #askAll(): void {
    for (const seat of this.#seats.keys())
      if (this.mayAct(seat)) this.#asked.set(seat, this.seen(seat))
      else this.#asked.delete(seat)
  }

  /** Has the seats that may act read this, in place of all that they would have read. */
  answer(text: string): void {
    for (const [seat, state] of this.#seats)
      if (this.mayAct(seat)) {
        Object.assign(state, { view: { ...state.view, text }, texts: [], shown: 0 })
        this.#asked.delete(seat)
      }
  }

  /** The seats in the order in which their players are asked: where several may act at once, as they have waited. */
  get order(): readonly string[] {
    return [...new Set([...this.#asked.keys(), ...this.#seats.keys()])]
  }

  hasEnded(seat: string): boolean {
    return this.#stateOf(seat).ended !== null
  }

  /** Resolves once the episode is over for these seats. */
  async ended(seats: readonly string[], signal: AbortSignal): Promise<void> {
    while (!seats.every((seat) => this.hasEnded(seat))) {
      signal.throwIfAborted()
      await this.#changed.promise
    }
  }

  /** Awaits the answer of a step and takes in its report. */
  async play<Step extends SeatStep>(answer: Promise<Step>): Promise<Step> {
    this.#sent += 1
    try {
      const step = await answer
      this.apply(step)
      return step
    } finally {
      this.#sent -= 1
      this.wake()
    }
  }

  /** Resolves once no step is on its way. */
  async settled(signal: AbortSignal): Promise<void> {
    while (this.#sent > 0) {
      signal.throwIfAborted()
      await this.#changed.promise
    }
  }

  /** The commits up to the first one that is not known; others may be known behind it. */
  get known(): number {
    return this.#known
  }

  /** Whether a later commit is known than one that is not, and no step is on its way that may be it. */
  get hasGap(): boolean {
    return this.#sent === 0 && this.#later.size > 0
  }

  /** Says that the commits in between are no steps, after the step log was read. */
  closeGap(): void {
    this.#known = Math.max(this.#known, ...this.#later)
    this.#later.clear()
  }

  mayAct(seat: string): boolean {
    return this.#turn.includes(seat) && !this.hasEnded(seat)
  }

  stepsOf(seat: string): number {
    return this.#stateOf(seat).steps
  }

  /** Takes in the report of a step. Returns `false` for one that is known already, which changes nothing. */
  apply(step: SeatStep): boolean {
    const { seat, observation, report } = step
    if (report.revision <= this.#known || this.#later.has(report.revision)) return false
    this.#later.add(report.revision)
    while (this.#later.delete(this.#known + 1)) this.#known += 1
    const { terms = {}, ends = {}, successes = {}, verdicts = {}, views, turn, sent = {} } = seatsReportOf(step)
    const mover = this.#stateOf(seat)
    mover.steps += 1
    mover.due = {}
    // An only seat has them in its answer.
    for (const event of (report.seats && report.events) ?? [])
      for (const [name, { ended, texts }] of this.#seats) if (!ended) texts.push(...eventTexts(event, name))
    // What came after its player was asked is still to be shown. The answer is before a view that comes later, unless
    // it shows the state itself, as to who may act at once, or is the last one. One without words is no line.
    const shows = turn.includes(seat) || ends[seat] !== undefined || observation.text === ''
    mover.texts = [...mover.texts.slice(mover.shown), ...(shows ? [] : [observation.text])]
    mover.shown = 0
    mover.view = observation
    addTo(mover.terms, report.terms)
    for (const [other, earned] of Object.entries(terms)) {
      const state = this.#stateOf(other)
      addTo(state.terms, earned)
      addTo(state.due, earned)
    }
    for (const [other, texts] of Object.entries(sent)) if (other !== seat) this.#stateOf(other).texts.push(...texts)
    for (const [other, end] of Object.entries(ends)) {
      const judged = report.seats ? { success: successes[other], verdicts: verdicts[other] } : report
      this.#stateOf(other).ended = { end, ...judgementOf(judged) }
    }
    const newest = report.revision > this.#revision
    for (const [other, view] of Object.entries(views)) if (newest) this.#stateOf(other).view = view
    if (newest) {
      this.#revision = report.revision
      this.#turn = turn
    }
    this.wake()
    return true
  }

  /** Takes in whose turn it is after an outside event, which no step has reported yet, and what those seats see. */
  pass(turn: readonly string[], revision: number, views: { readonly [seat: string]: Observation }): void {
    if (revision <= this.#revision) return
    this.#revision = revision
    this.#turn = turn
    for (const [seat, view] of Object.entries(views)) this.#stateOf(seat).view = view
    this.wake()
  }

  /** Wakes the seats that wait, to look again whether they may act or the match is called off. */
  wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }

  /**
   * What the episode was for each seat.
   *
   * @param cut - returns the end of a seat for which it is not over, and its success if the environment defines one.
   *   Default: truncated as `closed`.
   */
  results(cut: (seat: string) => Pick<SeatResult, 'end' | keyof Judgement> = () => CLOSED) {
    const results = [...this.#seats].map(([seat, { ended, terms, steps }]) => {
      const total = Object.values(terms).reduce((sum, term) => sum + term, 0)
      return [seat, { ...(ended ?? cut(seat)), terms, return: total, steps }] as const
    })
    return Object.fromEntries<SeatResult>(results)
  }

  #stateOf(seat: string): SeatState {
    return this.#seats.get(seat) as SeatState
  }
}

/** Returns what a step meant to every seat. An only seat may act until the end, which is that of the step. */
function seatsReportOf({ seat, report: { seats, end } }: SeatStep): SeatsReport {
  return seats ?? { turn: end ? [] : [seat], views: {}, ...(end && { ends: { [seat]: end } }) }
}

const CLOSED = { end: { kind: 'truncated', reason: 'closed' } } as const

function addTo(sums: Record<string, number>, terms: Terms): void {
  for (const [term, value] of Object.entries(terms)) sums[term] = (sums[term] ?? 0) + value
}
