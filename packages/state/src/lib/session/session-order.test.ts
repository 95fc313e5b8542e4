import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adding, openCountingSession, play, rulesOf, totalOf } from '../fixtures/counting-session.fixture.ts'

/** Calls one after another: `step` adds one, `fail` throws in the rules, `pause` lets what has begun go on. */
const anyCalls = fc.array(fc.constantFrom('step', 'fail', 'refresh', 'pause'), { maxLength: 40 })

describe('the calls of a session', () => {
  it('are answered one at a time in the order in which they came, whatever comes of them', async () => {
    await fc.assert(
      fc.asyncProperty(anyCalls, async (calls) => {
        const { session } = await openCountingSession()
        const came: number[] = []
        const answered: number[] = []
        const all: Promise<unknown>[] = []
        for (const [n, call] of calls.entries()) {
          if (call === 'pause') {
            await Promise.resolve()
            continue
          }
          came.push(n)
          const begun =
            call === 'step'
              ? play(session, adding(1))
              : call === 'refresh'
                ? session.refresh()
                : session.step(adding(1), () => {
                    throw new Error('the rules failed')
                  })
          const over = () => void answered.push(n)
          all.push(Promise.resolve<unknown>(begun).then(over, over))
        }
        await Promise.all(all)
        expect(answered).toEqual(came)
        expect(totalOf(session.record)).toBe(calls.filter((call) => call === 'step').length)
        expect(session.busy).toBe(false)
      }),
    )
  })

  it('wait for the one that makes them', async () => {
    const { session } = await openCountingSession()
    const made: unknown[] = []
    const seen: number[] = []
    await session.step(adding(5), (turn) => {
      made.push(
        session.step(adding(7), (later) => {
          seen.push(totalOf(later.record))
          return rulesOf(adding(7))(later)
        }),
      )
      return rulesOf(adding(5))(turn)
    })
    await Promise.all(made)
    expect(seen).toEqual([5])
    expect(totalOf(session.record)).toBe(12)
  })
})
