import { checkWorld } from '@episodic/harness'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { createCardTable } from './card-table-world.ts'
import { catchLeak } from './catch-leak.ts'
import { findEndpointLeaks } from './endpoint-leaks.ts'
import { PLANTED_LEAKS } from './planted-leaks.ts'
import { PLANTED_SEAT_LEAKS } from './planted-seat-leaks.ts'
import { createVault } from './vault-world.ts'

const PAIRS = 400

/** Checks a world, and the endpoints at which it is played. */
async function findNothing(environment: EnvironmentDefinition) {
  const report = await checkWorld({ environment }, { pairs: PAIRS })
  for (const { name, findings } of report.checks) expect([name, findings]).toEqual([name, []])
  expect(report.ok).toBe(true)
  const { leaks, answers } = await findEndpointLeaks({ environment }, { pairs: PAIRS })
  expect(leaks).toEqual([])
  expect(answers).toBeGreaterThan(PAIRS)
}

describe('the endpoints', () => {
  it('leak nothing of a vault that keeps its secrets', () => findNothing(createVault()))

  it.each(PLANTED_LEAKS)('are caught with $channel', async (leak) => {
    const [found] = await catchLeak(leak)
    expect(found).toMatchObject({ again: expect.stringMatching(/./) })
  })

  it('has a planted leak for each of ten channels', () => {
    expect(new Set(PLANTED_LEAKS.map(({ channel }) => channel)).size).toBe(10)
  })
})

describe('a game of several seats', () => {
  it('leaks nothing at a card table that keeps its secrets', () => findNothing(createCardTable()))

  it.each(PLANTED_SEAT_LEAKS)('is caught with $channel by $finding', async ({ finding, ...leak }) => {
    // The report shows the first few findings; that of each channel is among them.
    expect(await catchLeak(leak, finding)).not.toEqual([])
  })

  it('has a planted leak for each of eighteen channels', () => {
    expect(new Set(PLANTED_SEAT_LEAKS.map(({ channel }) => channel)).size).toBe(18)
  })
})
