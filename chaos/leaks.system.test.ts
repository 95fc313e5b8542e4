import { AGENT_ENDPOINTS, checkWorld } from '@episodic/harness'
import { describe, expect, it } from 'vitest'
import { PLANTED_LEAKS } from './leaks/planted-leaks.ts'
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
