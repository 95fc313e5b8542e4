import { type Clock, createManualClock } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { asking, call, createTestHost } from '../../fixtures/testbed.fixture.ts'

const bounds = { idleSeconds: 60 }
const NOT_FOUND = expect.objectContaining({ code: 'session-not-found' })

/** A clock whose time of day can be set, as an operator or a time server does it. */
function createSettableClock(): Clock & { set(seconds: number): void; pass(seconds: number): void } {
  const clock = createManualClock(1_700_000_000_000)
  let off = 0
  return {
    now: () => clock.now() + off,
    monotonic: clock.monotonic,
    after: clock.after,
    set(seconds) {
      off += seconds * 1_000
    },
    pass: (seconds) => clock.advance(seconds * 1_000),
  }
}

describe('a sweep', () => {
  it('lets other calls through after every few of the thousands that expire', async () => {
    const store = createMemoryStore()
    const { host, clock } = createTestHost({ store, bounds: { ...bounds, sessions: 5_000 } })
    await Promise.all(Array.from({ length: 2_000 }, () => host.open(null, asking())))
    clock.advance(50_000)
    const { session } = await host.open(null, asking({ params: { high: 1_000_000_000, maxGuesses: 1_000_000 } }))
    clock.advance(11_000)
    let over = false
    const swept = host.sweep().finally(() => {
      over = true
    })
    const drops: number[] = []
    for (let left = 2_001; !over; ) {
      await atControl(host, session).step(call('guess', { value: 1 }))
      const now = await store.count()
      drops.push(left - now)
      left = now
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await swept).toBe(2_000)
    expect(Math.max(...drops)).toBeLessThanOrEqual(256)
    expect(await store.count()).toBe(1)
  })

  it('expires sessions neither early nor late when the time of day is set', async () => {
    const clock = createSettableClock()
    const { host } = createTestHost({ clock, bounds })
    const sessions = await Promise.all(Array.from({ length: 50 }, () => host.open(null, asking())))
    for (const jump of [3_600, -7_200, 86_400, -3_600]) {
      clock.set(jump)
      clock.pass(10)
      expect(await host.sweep()).toBe(0)
    }
    for (const { session } of sessions) await atControl(host, session).state()
    clock.set(-3_600)
    clock.pass(59)
    expect(await host.sweep()).toBe(0)
    clock.pass(2)
    expect(await host.sweep()).toBe(50)
  })
})

describe('sessions of an earlier server', () => {
  it('get the whole idle time again, regardless of the time of day meanwhile', async () => {
    const store = createMemoryStore()
    const clock = createSettableClock()
    const earlier = createTestHost({ store, clock, bounds }).host
    const { session } = await earlier.open('anna', asking())
    const left = await earlier.open('anna', asking())
    await earlier[Symbol.asyncDispose]()
    clock.set(86_400)

    const { host } = createTestHost({ store, clock, bounds })
    expect(await host.sweep()).toBe(0)
    clock.pass(50)
    await atControl(host, session, 'anna').step(call('guess', { value: 1 }))
    clock.pass(50)
    await host.sweep()
    await expect(atControl(host, left.session, 'anna').state()).rejects.toThrow(NOT_FOUND)
    expect(await atControl(host, session, 'anna').state()).toMatchObject({ seats: { agent: { seq: 1 } } })
  })
})

describe('servers on one store', () => {
  it('do not expire what the other one plays, even if their clocks differ by a day', async () => {
    const store = createMemoryStore()
    const [slow, fast] = [createSettableClock(), createSettableClock()]
    fast.set(86_400)
    const left = createTestHost({ store, clock: slow, bounds }).host
    const right = createTestHost({ store, clock: fast, bounds }).host
    const { session } = await left.open('anna', asking({ params: { maxGuesses: 1_000 } }))
    for (let round = 0; round < 20; round++) {
      slow.pass(20)
      fast.pass(20)
      await atControl(left, session, 'anna').step(call('guess', { value: 1 }))
      expect([await left.sweep(), await right.sweep()]).toEqual([0, 0])
    }
  })

  it('see that a session is used which the other one only reads', async () => {
    const store = createMemoryStore()
    const clock = createManualClock()
    const left = createTestHost({ store, clock, bounds }).host
    const right = createTestHost({ store, clock, bounds }).host
    const { session } = await left.open('anna', asking())
    for (let round = 0; round < 20; round++) {
      clock.advance(20_000)
      await atControl(left, session, 'anna').state()
      expect([await left.sweep(), await right.sweep()]).toEqual([0, 0])
    }
  })

  it('expire what the one that played it left behind', async () => {
    const store = createMemoryStore()
    const clock = createManualClock()
    const left = createTestHost({ store, clock, bounds }).host
    const right = createTestHost({ store, clock, bounds }).host
    await left.open('anna', asking())
    await left[Symbol.asyncDispose]()
    const countLater = async () => {
      clock.advance(20_000)
      await right.sweep()
      return store.count()
    }
    await expect.poll(countLater, { interval: 1 }).toBe(0)
  })
})
