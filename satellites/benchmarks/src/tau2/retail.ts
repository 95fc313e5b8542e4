import { dataFolder } from '../lib/suite/data-folder.ts'
import { openAgentDomain } from '../lib/tau2/agent-domain.ts'
import { createRetail } from '../lib/tau2/retail/retail.ts'

// The retail domain of τ², over the data that was got.

const retail = openAgentDomain('retail', {
  folder: dataFolder('tau2'),
  golden: new URL('../../golden/tau2-retail.jsonl', import.meta.url),
  create: createRetail,
})

export const { environment, solver, policies, golden, goldenState, compared } = retail
export const tasks = retail.tasks.all
