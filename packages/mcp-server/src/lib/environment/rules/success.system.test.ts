import { describe, expect, it, onTestFinished } from 'vitest'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { ledger } from '../../fixtures/ledger.fixture.ts'
import { asking, call, createTestHost } from '../../fixtures/testbed.fixture.ts'
import { createWorkerPool } from '../../workers/worker-pool.ts'
import { rehearse } from '../rehearse/rehearse.ts'

const opening = asking({ environment: 'ledger', seed: 's' })

function createLedgerHost(threaded: boolean) {
  const rules = threaded
    ? createWorkerPool({ modules: [new URL('../../fixtures/ledger.fixture.ts', import.meta.url).href] })
    : undefined
  if (rules) onTestFinished(() => rules[Symbol.asyncDispose]())
  return createTestHost({ environments: [ledger], ...(rules && { rules }) })
}

describe('success, as a world defines it', () => {
  it.each([false, true])(
    'is judged once the episode ends, by its whole state (worker threads: %s)',
    async (threaded) => {
      const { host } = createLedgerHost(threaded)
      expect(host.environments[0]).toMatchObject({ success: true })
      for (const [books, success] of [
        [['spend', 'stop'], true],
        [['spend', 'spend', 'stop'], false],
        // Cut short by the step limit of 3, within what it may spend.
        [['look', 'look', 'spend'], true],
      ] as const) {
        const { session } = await host.open(null, { ...opening, requestKey: crypto.randomUUID() })
        const answers = []
        for (const [seq, tool] of books.entries())
          answers.push(await atControl(host, session).step(call(tool, {}, seq)))
        expect(answers.map(({ step }) => step.report.success)).toEqual([
          ...books.slice(1).map(() => undefined),
          success,
        ])
        // A retry of the last step gets the very same report.
        const again = await atControl(host, session).step(call(books.at(-1)!, {}, books.length - 1))
        expect([again.replayed, again.step.report]).toEqual([true, answers.at(-1)?.step.report])
        expect(await atControl(host, session).close()).not.toHaveProperty('success')
      }
    },
  )

  it.each([false, true])('is judged when closing ends the episode (worker threads: %s)', async (threaded) => {
    const { host } = createLedgerHost(threaded)
    for (const [spent, success] of [
      [1, true],
      [2, false],
    ] as const) {
      const { session } = await host.open(null, { ...opening, requestKey: crypto.randomUUID() })
      for (let seq = 0; seq < spent; seq++) await atControl(host, session).step(call('spend', {}, seq))
      expect(await atControl(host, session).close()).toEqual({ end: { kind: 'truncated', reason: 'closed' }, success })
    }
  })

  it('is no part of the report in a world that defines none', async () => {
    const { host } = createTestHost()
    const { session } = await host.open(null, asking({ seed: 's', limits: { steps: 1 } }))
    const { step } = await atControl(host, session).step(call('guess', { value: 1 }))
    expect(step.report.end).not.toBeNull()
    expect(step.report).not.toHaveProperty('success')
    expect(host.environments[0]).not.toHaveProperty('success')
    expect(await atControl(host, session).close()).not.toHaveProperty('success')
  })

  it('is returned by rehearsals, and has to be a boolean', () => {
    const world = rehearse(ledger, { params: { budget: 1 } })
    expect(world.play('spend', {})).not.toHaveProperty('success')
    expect(world.play('stop', {})).toMatchObject({ success: true })
    const broken = rehearse(ledger, { params: { budget: -1 } })
    expect(() => broken.play('stop', {})).toThrow(
      '`success` of ledger returned "perhaps", and has to return true or false.',
    )
  })
})
