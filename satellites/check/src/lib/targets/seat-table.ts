import type { Player } from '@episodic/env'
import { ownStepOf } from '@episodic/env/internal'
import type { EnvironmentDefinition, Rehearsal, RehearsedStep } from '@episodic/mcp-server'
import { type Observation, SeatViews, type StepReport } from '@episodic/protocol'
import { judgementOf } from '@episodic/protocol/internal'
import { toolsOfSeat } from '../seat-players.ts'

/**
 * What the policies of a rehearsed episode are shown: the same observation and the same last step as in a run, where a
 * seat's own answer is not replaced by what the seat sees.
 */
export class SeatTable {
  readonly seats: readonly string[]
  readonly #views: SeatViews
  readonly #environment: EnvironmentDefinition
  readonly #own = new Map<string, Omit<StepReport, 'revision'>>()
  #revision = 0

  constructor(environment: EnvironmentDefinition, { start, turn }: Pick<Rehearsal, 'start' | 'turn'>) {
    const { terms, seats } = environment
    this.#environment = environment
    const starts = start.seats ?? Object.fromEntries(seats.map((seat) => [seat, start]))
    this.seats = Object.keys(starts)
    this.#views = new SeatViews({ turn, seats: starts }, terms)
  }

  seenBy(seat: string): Pick<Parameters<Player>[1], 'last' | 'tools'> & { readonly observation: Observation } {
    const view = this.#views.seen(seat)
    const { observation } = view
    const report = this.#own.get(seat)
    const tools = this.#environment.offers ? toolsOfSeat(this.#environment, seat, observation) : undefined
    return { observation, last: report ? ownStepOf({ report, replayed: false }, view) : null, tools }
  }

  stepsOf(seat: string): number {
    return this.#views.stepsOf(seat)
  }

  take(seat: string, step: RehearsedStep): void {
    const { observation, terms, potential, refused, end, stateHash, seats } = step
    this.#revision += 1
    const reported = { terms, potential, refused, end, stateHash, ...judgementOf(step), ...(seats && { seats }) }
    const report = { seq: this.#views.stepsOf(seat) + 1, ...reported }
    this.#own.set(seat, report)
    this.#views.apply({ seat, observation, report: { ...report, revision: this.#revision } })
  }
}
