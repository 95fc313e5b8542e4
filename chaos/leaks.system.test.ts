import { AGENT_ENDPOINTS, checkWorld } from '@episodic/harness'
import { describe, expect, it } from 'vitest'
import { createCardTable } from './leaks/card-table-world.ts'
import { PLANTED_LEAKS } from './leaks/planted-leaks.ts'
import { PLANTED_SEAT_LEAKS } from './leaks/planted-seat-leaks.ts'
import { createVault } from './leaks/vault-world.ts'

const PAIRS = 400

describe('checkWorld', () => {
  it('finds nothing in a vault that keeps its secrets', async () => {
    const report = await checkWorld({ environment: createVault() }, { pairs: PAIRS, endpoints: AGENT_ENDPOINTS })
    for (const { name, findings } of report.checks) expect([name, findings]).toEqual([name, []])
    expect(report.ok).toBe(true)
  })

  it.each(PLANTED_LEAKS)('catches $channel', async ({ environment, endpoints, caughtBy }) => {
    const report = await checkWorld(
      { environment },
      { pairs: PAIRS, endpoints, only: ['non-interference', 'canaries', 'hygiene'] },
    )
    const caught = report.checks.find(({ name }) => name === caughtBy)
    expect(caught?.outcome).toBe('failed')
    expect(caught?.findings[0]).toMatchObject({ again: expect.stringMatching(/./), advice: expect.stringMatching(/./) })
    expect(report.ok).toBe(false)
  })

  it('has a planted leak for each of twenty-six channels', () => {
    expect(new Set(PLANTED_LEAKS.map(({ channel }) => channel)).size).toBe(26)
  })
})

describe('checkWorld of several seats', () => {
  it('finds nothing at a card table that keeps its secrets', async () => {
    const report = await checkWorld({ environment: createCardTable() }, { pairs: PAIRS })
    for (const { name, findings } of report.checks) expect([name, findings]).toEqual([name, []])
    expect(report.ok).toBe(true)
  })

  it.each(PLANTED_SEAT_LEAKS)('catches $channel by $finding', async ({ environment, endpoints, caughtBy, finding }) => {
    const report = await checkWorld({ environment }, { pairs: PAIRS, endpoints, only: [caughtBy] })
    expect(report.checks[0]?.outcome).toBe('failed')
    // The report shows the first few; the finding of each channel is among them.
    expect(report.checks[0]?.findings.map(({ name }) => name)).toContain(finding)
  })

  it('has a planted leak for each of twenty-one channels', () => {
    expect(new Set(PLANTED_SEAT_LEAKS.map(({ channel }) => channel)).size).toBe(21)
  })
})
