import { DEFAULT_SEAT, type OpenResult, WireError } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { atCapability, atControl } from '../fixtures/addressed.fixture.ts'
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

const capabilityOf = ({ seats }: OpenResult): string => seats[DEFAULT_SEAT]?.capability as string
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

describe('Host.step', () => {
  it('truncates at the time limit, by real time', async () => {
    const { host, clock } = createTestHost()
    const { session } = await host.open(null, asking({ limits: { seconds: 10 } }))
    clock.advance(9_999)
    expect((await atControl(host, session).step(guess(1))).step.report.end).toBeNull()
    clock.advance(1)
    const { step } = await atControl(host, session).step(guess(2))
    expect(step.report).toMatchObject({ refused: 'time', end: { kind: 'truncated', reason: 'time-limit' } })
    expect(await errorOf(atControl(host, session).step(guess(3)))).toMatchObject({ code: 'episode-ended' })
  })
})

describe('a fault of the environment', () => {
  it('is what a state beyond its limit of bytes is', async () => {
    const { host, faults } = createTestHost()
    const { session } = await host.open(null, asking({ environment: 'workshop', limits: { bytes: 10_000 } }))
    expect(await errorOf(atControl(host, session).step(call('stuff', { bytes: 10_001 })))).toMatchObject({
      code: 'environment-failed',
    })
    expect(faults).toHaveLength(1)
    expect((await atControl(host, session).step(call('stuff', { bytes: 5_000 }))).step.report.seq).toBe(1)
  })

  it('is not what an argument is that JSON cannot say', async () => {
    const { host, faults } = createTestHost()
    const { session } = await host.open(null, asking())
    const { step } = await atControl(host, session).step(call('guess', { value: -0 }))
    expect(step.report.refused).toBe('arguments')
    expect(await errorOf(atControl(host, session).step(call('guess', { value: '\ud800' })))).toMatchObject({
      code: 'invalid-params',
    })
    expect(faults).toEqual([])
  })
})

describe('access to a session', () => {
  it('at the agent endpoint is refused alike for every secret but the capability of the seat', async () => {
    const { host } = createTestHost()
    const session = await host.open('owner', asking())
    const capability = capabilityOf(session)
    const unknown = await errorOf(atCapability(host, `cap_0${'x'.repeat(44)}`).step(guess(1)))
    const forged = `${capability.slice(0, -1)}${capability.endsWith('A') ? 'B' : 'A'}`
    const otherSeat = `cap_1${capability.slice(5)}`
    for (const handle of [session.session, session.id, forged, otherSeat, `cap__${capability.slice(5)}`, ''])
      expect(await errorOf(atCapability(host, handle).step(guess(1)))).toEqual(unknown)
    expect((await atCapability(host, capability).step(guess(1))).step.report.seq).toBe(1)
  })

  it('never derives one handle from another', async () => {
    const { host } = createTestHost()
    const sessions = await Promise.all(Array.from({ length: 50 }, () => host.open(null, asking())))
    const secrets = sessions.flatMap((session) => [session.session, capabilityOf(session)])
    const proofs = secrets.map((secret) => secret.slice(-22))
    expect(new Set(proofs).size).toBe(100)
    for (const { id } of sessions) expect(proofs).not.toContain(id)
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

describe('Host.close', () => {
  it('keeps the end that an episode came to by itself', async () => {
    const { host } = createTestHost()
    const { session } = await host.open(null, asking({ params: { low: 5, high: 5 } }))
    await atControl(host, session).step(guess(5))
    expect(await atControl(host, session).close()).toEqual({ end: { kind: 'terminated', reason: 'solved' } })
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
