import { namedStatus } from '@episodic/models/requests/http-status'
import { isMatchRecord, type SealedRecord } from '@episodic/protocol'
import { isAnswered } from '@episodic/report/fold/completions'
import { HarnessError } from '@episodic/run/base/harness-error'
import { machineClock, type WaitingClock } from '@episodic/run/base/waiting-clock'
import type { InFlight } from './in-flight.ts'

export interface ModelWatchOptions {
  /** The policies that ask a language model. The first episode is alone until they have answered. */
  readonly models: readonly string[]
  readonly inFlight: InFlight
  /** Refusals of one status in a row, with no answer in between, after which a run stops; 0 for never. */
  readonly failFast: number
  /** Seconds that a model may be unavailable before a run stops. */
  readonly outageLimit: number
  /** Receives a sentence at the start and at the end of an outage. */
  readonly onNotice?: ((notice: string) => void) | undefined
  /** Called at the start of an outage with `true`, and at its end with `false`. */
  readonly onOutage?: ((isOut: boolean) => void) | undefined
  readonly clock?: WaitingClock | undefined
}

/** What becomes of a rollout that was played. `again`: it is dropped, and played again. */
type Verdict = 'seal' | 'hold' | 'again'

/** Pauses between two tries in an outage, in milliseconds. */
const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 60_000

interface ModelState {
  answers: number
  /** Refusals of one status since the last answer. */
  refusals: number
  status: number | null
  /** Episodes since the last answer that ended because no request was answered. */
  unanswered: number
  /** Refused episodes, the earliest first, each with the number of answers at that time. */
  held: { readonly records: readonly SealedRecord[]; readonly answers: number }[]
}

/** A time in which a model does not answer. */
interface Outage {
  readonly model: string
  readonly since: number
  pause: number
  /** Whether an episode is played to find out if the model answers again. */
  isTrying: boolean
  changed: PromiseWithResolvers<void>
}

/**
 * Watches the language models of a run: starts slowly, holds back refused episodes until it is clear whether the server
 * refuses all of them or only these, and waits for the end of an outage.
 */
export class ModelWatch {
  readonly #options: ModelWatchOptions
  readonly #clock: WaitingClock
  readonly #states = new Map<string, ModelState>()
  readonly #opened = Promise.withResolvers<void>()
  #outage: Outage | null = null

  constructor(options: ModelWatchOptions) {
    this.#options = options
    this.#clock = options.clock ?? machineClock
    if (options.models.length === 0) this.#opened.resolve()
  }

