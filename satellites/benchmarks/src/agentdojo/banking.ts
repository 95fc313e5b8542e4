import { banking } from '../lib/agentdojo/banking.ts'
import { openDojo } from '../lib/agentdojo/open-dojo.ts'

export const { environment, tasks, solver, policies, golden, goldenState } = openDojo(banking)
