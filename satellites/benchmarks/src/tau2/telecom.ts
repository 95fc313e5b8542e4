import { telecom } from '../lib/tau2/telecom/telecom-data.ts'

// The telecom domain of τ²: the tasks of its split `base`, which published figures are of.

export const { environment, solver, policies, golden, goldenState, compared } = telecom
export const tasks = telecom.tasks('base')
export const checked = telecom.tasks('base', true)
