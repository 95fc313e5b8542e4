import { dataFolder } from '../lib/suite/data-folder.ts'
import { createAirline } from '../lib/tau2/airline/airline.ts'
import { openTau2 } from '../lib/tau2/tau2-world.ts'

// The airline domain of τ², over the data that was got.

const goldenAirline = new URL('../../golden/tau2-airline.jsonl', import.meta.url)
const airline = openTau2('airline', createAirline, dataFolder('tau2'), goldenAirline)

export const { environment, solver, policies, golden, goldenState, compared } = airline
export const tasks = airline.tasks()
export const checked = airline.tasks(undefined, true)
