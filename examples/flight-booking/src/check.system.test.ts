import { checkWorld } from '@episodic/harness'
import { describe, expect, it } from 'vitest'
import * as desk from './assistant.ts'
import * as world from './index.ts'

describe.each([
  ['flight-booking', world],
  ['flight-desk', desk],
])('%s', (_, { environment, tasks, solver }) => {
  it('keeps its secrets, replays identically, and rewards its goal', async () => {
    const { checks, ok } = await checkWorld({ environment, tasks, solver }, { pairs: 20, share: 0.25 })
    for (const { name, findings } of checks) expect([name, findings]).toEqual([name, []])
    expect(ok).toBe(true)
  })
})
