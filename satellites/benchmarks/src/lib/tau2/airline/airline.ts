import { printChanges, rowsOver, type Tables } from '../rows.ts'
import { printJson, toolsOf } from '../rule.ts'
import type { CreateDomain } from '../tau2-world.ts'
import { AIRLINE_RULES } from './airline-rules.ts'
import { type AirlineRows, airlineRows, readFlightDb } from './flight-db.ts'

export const createAirline: CreateDomain<Tables<AirlineRows>> = (read) => {
  const { shared, ...flights } = readFlightDb(read('db.json'))
  return {
    description: 'The airline domain of τ²-bench: an agent books, changes and cancels flights for a user.',
    policy: read('policy.md'),
    state: airlineRows,
    tools: toolsOf('agent', AIRLINE_RULES, (changed) => ({ ...rowsOver(shared, changed), ...flights }), print),
    readable: { agent: ['users', 'reservations', 'days'] },
    start: () => ({ users: {}, reservations: {}, days: {} }),
    databases: (changed) => printChanges(shared, changed, print),
  }
}

/** What payment methods hold is a float, and every other number is an int. */
function print(value: object): string {
  return printJson(value, (owner, field) => field === 'amount' && 'source' in owner)
}
