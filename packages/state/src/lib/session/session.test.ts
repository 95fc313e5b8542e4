import { describe, expect, it } from 'vitest'
import { add, adding, openCountingSession, play, rulesOf, totalOf } from '../fixtures/counting-session.fixture.ts'
import { StateError } from '../state-error.ts'
import { holdSession } from './held-session.ts'
import { encodeSession } from './session-record.ts'

describe('Session.step', () => {
  it('applies a step, counts it and logs it before it is answered', async () => {
    const { session, store } = await openCountingSession()
    const { step, replayed } = await play(session, adding(5, 0))
    expect(replayed).toBe(false)
    expect(step).toEqual({
      seat: 'agent',
      action: add(5),
      observation: { text: 'now 5', structured: null },
      report: {
        seq: 1,
        revision: 1,
        terms: { gain: 5 },
        potential: null,
        end: null,
        refused: null,
        stateHash: expect.any(String),
      },
    })
    expect(await store.readLog('counting-1', { after: 0, limit: 9 })).toEqual([
      { revision: 1, text: JSON.stringify(step) },
    ])
    expect(totalOf(session.record)).toBe(5)
    expect(session.record).toMatchObject({ revision: 1, now: 1, seats: { agent: { seq: 1 } } })
  })

  it('gives a retry the stored answer byte for byte, and moves the world once', async () => {
    const { session, another } = await openCountingSession()
    const lost = await play(session, adding(5, 0))
    for (const holder of [session, await another()]) {
      const retry = await play(holder, adding(5, 0))
      expect(retry.replayed).toBe(true)
      expect(JSON.stringify(retry.step)).toBe(JSON.stringify(lost.step))
    }
    expect(totalOf(await session.refresh())).toBe(5)
  })

  it('takes equal arguments in another order for the same action', async () => {
    const { session } = await openCountingSession()
    const move = (args: { readonly [key: string]: number }) => ({
      seat: 'agent',
      seq: 0,
      action: { tool: 'add', arguments: args },
    })
    await play(session, move({ by: 1, note: 2 }))
    expect(await play(session, move({ note: 2, by: 1 }))).toMatchObject({ replayed: true })
  })

  it('plays one of several duplicates that arrive at once, and answers all alike', async () => {
    const { session, another } = await openCountingSession()
    const other = await another()
    const answers = await Promise.all([session, other, session, other].map((holder) => play(holder, adding(7, 0))))
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(new Set(answers.map(({ step }) => JSON.stringify(step))).size).toBe(1)
    expect(totalOf(await session.refresh())).toBe(7)
  })

  it('refuses a step that was answered for another action', async () => {
    const { session } = await openCountingSession()
    await play(session, adding(1, 0))
    await expect(play(session, adding(2, 0))).rejects.toMatchObject({ code: 'seq-reused', details: { expected: 1 } })
    expect(totalOf(session.record)).toBe(1)
  })

  it.each([0, 1])('refuses a step that is stale, and says which is next (%d)', async (seq) => {
    const { session } = await openCountingSession()
    for (const by of [1, 2, 3]) await play(session, adding(by))
    await expect(play(session, adding(1, seq))).rejects.toMatchObject({
      code: 'seq-conflict',
      details: { expected: 3 },
    })
    expect(totalOf(session.record)).toBe(6)
  })

  it.each([{ seq: 4 }, { seq: 99 }, { epoch: 2 }])(
    'plays nothing for a caller that was answered more than the store holds (%o)',
    async (ahead) => {
      const { session } = await openCountingSession()
      for (const by of [1, 2, 3]) await play(session, adding(by))
      await expect(play(session, { ...adding(1, 3), ...ahead })).rejects.toMatchObject({ code: 'state-lost' })
      expect(await session.refresh()).toMatchObject({ revision: 3, state: { public: { total: 6 } } })
    },
  )

  it('applies each call that sends no seq', async () => {
    const { session } = await openCountingSession()
    await play(session, adding(1))
    await play(session, adding(1))
    expect(totalOf(session.record)).toBe(2)
  })

  it('fences a holder of an older epoch, and takes the current one', async () => {
    const { session, store, another } = await openCountingSession()
    const stored = (await store.read('counting-1'))!
    await store.commit({ ...stored, epoch: 2, revision: 1 }, stored)
    await expect(play(session, { ...adding(1, 0), epoch: 1 })).rejects.toMatchObject({ code: 'fenced' })
    expect(totalOf(await session.refresh())).toBe(0)
    await play(await another(), { ...adding(1, 0), epoch: 2 })
    expect(totalOf(await session.refresh())).toBe(1)
  })

  it('takes no step after the end, and keeps the last answer readable', async () => {
    const { session } = await openCountingSession()
    const last = await play(session, adding(100, 0))
    expect(last.step.report.end).toEqual({ kind: 'terminated', reason: 'full' })
    for (const move of [adding(1, 1), adding(1)])
      await expect(play(session, move)).rejects.toMatchObject({
        code: 'episode-ended',
        details: { end: { kind: 'terminated', reason: 'full' } },
      })
    expect(await play(session, adding(100, 0))).toEqual({ step: last.step, replayed: true, played: null })
  })

  it('gives each seat its own count of steps and its own last answer', async () => {
    const { session } = await openCountingSession({ seats: ['white', 'black'] })
    const white = await play(session, { ...adding(1, 0), seat: 'white' })
    const black = await play(session, { ...adding(2, 0), seat: 'black' })
    await play(session, { ...adding(3, 1), seat: 'white' })
    expect([white, black].map(({ step }) => step.report)).toMatchObject([
      { seq: 1, revision: 1 },
      { seq: 1, revision: 2 },
    ])
    expect(await play(session, { ...adding(2, 0), seat: 'black' })).toEqual({
      step: black.step,
      replayed: true,
      played: null,
    })
    expect(session.record.seats).toMatchObject({ white: { seq: 2 }, black: { seq: 1 } })
    expect(totalOf(session.record)).toBe(6)
  })

  it('rejects a seat that the session does not have', async () => {
    const { session } = await openCountingSession()
    for (const seat of ['nobody', 'toString'])
      await expect(play(session, { ...adding(1), seat })).rejects.toThrow(RangeError)
  })

  it('counts a refused step and leaves the world as it was', async () => {
    const { session } = await openCountingSession()
    await play(session, adding(5))
    const { state, rng, now } = session.record
    const { step } = await play(session, adding(0, 1))
    expect(step.report).toMatchObject({ seq: 2, revision: 2, refused: 'rules' })
    expect(session.record).toMatchObject({ state, rng, now, revision: 2, seats: { agent: { seq: 2 } } })
  })

  it('is as it was after a throw, and plays on', async () => {
    const { session, store } = await openCountingSession()
    await play(session, adding(5, 0))
    const before = await store.read('counting-1')
    const thrown = new Error('a bug in the rules')
    const step = session.step(adding(1, 1), ({ draft }) => {
      Object.assign(draft.public, { total: 999 })
      throw thrown
    })
    await expect(step).rejects.toBe(thrown)
    expect(await store.read('counting-1')).toEqual(before)
    expect((await play(session, adding(1, 1))).step.observation.text).toBe('now 6')
  })

  it('turns away what would make its queue too long, and has room again afterwards', async () => {
    const { session } = await openCountingSession({ queue: 2 })
    const preparation = () => ({ external: false, prepare: async () => null })
    const playLate = (by: number) => session.step(adding(by), rulesOf(adding(by)), preparation)
    const results = await Promise.allSettled([1, 2, 4].map(playLate))
    expect(results.map((result) => (result.status === 'rejected' ? result.reason.code : 'answered'))).toEqual([
      'answered',
      'answered',
      'queue-full',
    ])
    await play(session, adding(8))
    expect(totalOf(session.record)).toBe(11)
  })

  it('says that a session is gone once it was removed', async () => {
    const { session, store } = await openCountingSession()
    await store.remove('counting-1')
    for (const call of [play(session, adding(1)), session.refresh()])
      await expect(call).rejects.toSatisfy((error) => StateError.is(error, 'session-not-found'))
  })
})

