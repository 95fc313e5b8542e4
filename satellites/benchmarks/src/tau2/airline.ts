import { dataFolder } from '../lib/suite/data-folder.ts'
import { openAgentDomain } from '../lib/tau2/agent-domain.ts'
import { createAirline } from '../lib/tau2/airline/airline.ts'

// The airline domain of τ², over the data that was got.

const airline = openAgentDomain('airline', {
  folder: dataFolder('tau2'),
  golden: new URL('../../golden/tau2-airline.jsonl', import.meta.url),
  create: createAirline,
})

export const { environment, solver, policies, golden, goldenState, compared } = airline
export const tasks = airline.tasks.all
