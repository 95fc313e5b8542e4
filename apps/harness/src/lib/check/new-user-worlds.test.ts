import { describe, expect, it } from 'vitest'
import { checkWorld } from './check-world.ts'
import * as helpDesk from './help-desk.fixture.ts'
import * as oldHouse from './text-adventure.fixture.ts'
import * as ticTacToe from './tic-tac-toe.fixture.ts'

describe('a world as a new user writes it', () => {
  it.each([
    ['tic-tac-toe', ticTacToe],
    ['help-desk', helpDesk],
    ['old-house', oldHouse],
  ])('passes the whole check: %s', { timeout: 240_000 }, async (_, { environment, tasks, solver }) => {
    const report = await checkWorld({ environment, tasks, solver })
    for (const { name, outcome, findings } of report.checks)
      expect([name, outcome, findings]).toEqual([name, outcome, []])
    expect(report.ok).toBe(true)
    // Rewards and exploits are measured against the solver, so neither may have been skipped.
    expect(report.checks.filter(({ outcome }) => outcome === 'skipped').map(({ name }) => name)).toEqual([])
  })
})
