export type { Stray } from './lib/host/containment.ts'
export {
  containProcess,
  type ProcessContainment,
  type ProcessContainmentOptions,
} from './lib/process/contain-process.ts'
