import { environment as kuhnPoker, solver as kuhnSolver } from '@episodic/classics/kuhn-poker'
import { describe, expect, it } from 'vitest'
import type { CheckName } from '../check-report.ts'
import { CHECKS } from '../check-report.ts'
import { checkWorld } from '../check-world.ts'
import { type AuctionFlaw, createAuction } from './auction.fixture.ts'

/** Runs one check on the auction with a flaw. */
async function checkOne(only: CheckName, flaw: AuctionFlaw = {}) {
  const report = await checkWorld(createAuction(flaw), { only: [only], pairs: 60 })
  const [result] = report.checks
  if (!result) throw new Error(`${only} did not run.`)
  return { ...result, ok: report.ok, names: result.findings.map(({ name }) => name) }
}

describe('checkWorld of several seats', () => {
  it('passes a sound game of hidden cards', async () => {
    const report = await checkWorld({ environment: kuhnPoker, solver: kuhnSolver }, { pairs: 60 })
    // Its cards are one of three words, which stand in every answer.
    const skippedChecks: CheckName[] = ['exploits', 'canaries']
    for (const { name, outcome, findings } of report.checks) {
      expect([name, findings]).toEqual([name, []])
      expect([name, outcome === 'skipped']).toEqual([name, skippedChecks.includes(name)])
    }
    expect(report.checks.map(({ name }) => name)).toEqual(CHECKS)
    expect(report.ok).toBe(true)
  })

  it('passes a sound game of turns, leaving and sealed moves', async () => {
    const report = await checkWorld(createAuction(), { pairs: 60 })
    for (const { name, findings, warnings } of report.checks) expect([name, findings, warnings]).toEqual([name, [], []])
    expect(report.outcome).toBe('passed')
  })

  it('waives a finding by its name', async () => {
    const { environment, solver } = createAuction({ utility: 'zero-sum' })
    const waived = { 'utility-wrong': 'The house keeps the price.' }
    const { checks, ok } = await checkWorld({ environment: { ...environment, waived }, solver }, { only: ['seats'] })
    expect(ok).toBe(true)
    expect(checks[0]?.waived[0]).toMatchObject({ name: 'utility-wrong', reason: 'The house keeps the price.' })
  })

  it('reports a world in which nobody is ever in turn, and goes on', async () => {
    const report = await checkWorld(createAuction({ turn: () => [] }), { pairs: 10 })
    expect(report.ok).toBe(false)
    for (const { name, outcome, findings } of report.checks)
      if (outcome !== 'skipped')
        expect([name, findings[0]?.what]).toEqual([
          name,
          expect.stringContaining('The `turn` of auction names no seat.'),
        ])
  })
})

describe('non-interference of seats', () => {
  it('finds what a sealed move changes for others without being revealed, and says how to reproduce it', async () => {
    const { findings, ok } = await checkOne('non-interference', {
      settle: ({ public: table, own }) => {
        table.note = 'x'.repeat(own.ann.value)
      },
    })
    expect(ok).toBe(false)
    expect(findings[0]).toMatchObject({
      name: expect.stringMatching(/^(view|answer)-differs:/),
      what: expect.stringContaining('depends on what is hidden from that seat'),
      again: expect.stringMatching(/seed \w+ against .*"seat":"ann"/),
    })
  })

  it('finds a value of another seat in the public state at the start', async () => {
    const { names } = await checkOne('non-interference', {
      play: ({ public: table, own }) => {
        table.note = `${own.bob.value}`
      },
    })
    expect(names).toContain('start-reveals:own.bob.value')
  })
})

describe('canaries of seats', () => {
  it('finds what one seat holds in what another gets, encoded', async () => {
    const { names } = await checkOne('canaries', {
      play: ({ public: table, own }, seat) => {
        if (seat === 'ann') table.note = btoa(own.ann.word)
      },
    })
    expect(names).toContain('secret-sent:own.ann.word')
  })
})

describe('the rules of seats', () => {
  it.each<[string, AuctionFlaw]>([
    ['legal-refused:bid', { legal: () => ({ call: true, bid: true }) }],
    ['legal-missing:leave', { legal: () => ({ call: true }) }],
    ['utility-wrong', { utility: 'zero-sum' }],
    ['utility-wrong', { utility: 'common' }],
    ['order-matters', lastToBid()],
    ['fork-differs', counted()],
  ])('finds %s', async (name, flaw) => {
    expect((await checkOne('seats', flaw)).names).toContain(name)
  })

  it('finds a step after which nobody who plays is in turn', async () => {
    const { findings } = await checkOne('seats', { turn: ({ called }) => (called.length === 0 ? ['ann'] : ['bob']) })
    expect(findings[0]).toMatchObject({
      name: 'rules-failed',
      what: expect.stringContaining('no seat that plays is in turn'),
    })
  })

  it('warns of a seat that is never in turn, and of a turn that names one that has left', async () => {
    const { warnings: idle } = await checkOne('seats', { turn: () => ['ann', 'bob'] })
    expect(idle.map(({ name }) => name)).toContain('seat-idle:cid')
    const { warnings: gone } = await checkOne('seats', {
      turn: ({ called, left }) => (called.length + left.length === 0 ? ['ann'] : ['ann', 'bob', 'cid']),
    })
    expect(gone.map(({ name }) => name)).toContain('turn-names-left:ann')
  })
})

/** Who bids last is shown, from a variable outside the state. */
function lastToBid(): AuctionFlaw {
  let last = ''
  return {
    seal: (seat) => {
      last = seat
    },
    settle: ({ public: table }) => {
      table.note = last
    },
  }
}

/** Only the first call after a start says so, from outside the state: no fork makes it. */
function counted(): AuctionFlaw {
  let calls = 0
  return {
    play: ({ public: table }, seat) => {
      calls = seat === null ? 0 : calls + 1
      table.note = calls === 1 ? 'session' : 'fork'
    },
  }
}
