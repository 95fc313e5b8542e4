import { describe, expect, it } from 'vitest'
import { checkWorld } from './check-world.ts'
import * as helpDesk from './help-desk.fixture.ts'
import * as oldHouse from './text-adventure.fixture.ts'
import * as ticTacToe from './tic-tac-toe.fixture.ts'

describe('a world written from the README and docs/write/environments.md alone', () => {
  it.each([
    ['tic-tac-toe', ticTacToe],
    ['help-desk', helpDesk],
    ['old-house', oldHouse],
  ])('passes all checks: %s', async (_, { environment, tasks, solver }) => {
    const report = await checkWorld({ environment, tasks, solver })
    for (const { name, outcome, findings } of report.checks)
      expect([name, outcome, findings]).toEqual([name, outcome, []])
    expect(report.ok).toBe(true)
    // All checks apply, those that compare with the solver included.
    expect(report.checks.filter(({ outcome }) => outcome === 'skipped').map(({ name }) => name)).toEqual([])
  })
})
