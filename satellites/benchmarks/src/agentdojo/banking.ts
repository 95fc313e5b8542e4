import { banking } from '../lib/agentdojo/banking.ts'
import { openDojo } from '../lib/agentdojo/suites.ts'

export const { environment, tasks, solver, policies, golden, goldenState, security } = openDojo(banking)