describe('a Session that others share', () => {
  it('plays again on what is there now when its record is stale', async () => {
    const { session, another } = await openCountingSession()
    const other = await another()
    await other.advance(({ draft }) => ({ state: { ...draft, public: { total: 50 } } }))
    const { step } = await play(session, adding(1, 0))
    expect(step).toMatchObject({ observation: { text: 'now 51' }, report: { seq: 1, revision: 2 } })
  })

  it('believes no refusal, replay or throw that comes of a stale record', async () => {
    const { session, another } = await openCountingSession()
    const other = await another()
    await play(other, adding(1, 0))
    await play(other, adding(2, 1))
    // As far as the first holder knows, these steps are ahead, or the world is still at 0.
    expect((await play(session, adding(2, 1))).replayed).toBe(true)
    await play(other, adding(3, 2))
    const step = session.step(adding(4, 3), (turn) => {
      if (totalOf(turn.record) < 6) throw new Error('This record is stale.')
      return rulesOf(adding(4))(turn)
    })
    expect((await step).step.observation.text).toBe('now 10')
  })
})

describe('Session.takeOver', () => {
  it('fences every former holder for good, and leaves the session as it is', async () => {
    const { session, another } = await openCountingSession()
    await play(session, adding(5))
    const former = [session, await another()]
    const owner = await another()
    expect(await owner.takeOver()).toMatchObject({ revision: 2, epoch: 2, seats: { agent: { seq: 1 } } })
    for (const holder of former)
      for (const call of [
        () => play(holder, adding(1)),
        () => play(holder, adding(1, 1)),
        () => holder.advance(() => ({ now: 3 })),
        () => play(holder, { ...adding(1, 1), epoch: 1 }),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: 'fenced' })
        expect(holder.fenced).toBe(true)
      }
    expect((await play(owner, adding(2, 1))).step.observation.text).toBe('now 7')
    expect(await owner.refresh()).toMatchObject({ revision: 3, epoch: 2 })
  })

  it('fences a step that was being played when the session was taken over', async () => {
    const { session, another } = await openCountingSession()
    const owner = await another()
    const played = play(session, adding(1, 0))
    const taken = owner.takeOver()
    const [step] = await Promise.allSettled([played, taken])
    const { revision } = await owner.refresh()
    // The first commit wins; after the takeover the former holder commits nothing.
    expect(step).toMatchObject(revision === 2 ? { status: 'fulfilled' } : { reason: { code: 'fenced' } })
    await expect(play(session, adding(1, 1))).rejects.toMatchObject({ code: 'fenced' })
    expect((await owner.refresh()).revision).toBe(revision)
  })

  it('gives the session to the last of those who take it over at once', async () => {
    const { another } = await openCountingSession()
    const holders = await Promise.all([another(), another(), another()])
    await Promise.all(holders.map((holder) => holder.takeOver()))
    const results = await Promise.allSettled(holders.map((holder) => play(holder, adding(1, 0))))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await (await another()).refresh()).epoch).toBe(4)
  })

  it('lets a fenced holder take the session back', async () => {
    const { session, another } = await openCountingSession()
    await (await another()).takeOver()
    await expect(play(session, adding(1))).rejects.toMatchObject({ code: 'fenced' })
    expect((await session.takeOver()).epoch).toBe(3)
    expect((await play(session, adding(1))).step.observation.text).toBe('now 1')
  })

  it('lets any holder serve a caller that names the current epoch', async () => {
    const { session, another } = await openCountingSession()
    const { epoch } = await (await another()).takeOver()
    expect((await play(session, { ...adding(1, 0), epoch })).step.observation.text).toBe('now 1')
  })
})

