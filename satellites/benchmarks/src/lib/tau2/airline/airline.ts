import type { Domain } from '../domain.ts'
import { type ChangedRows, printChanges } from '../rows.ts'
import { printJson, toolsOf } from '../rule.ts'
import { AIRLINE_RULES } from './airline-rules.ts'
import { airlineOver, changedFlightRows, type FlightTables, readFlightDb } from './flight-db.ts'

/**
 * Returns the rules of the airline, whose state is the rows that a session has changed.
 *
 * - `json`: the text of its `db.json`.
 */
export function createAirline(json: string): Domain<ChangedRows<FlightTables>> {
  const db = readFlightDb(json)
  return {
    name: 'airline',
    version: '1.0.0',
    description: 'The airline domain of τ²-bench: an agent books, changes and cancels flights for a user.',
    state: changedFlightRows,
    tools: toolsOf(AIRLINE_RULES, (changed) => airlineOver(db, changed), print),
    readable: { agent: ['users', 'reservations', 'days'] },
    start: () => ({ users: {}, reservations: {}, days: {} }),
    databases: (changed) => printChanges(db.shared, changed, print),
  }
}

/** What payment methods hold is a float, and every other number is an int. */
function print(value: object): string {
  return printJson(value, (owner, field) => field === 'amount' && 'source' in owner)
}
