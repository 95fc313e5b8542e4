import { telecom } from '../lib/tau2/telecom/telecom-data.ts'

// All tasks of the telecom domain of τ².

export const { environment, solver, policies, golden, goldenState, compared } = telecom
export const tasks = telecom.tasks()