describe('a Session whose store loses what it acknowledged', () => {
  /** Plays `lost` steps and puts the store back to where it was after `kept`. */
  async function loseSteps(kept: number, lost: number) {
    const counting = await openCountingSession()
    const { session, store } = counting
    for (let seq = 0; seq < kept; seq++) await play(session, adding(1, seq))
    const before = (await store.read('counting-1'))!
    const log = await store.readLog('counting-1', { after: 0, limit: 99 })
    for (let seq = kept; seq < kept + lost; seq++) await play(session, adding(1, seq))
    await store.remove('counting-1')
    await store.create({ ...before, revision: 0 })
    for (const entry of log) {
      const expected = { revision: entry.revision - 1, epoch: before.epoch }
      await store.commit({ ...before, revision: entry.revision }, expected, entry)
    }
    return counting
  }

  it.each([0, 2])(
    'rejects every call of a holder that saw the lost steps, and plays nothing (back to %d)',
    async (kept) => {
      const { session, store } = await loseSteps(kept, 3)
      const before = await store.read('counting-1')
      for (const call of [
        () => play(session, adding(1, kept + 3)),
        () => play(session, adding(1, kept + 2)),
        () => play(session, adding(1, kept)),
        () => play(session, adding(1)),
        () => session.refresh(),
        () => session.advance(() => ({ now: 9 })),
        () => session.takeOver(),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'state-lost' })
      expect(await store.read('counting-1')).toEqual(before)
    },
  )

  it('says so to a client that saw it, through a holder that did not', async () => {
    const { another } = await loseSteps(2, 3)
    const holder = await another()
    await expect(play(holder, adding(1, 5))).rejects.toMatchObject({ code: 'state-lost' })
    expect(totalOf(await holder.refresh())).toBe(2)
  })

  it('says so where others have played on to the same revision since', async () => {
    const { session, another } = await loseSteps(2, 1)
    await play(await another(), adding(7))
    await expect(session.refresh()).rejects.toMatchObject({ code: 'state-lost' })
  })

  it('takes a session that was closed and opened anew for the new one', async () => {
    const { session, store, clock } = await openCountingSession()
    const stored = (await store.read('counting-1'))!
    await play(session, adding(5))
    await store.remove('counting-1')
    clock.advance(1)
    const { record } = await holdSession(store, stored)
    await store.create(encodeSession({ ...record, createdAt: clock.now() }))
    expect((await play(session, adding(1, 0))).step.observation.text).toBe('now 1')
  })
})