  /**
   * Resolves once every model has answered, or an episode has ended without being refused. Until then, one is played
   * alone.
   */
  get opened(): Promise<void> {
    return this.#opened.promise
  }
  answered(model: string): void {
    const state = this.#stateOf(model)
    state.answers += 1
    state.refusals = 0
    state.unanswered = 0
    if (this.#options.models.every((name) => this.#stateOf(name).answers > 0)) this.#opened.resolve()
    if (this.#outage?.model === model) this.#endOutage(this.#outage)
  }

  /**
   * Resolves with `null`, at once unless there is an outage and else when it is over, or with the outage when it is the
   * caller's turn to find out whether it is over.
   */
  async untilAvailable(signal: AbortSignal): Promise<Outage | null> {
    for (let outage = this.#outage; outage && !signal.aborted; outage = this.#outage) {
      if (outage.isTrying) {
        await outage.changed.promise
        continue
      }
      outage.isTrying = true
      await this.#clock.wait(Math.min(outage.pause, this.#left(outage)), signal)
      return outage
    }
    return null
  }

  /** Wakes those who wait, after an abort. */
  release(): void {
    this.#outage?.changed.resolve()
  }

  /**
   * Decides on a rollout that was played. Throws `model-refused` after so many refusals in a row, and
   * `model-unavailable` at the limit of an outage.
   *
   * @param tried - the outage of which it was played to find out if it is over.
   */
  decide(records: readonly SealedRecord[], tried: Outage | null): Verdict {
    // A new outage may have begun since.
    const isTry = tried !== null && tried === this.#outage
    if (!everyFailed(records, 'model-refused')) this.#opened.resolve()
    if (everyFailed(records, 'model-unavailable')) return this.#unanswered(records, isTry)
    if (isTry) this.#endOutage(tried)
    return everyFailed(records, 'model-refused') ? this.#refused(records) : 'seal'
  }

  /**
   * Takes out the held episodes whose own request was at fault: the model has answered requests that were sent later.
   */
  takeSettled(): (readonly SealedRecord[])[] {
    return [...this.#states.values()].flatMap((state) => {
      // An answer may be to a request that was sent before the refusal; of more answers than are in flight, one is not.
      const isSettled = ({ answers }: { answers: number }) => state.answers - answers > this.#options.inFlight.count
      const settled = state.held.filter(isSettled)
      if (settled.length > 0) state.held = state.held.filter((each) => !isSettled(each))
      return settled.map(({ records }) => records)
    })
  }

  /** Takes out all held episodes, at the end of a plan. Throws `model-refused` if their model never answered. */
  takeRest(): (readonly SealedRecord[])[] {
    for (const state of this.#states.values()) {
      const last = state.held.at(-1)
      if (last && state.answers === 0) throw refusal(last.records, state.refusals)
    }
    return [...this.#states.values()].flatMap((state) => state.held.splice(0).map(({ records }) => records))
  }

  #refused(records: readonly SealedRecord[]): Verdict {
    const { failFast } = this.#options
    if (failFast === 0) {
      this.#opened.resolve()
      return 'seal'
    }
    const state = this.#stateOf(modelOf(records))
    const status = namedStatus(messageOf(records))
    state.refusals = state.status === status ? state.refusals + 1 : 1
    state.status = status
    state.held.push({ records, answers: state.answers })
    if (state.refusals >= failFast) throw refusal(records, state.refusals)
    return 'hold'
  }

  #unanswered(records: readonly SealedRecord[], isTry: boolean): Verdict {
    const model = modelOf(records)
    const state = this.#stateOf(model)
    state.unanswered += 1
    if (!this.#outage) {
      if (state.unanswered >= 2 * this.#options.inFlight.count) this.#beginOutage(model, state.unanswered)
      return 'seal'
    }
    if (isTry) this.#tryLater(this.#outage, records)
    // An episode that the model has answered before has begun, and its failure stays on record.
    return records.some(hasAnswers) ? 'seal' : 'again'
  }

  #beginOutage(model: string, unanswered: number): void {
    const { outageLimit, onNotice, onOutage } = this.#options
    const since = this.#clock.now()
    this.#outage = { model, since, pause: FIRST_PAUSE, isTrying: false, changed: Promise.withResolvers() }
    onOutage?.(true)
    onNotice?.(`${unanswered} episodes in a row got no answer of ${model}. Waiting for it, for up to ${outageLimit} s.`)
  }

  #tryLater(outage: Outage, records: readonly SealedRecord[]): void {
    if (this.#left(outage) <= 0)
      throw new HarnessError(
        'model-unavailable',
        `${outage.model} has not answered for ${this.#options.outageLimit} s (outageLimit), so the run stopped. ${messageOf(records)} When it answers again, resume the run.`,
      )
    outage.isTrying = false
    outage.pause = Math.min(LONGEST_PAUSE, 2 * outage.pause)
    outage.changed.resolve()
    outage.changed = Promise.withResolvers()
  }

  #endOutage(outage: Outage): void {
    this.#outage = null
    outage.changed.resolve()
    this.#options.onOutage?.(false)
    this.#options.onNotice?.(`${outage.model} answers again.`)
  }

  /** Milliseconds until the limit of an outage. */
  #left({ since }: Outage): number {
    return Math.max(0, 1_000 * this.#options.outageLimit - (this.#clock.now() - since))
  }

  #stateOf(model: string): ModelState {
    const known = this.#states.get(model)
    if (known) return known
    const state: ModelState = { answers: 0, refusals: 0, status: null, unanswered: 0, held: [] }
    this.#states.set(model, state)
    return state
  }
}

export function everyFailed(records: readonly SealedRecord[], code: string): boolean {
  return records.every(({ outcome }) => outcome.kind === 'failed' && outcome.error.code === code)
}

function hasAnswers({ steps, undecided = [] }: SealedRecord): boolean {
  return [...undecided, ...steps.flatMap(({ completions = [] }) => completions)].some(isAnswered)
}

/** Returns the policy at fault for a failed rollout. */
function modelOf([record]: readonly SealedRecord[]): string {
  if (!record) return ''
  if (!isMatchRecord(record)) return record.policy.name
  const { outcome, seats } = record
  return (outcome.kind === 'failed' && outcome.seat !== null && seats[outcome.seat]?.policy.name) || ''
}

function messageOf([record]: readonly SealedRecord[]): string {
  return record?.outcome.kind === 'failed' ? record.outcome.error.message : ''
}

function refusal(records: readonly SealedRecord[], inRow: number): HarnessError {
  const times = inRow === 1 ? 'The episode' : `${inRow} episodes in a row`
  return new HarnessError(
    'model-refused',
    `${times} failed with a refusal that trying again does not change, so the run stopped and did not seal them. ${messageOf(records)} Then resume the run.`,
  )
}
