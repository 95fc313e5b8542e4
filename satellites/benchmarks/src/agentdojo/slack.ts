import { openDojo } from '../lib/agentdojo/open-dojo.ts'
import { slack } from '../lib/agentdojo/slack.ts'

export const { environment, tasks, solver, policies, golden, goldenState } = openDojo(slack)