describe('Session.advance', () => {
  it('commits an outside event between two steps without counting it as one', async () => {
    const { session, store } = await openCountingSession()
    await play(session, adding(1, 0))
    await session.advance(({ draft }) => ({ state: { ...draft, public: { total: 40 } }, now: 9 }))
    const { step } = await play(session, adding(2, 1))
    expect(step).toMatchObject({ observation: { text: 'now 42' }, report: { seq: 2, revision: 3 } })
    const log = await store.readLog('counting-1', { after: 0, limit: 9 })
    expect(log.map(({ revision }) => revision)).toEqual([1, 3])
  })

  it('still replays the last step after an outside event', async () => {
    const { session } = await openCountingSession()
    const { step } = await play(session, adding(1, 0))
    await session.advance(() => ({ now: 5 }))
    expect(await play(session, adding(1, 0))).toEqual({ step, replayed: true, played: null })
  })

  it('ends an episode', async () => {
    const { session } = await openCountingSession()
    const record = await session.advance(() => ({ end: { kind: 'truncated', reason: 'closed' } }))
    expect(record).toMatchObject({ revision: 1, end: { kind: 'truncated', reason: 'closed' } })
    await expect(play(session, adding(1, 0))).rejects.toMatchObject({ code: 'episode-ended' })
  })

  it('leaves everything as it is for null, but only once it has seen the record as it is now', async () => {
    const { session, another } = await openCountingSession()
    await (await another()).advance(() => ({ now: 3 }))
    const seen: number[] = []
    const record = await session.advance(({ record }) => {
      seen.push(record.now)
      return null
    })
    expect(seen).toEqual([0, 3])
    expect(record).toMatchObject({ revision: 1, now: 3 })
  })

  it('changes nothing when it throws', async () => {
    const { session } = await openCountingSession()
    const change = session.advance(() => {
      throw new Error('no')
    })
    await expect(change).rejects.toThrow('no')
    expect(session.record.revision).toBe(0)
  })
})
