import { DEFAULT_SEAT, WireError } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { atControl } from '../fixtures/addressed.fixture.ts'
import { asking, call, createTestHost } from '../fixtures/testbed.fixture.ts'

/** Resolves with all that a caller can read of the error of its call. */
async function errorOf(call: Promise<unknown>): Promise<object> {
  const error = await call.then(
    () => null,
    (error: unknown) => error,
  )
  if (WireError.is(error)) return { code: error.code, message: error.message, details: error.details }
  throw new Error(`This is not a protocol error: ${error}`)
}
const guess = (value: number, seq?: number) => call('guess', { value }, seq)

describe('Host.findOpened', () => {
  it('finds a session by the key that opened it, in another process on the same store too', async () => {
    const store = createMemoryStore()
    const first = createTestHost({ store })
    const request = asking({ params: { low: 5, high: 5 } })
    const { id } = await first.host.open('anna', request)
    const second = createTestHost({ store })
    for (const { host } of [first, second])
      expect(await (await host.findOpened('anna', request.requestKey)).state()).toMatchObject({ id })
  })

  it('finds nothing for another principal, another key, and a session that was closed', async () => {
    const { host } = createTestHost()
    const request = asking()
    const { session } = await host.open('anna', request)
    const found = async (principal: string | null, key: string) => (await host.findOpened(principal, key)).state()
    expect(await errorOf(found('ben', request.requestKey))).toMatchObject({ code: 'session-not-found' })
    expect(await errorOf(found(null, request.requestKey))).toMatchObject({ code: 'session-not-found' })
    expect(await errorOf(found('anna', `${request.requestKey}0`))).toMatchObject({ code: 'session-not-found' })
    await atControl(host, session, 'anna').close()
    expect(await errorOf(found('anna', request.requestKey))).toMatchObject({ code: 'session-not-found' })
  })
})

describe('Host.state', () => {
  it('returns the whole state, the private part included, as a copy', async () => {
    const { host } = createTestHost()
    const { session, id } = await host.open(null, asking({ params: { low: 7, high: 7 } }))
    const state = await atControl(host, session).state()
    expect(state).toEqual({
      id,
      environment: { name: 'number-guessing', version: '1.0.0' },
      revision: 0,
      epoch: 1,
      seats: { [DEFAULT_SEAT]: { seq: 0 } },
      now: 0,
      state: { public: { low: 7, high: 7, guesses: [], guessesLeft: 8 }, private: { target: 7 } },
      end: null,
    })
    Object.assign(state.state.private, { target: 0 })
    expect((await atControl(host, session).step(guess(7))).step.report.terms).toEqual({ jackpot: 1, toll: -0.01 })
  })
})

describe('Host.sessions', () => {
  it('lists sessions page by page, without a secret and without their state', async () => {
    const { host, clock } = createTestHost()
    const opened = await Promise.all(Array.from({ length: 5 }, () => host.open('trainer', asking())))
    clock.advance(3_000)
    await atControl(host, opened[0]?.session as string, 'trainer').step(guess(5))
    clock.advance(2_000)
    const first = await host.list({ limit: 3 })
    const second = await host.list({ limit: 3, after: first.sessions.at(-1)?.id })
    expect(first.total).toBe(5)
    const listed = [...first.sessions, ...second.sessions]
    expect(listed.map(({ id }) => id)).toEqual(opened.map(({ id }) => id).sort())
    expect(listed.find(({ id }) => id === opened[0]?.id)).toMatchObject({
      environment: 'number-guessing',
      owner: 'trainer',
      age: 5,
      idle: 2,
      steps: 1,
      history: 0,
      end: null,
    })
    for (const { session, seats, seed } of opened)
      for (const secret of [session, session.slice(-22), seats[DEFAULT_SEAT]?.capability as string, seed])
        expect(JSON.stringify(listed)).not.toContain(secret)
  })

  it('reports no negative age for a session whose time another process has written with a clock ahead', async () => {
    const store = createMemoryStore()
    const [ahead, host] = [createTestHost({ store }), createTestHost({ store }).host]
    ahead.clock.advance(40)
    await ahead.host.open(null, asking())
    const [listed] = (await host.list({ limit: 1 })).sessions
    expect([listed?.age, listed?.idle]).toEqual([0, 0])
  })
})
