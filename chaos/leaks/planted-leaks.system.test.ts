import { AGENT_ENDPOINTS, checkWorld } from '@episodic/harness'
import { describe, expect, it } from 'vitest'
import { createCardTable } from './card-table-world.ts'
import { catchLeak } from './catch-leak.ts'
import { PLANTED_LEAKS } from './planted-leaks.ts'
import { PLANTED_SEAT_LEAKS } from './planted-seat-leaks.ts'
import { createVault } from './vault-world.ts'

const PAIRS = 400

describe('checkWorld', () => {
  it('finds nothing in a vault that keeps its secrets', async () => {
    const report = await checkWorld({ environment: createVault() }, { pairs: PAIRS, endpoints: AGENT_ENDPOINTS })
    for (const { name, findings } of report.checks) expect([name, findings]).toEqual([name, []])
    expect(report.ok).toBe(true)
  })

  it.each(PLANTED_LEAKS)('catches $channel', async (leak) => {
    const [found] = await catchLeak(leak)
    expect(found).toMatchObject({ again: expect.stringMatching(/./), advice: expect.stringMatching(/./) })
  })

  it('has a planted leak for each of nine channels', () => {
    expect(new Set(PLANTED_LEAKS.map(({ channel }) => channel)).size).toBe(9)
  })
})

describe('checkWorld of several seats', () => {
  it('finds nothing at a card table that keeps its secrets', async () => {
    const report = await checkWorld({ environment: createCardTable() }, { pairs: PAIRS })
    for (const { name, findings } of report.checks) expect([name, findings]).toEqual([name, []])
    expect(report.ok).toBe(true)
  })

  it.each(PLANTED_SEAT_LEAKS)('catches $channel by $finding', async ({ finding, ...leak }) => {
    // The report shows the first few findings; that of each channel is among them.
    expect(await catchLeak({ ...leak, caughtBy: 'non-interference' }, finding)).not.toEqual([])
  })

  it('has a planted leak for each of eighteen channels', () => {
    expect(new Set(PLANTED_SEAT_LEAKS.map(({ channel }) => channel)).size).toBe(18)
  })
})
