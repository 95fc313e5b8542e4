import { checkWorld } from '@episodic/harness'
import { describe, expect, it } from 'vitest'
import * as world from './index.ts'

/** In the process alone. The others play hundreds of episodes: `pnpm episodic check on-call` has all of them. */
const CHECKS = ['non-interference', 'hygiene'] as const

describe('on-call', () => {
  it('keeps its secrets, and says them in no schema', async () => {
    const { checks, ok } = await checkWorld(world, { pairs: 10, only: CHECKS })
    for (const { name, findings } of checks) expect([name, findings]).toEqual([name, []])
    expect(ok).toBe(true)
  })
})
