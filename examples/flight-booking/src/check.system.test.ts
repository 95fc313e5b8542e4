import { checkWorld } from '@episodic/harness'
import { describe, expect, it } from 'vitest'
import * as desk from './assistant.ts'
import * as world from './index.ts'

/** All but learnability, which only warns unless it is named, and takes as long as half of the others. */
const CHECKS = ['non-interference', 'canaries', 'seats', 'determinism', 'hygiene', 'rewards', 'exploits'] as const

describe.each([
  ['flight-booking', world],
  ['flight-desk', desk],
])('%s', (_, { environment, tasks, solver }) => {
  it('keeps its secrets, replays identically, and rewards its goal', async () => {
    const { checks, ok } = await checkWorld({ environment, tasks, solver }, { pairs: 20, share: 0.25, only: CHECKS })
    for (const { name, findings } of checks) expect([name, findings]).toEqual([name, []])
    expect(ok).toBe(true)
  })
})
