import type { Summary } from './summary.ts'

/** Whether the player shaped. Undiscounted shaping may add up to nothing over an episode, and is still in its steps. */
export function isShaped({ rewards }: Summary): boolean {
  return rewards.byStep.some((step) => step.total !== step.unshaped)
}
