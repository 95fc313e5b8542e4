import type { RecordedStep } from '@episodic/protocol'
import { createBoundedMap } from './bounded-map.ts'
import type { Summary } from './summary.ts'

/** Most names of tools that are counted separately, and most characters of one. */
const MOST_NAMES = 16
const LONGEST_NAME = 64

/** Counts the episodes in which every call named a tool that does not exist. */
export interface UnknownToolFold {
  add(steps: readonly Pick<RecordedStep, 'action' | 'refused'>[]): void
  /** `undefined` if there was no such episode. */
  finish(): Summary['unknownTools']
}

/** Creates an empty fold. Its counts do not depend on the order. */
export function createUnknownToolFold(): UnknownToolFold {
  let episodes = 0
  let calls = 0
  const names = createBoundedMap(MOST_NAMES, () => ({ count: 0 }))
  return {
    add(steps) {
      if (steps.length === 0 || steps.some(({ refused }) => refused !== 'tool')) return
      episodes += 1
      calls += steps.length
      for (const { action } of steps) {
        const name = names.of(action.tool.slice(0, LONGEST_NAME).toWellFormed())
        if (name) name.count += 1
      }
    },
    finish() {
      if (episodes === 0) return
      const ranked = names.entries().map(([name, { count }]) => ({ name, count }))
      return { episodes, calls, names: ranked.sort((a, b) => b.count - a.count) }
    },
  }
}
