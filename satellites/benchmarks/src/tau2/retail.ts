import { dataFolder } from '../lib/suite/data-folder.ts'
import { createRetail } from '../lib/tau2/retail/retail.ts'
import { openTau2 } from '../lib/tau2/tau2-world.ts'

// The retail domain of τ², over the data that was got.

const goldenRetail = new URL('../../golden/tau2-retail.jsonl', import.meta.url)
const retail = openTau2('retail', createRetail, dataFolder('tau2'), goldenRetail)

export const { environment, solver, policies, golden, goldenState, compared } = retail
export const tasks = retail.tasks()
export const checked = retail.tasks(undefined, true)
