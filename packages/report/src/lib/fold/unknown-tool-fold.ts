import type { RecordedStep } from '@episodic/protocol'
import { createBoundedMap } from './bounded-map.ts'
import type { Summary } from './summary.ts'

/** Most names of tools that are counted separately, and most characters of one. */
const MOST_NAMES = 16
const LONGEST_NAME = 64

/**
 * Creates an empty fold of the episodes in which every call named a tool that does not exist. Its counts do not depend
 * on the order.
 */
export function createUnknownToolFold() {
  let episodes = 0
  let calls = 0
  const names = createBoundedMap(MOST_NAMES, () => ({ count: 0 }))
  return {
    add(steps: readonly Pick<RecordedStep, 'action' | 'refused'>[]) {
      if (steps.length === 0 || steps.some(({ refused }) => refused !== 'tool')) return
      episodes += 1
      calls += steps.length
      for (const { action } of steps) {
        const name = names.of(action.tool.slice(0, LONGEST_NAME).toWellFormed())
        if (name) name.count += 1
      }
    },
    finish(): Summary['unknownTools'] {
      if (episodes === 0) return
      const ranked = names.entries().map(([name, { count }]) => ({ name, count }))
      return { episodes, calls, names: ranked.sort((a, b) => b.count - a.count) }
    },
  }
}
