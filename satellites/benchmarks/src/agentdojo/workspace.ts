import { openDojo } from '../lib/agentdojo/open-dojo.ts'
import { workspace } from '../lib/agentdojo/workspace.ts'

export const { environment, tasks, solver, policies, golden, goldenState } = openDojo(workspace)
