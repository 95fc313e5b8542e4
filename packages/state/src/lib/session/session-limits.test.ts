import type { JsonObject } from '@episodic/protocol'
import { describe, expect, it, vi } from 'vitest'
import { add, adding, openCountingSession, play, rulesOf, totalOf } from '../fixtures/counting-session.fixture.ts'
import type { Move, Session } from './session.ts'

const LEAVING: Move = adding(1)

/** Plays a step that leaves `text` in the state. */
function leave(session: Session, value: unknown) {
  return session.step(LEAVING, (turn) => {
    const played = rulesOf(LEAVING)(turn)
    const state = { public: { value } as JsonObject, private: {} }
    return { ...played, change: { state, rng: {}, now: 0 } }
  })
}

describe('the limits of a Session', () => {
  it('passes the rules a truncation with the step that uses up the budget of steps', async () => {
    const { session } = await openCountingSession({ limits: { steps: 3 } })
    const ends = []
    for (const by of [1, 0, 1]) ends.push((await play(session, adding(by))).step.report.end)
    expect(ends).toEqual([null, null, { kind: 'truncated', reason: 'step-limit' }])
    await expect(play(session, adding(1))).rejects.toMatchObject({ code: 'episode-ended' })
  })

  it('counts the budget of steps for each seat', async () => {
    const { session } = await openCountingSession({ limits: { steps: 2 }, seats: ['white', 'black'] })
    const ends = []
    for (const seat of ['white', 'black', 'white'])
      ends.push((await play(session, { ...adding(1), seat })).step.report.end?.reason)
    expect(ends).toEqual([undefined, undefined, 'step-limit'])
  })

  it('lets the end of the rules stand where the budget runs out in the same step', async () => {
    const { session } = await openCountingSession({ limits: { steps: 1 } })
    expect((await play(session, adding(100))).step.report.end).toEqual({ kind: 'terminated', reason: 'full' })
  })

  it('passes the rules a truncation if the time ran out before the step', async () => {
    const { session, clock } = await openCountingSession({ limits: { seconds: 2 } })
    clock.advance(1_999)
    expect((await play(session, adding(1))).step.report.end).toBeNull()
    clock.advance(1)
    expect((await play(session, adding(1))).step.report.end).toEqual({ kind: 'truncated', reason: 'time-limit' })
  })

  it('measures the state in bytes of UTF-8, and refuses one that is too large', async () => {
    const { session } = await openCountingSession({ limits: { bytes: 300 } })
    const room = 300 - JSON.stringify({ public: { value: '' }, private: {} }).length
    await leave(session, 'x'.repeat(room))
    const before = session.record
    for (const value of ['x'.repeat(room + 1), 'é'.repeat(room / 2 + 1), '語'.repeat(room / 3 + 1)])
      await expect(leave(session, value)).rejects.toMatchObject({ code: 'too-large', details: { limit: 300 } })
    expect(await session.refresh()).toBe(before)
    await leave(session, '語'.repeat(room / 3))
  })

  it('refuses an answer that is too large', async () => {
    const { session } = await openCountingSession({ limits: { bytes: 300 } })
    const step = session.step(LEAVING, (turn) => ({
      ...rulesOf(LEAVING)(turn),
      observation: { text: 'x'.repeat(300), structured: null },
    }))
    await expect(step).rejects.toMatchObject({ code: 'too-large' })
    expect(session.record.revision).toBe(0)
  })

  it('distinguishes a too large action from a too large answer', async () => {
    const { session } = await openCountingSession({ limits: { bytes: 300 } })
    const move = { ...LEAVING, action: { ...LEAVING.action, arguments: { note: 'x'.repeat(300) } } }
    await expect(session.step(move, rulesOf(LEAVING))).rejects.toMatchObject({ code: 'action-invalid' })
    expect(session.record.revision).toBe(0)
  })

  it.each([undefined, Number.NaN, -0, new Date(0), new Map(), () => 1, '\ud800'])(
    'refuses a state that JSON cannot say: %s',
    async (value) => {
      const { session } = await openCountingSession()
      await expect(leave(session, value)).rejects.toMatchObject({
        code: 'not-json',
        message: expect.stringContaining('state.public.value'),
      })
      expect(session.record.revision).toBe(0)
    },
  )

  it('refuses an action that JSON cannot say', async () => {
    const { session } = await openCountingSession()
    const action = { ...add(1), tool: '\ud800' }
    await expect(play(session, { seat: 'agent', action })).rejects.toMatchObject({ code: 'action-invalid' })
  })

  it('keeps what the rules remember, within its bounds, where it keeps a history', async () => {
    const { session } = await openCountingSession({ history: { entries: 2, bytes: 1_000 } })
    for (const by of [1, 2, 0, 3]) await play(session, adding(by))
    expect(session.record.history).toEqual([{ by: 2 }, { by: 3 }])
    const without = await openCountingSession()
    await play(without.session, adding(1))
    expect(without.session.record.history).toEqual([])
  })

  it('knows how many bytes the store keeps for it', async () => {
    const { session, store } = await openCountingSession()
    await leave(session, '語')
    const stored = await store.read('counting-1')
    const [entry] = await store.readLog('counting-1', { after: 0, limit: 1 })
    expect(session.bytes).toBe(Buffer.byteLength(`${stored?.origin}${stored?.head}${stored?.state}${entry?.text}`))
  })

  it('plays no further step once its step log has reached its limit, and still answers a retry of the last', async () => {
    const { session, store, another } = await openCountingSession({ logBytes: 300 })
    const bytesOfLog = async () =>
      (await store.readLog('counting-1', { after: 0, limit: 100 })).reduce(
        (sum, { text }) => sum + Buffer.byteLength(text),
        0,
      )
    let seq = 0
    while ((await bytesOfLog()) < 300) await play(session, adding(1, seq++))
    expect(seq).toBe(2)
    expect(session.record.logBytes).toBe(await bytesOfLog())
    for (const holder of [session, await another()]) {
      await expect(play(holder, adding(1, seq))).rejects.toMatchObject({ code: 'log-full', details: { limit: 300 } })
      expect(await play(holder, adding(1, seq - 1))).toMatchObject({ replayed: true })
    }
    expect(totalOf(session.record)).toBe(2)
  })

  it('prepares nothing for a step that its full step log has no room for', async () => {
    const { session } = await openCountingSession({ logBytes: 1 })
    await play(session, adding(1))
    const prepare = vi.fn(async () => null)
    const step = session.step(adding(1), rulesOf(adding(1)), () => ({ external: true, prepare }))
    await expect(step).rejects.toMatchObject({ code: 'log-full' })
    expect(prepare).not.toHaveBeenCalled()
    expect(session.record.effect).toBeUndefined()
  })
})
