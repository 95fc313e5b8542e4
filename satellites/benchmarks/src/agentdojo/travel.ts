import { openDojo } from '../lib/agentdojo/open-dojo.ts'
import { travel } from '../lib/agentdojo/travel.ts'

export const { environment, tasks, solver, policies, golden, goldenState } = openDojo(travel)
