import { telecom } from '../lib/tau2/telecom/telecom-data.ts'

// All tasks of the telecom domain of τ².

export const { environment, solver, policies, golden, goldenState } = telecom
export const tasks = telecom.tasks.all
