export type { Stray } from './lib/containment.ts'
export { containProcess, type ProcessContainment, type ProcessContainmentOptions } from './lib/process-containment.ts'
