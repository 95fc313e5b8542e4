import { checkWorld } from '@episodic/harness'
import { describe, expect, it } from 'vitest'
import * as desk from './assistant.ts'
import * as world from './index.ts'

// These two checks play thousands of dialogues, which takes too long for a unit test.
describe.each([
  ['flight-booking', world],
  ['flight-desk', desk],
])('%s', (_, { environment, tasks, solver }) => {
  it('can be learned and has no cheap exploit', async () => {
    const { checks, ok } = await checkWorld({ environment, tasks, solver }, { only: ['learnability', 'exploits'] })
    for (const { name, findings } of checks) expect([name, findings]).toEqual([name, []])
    expect(ok).toBe(true)
  })
})
