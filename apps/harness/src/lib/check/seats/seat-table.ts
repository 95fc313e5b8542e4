import { ownStepOf, Table } from '@episodic/env/extend'
import type { EnvironmentDefinition, Rehearsal, RehearsedStep } from '@episodic/mcp-server'
import type { Observation, Step, StepReport } from '@episodic/protocol'

/**
 * What the policies of a rehearsed game are shown: the same observation and the same last step as in a run, where a
 * seat's own answer is not replaced by what the seat sees.
 */
export class SeatTable {
  readonly #table: Table
  readonly #own = new Map<string, Omit<StepReport, 'revision'>>()
  #revision = 0

  constructor({ terms }: EnvironmentDefinition, { start, turn }: Rehearsal) {
    this.#table = new Table({ turn, seats: start.seats ?? {} }, terms)
  }

  /** Returns what the policy of a seat gets when it is asked for a move. */
  seenBy(seat: string): { readonly observation: Observation; readonly last: Step | null } {
    const view = this.#table.seen(seat)
    const report = this.#own.get(seat)
    return { observation: view.observation, last: report ? ownStepOf({ report, replayed: false }, view) : null }
  }

  /** Takes in a step of a seat. */
  take(seat: string, step: RehearsedStep): void {
    const { observation, terms, potential, refused, end, success, stateHash, seats } = step
    this.#revision += 1
    const report = {
      seq: this.#table.stepsOf(seat) + 1,
      terms,
      potential,
      refused,
      end,
      stateHash,
      ...(success !== undefined && { success }),
      ...(seats && { seats }),
    }
    this.#own.set(seat, report)
    this.#table.apply({ seat, observation, report: { ...report, revision: this.#revision } })
  }
}
