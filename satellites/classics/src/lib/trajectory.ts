import type { JsonObject } from '@episodic/protocol'
import type { Reference } from './reference.ts'

/**
 * Returns the reference of an episode whose start and strategy decide it: its steps, and the numbers of its last state.
 */
export function trajectory(
  strategy: string,
  start: JsonObject,
  quantity: string,
  value: readonly [steps: number, ...last: number[]],
): Reference {
  return {
    id: `trajectory/${strategy}`,
    params: { start },
    quantity,
    value,
    tolerance: 1e-12,
    source: 'Gymnasium 1.4.0',
    how: { kind: 'trajectory', strategy },
  }
}
