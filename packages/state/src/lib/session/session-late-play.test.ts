import { describe, expect, it } from 'vitest'
import { adding, openCountingSession, play, rulesOf, totalOf } from '../fixtures/counting-session.fixture.ts'
import type { Move } from './session.ts'

/** The rules of the counting world for a move, which answer once they are let go. */
function lateRules(move: Move) {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  let plays = 0
  return {
    begun: begun.promise,
    letGo: gate.resolve,
    fail: gate.reject,
    plays: () => plays,
    async play(turn: Parameters<ReturnType<typeof rulesOf>>[0]) {
      plays += 1
      begun.resolve()
      await gate.promise
      return rulesOf(move)(turn)
    },
  }
}

describe('Session.step with rules that answer later', () => {
  it('comes to what the same rules come to at once', async () => {
    const [early, late] = [await openCountingSession(), await openCountingSession()]
    for (const by of [5, 0, 7]) {
      const move = adding(by)
      const answered = await late.session.step(move, async (turn) => rulesOf(move)(turn))
      expect(JSON.stringify(answered)).toBe(JSON.stringify(await play(early.session, move)))
    }
    expect(late.session.record).toEqual(early.session.record)
  })

  it('holds the calls of its session until they have answered', async () => {
    const { session } = await openCountingSession()
    const rules = lateRules(adding(5))
    const order: string[] = []
    const first = Promise.resolve(session.step(adding(5), rules.play)).then(() => order.push('late'))
    const second = Promise.resolve(play(session, adding(7))).then(() => order.push('next'))
    await rules.begun
    expect(session.busy).toBe(true)
    expect(totalOf(session.record)).toBe(0)
    rules.letGo()
    await Promise.all([first, second])
    expect(order).toEqual(['late', 'next'])
    expect(totalOf(session.record)).toBe(12)
  })

  it('leaves the session as it was where they reject, and plays the next call', async () => {
    const { session } = await openCountingSession()
    const rules = lateRules(adding(5))
    const before = session.record
    const failed = expect(session.step(adding(5), rules.play)).rejects.toThrow('stopped')
    rules.fail(new Error('stopped'))
    await failed
    expect(session.record).toEqual(before)
    expect((await play(session, adding(7, 0))).step.report.seq).toBe(1)
  })

  it('plays again on what another holder has committed meanwhile', async () => {
    const { session, another } = await openCountingSession()
    const rules = lateRules(adding(5))
    const answered = session.step(adding(5), rules.play)
    await rules.begun
    await play(await another(), adding(7))
    rules.letGo()
    expect((await answered).step.observation.text).toBe('now 12')
    expect(rules.plays()).toBe(2)
  })

  it('throws again only what still holds once another holder has committed', async () => {
    const { session, another } = await openCountingSession()
    const move = adding(5)
    let plays = 0
    const answered = session.step(move, async (turn) => {
      plays += 1
      if (totalOf(turn.record) > 0) return rulesOf(move)(turn)
      await play(await another(), adding(7))
      throw new Error('the total is nothing')
    })
    expect((await answered).step.observation.text).toBe('now 12')
    expect(plays).toBe(2)
  })
})
