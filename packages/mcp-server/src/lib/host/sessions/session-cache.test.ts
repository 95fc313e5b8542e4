import { DEFAULT_SEAT } from '@episodic/protocol'
import { createManualClock } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { atControl, atTransport } from '../../fixtures/addressed.fixture.ts'
import { createGatedStore } from '../../fixtures/gated-store.fixture.ts'
import { numberGuessing } from '../../fixtures/number-guessing.fixture.ts'
import { asking, call, createTestHost } from '../../fixtures/testbed.fixture.ts'

const guess = (value: number, seq?: number) => call('guess', { value }, seq)
const NOT_FOUND = expect.objectContaining({ code: 'session-not-found' })

describe('idle expiry', () => {
  it('counts from the last finished call', async () => {
    const { host, clock } = createTestHost({ bounds: { idleSeconds: 60 } })
    const played = await host.open(null, asking())
    const left = await host.open(null, asking())
    for (let minute = 0; minute < 5; minute++) {
      clock.advance(50_000)
      await atControl(host, played.session).step(guess(minute + 1))
      await host.sweep()
    }
    expect((await atControl(host, played.session).state()).seats).toEqual({ [DEFAULT_SEAT]: { seq: 5 } })
    await expect(atControl(host, left.session).state()).rejects.toThrow(NOT_FOUND)
  })

  it('counts reading as a call', async () => {
    const { host, clock } = createTestHost({ bounds: { idleSeconds: 60 } })
    const { session } = await host.open(null, asking())
    for (let minute = 0; minute < 5; minute++) {
      clock.advance(50_000)
      await atControl(host, session).state()
      expect(await host.sweep()).toBe(0)
    }
    clock.advance(61_000)
    expect(await host.sweep()).toBe(1)
  })

  it('never meets a session that is busy', async () => {
    const { store, reached, open } = createGatedStore()
    const { host, clock } = createTestHost({ store, bounds: { idleSeconds: 60 } })
    const { session } = await host.open(null, asking())
    const stepping = atControl(host, session).step(guess(1))
    await reached
    clock.advance(600_000)
    expect(await host.sweep()).toBe(0)
    open()
    expect((await stepping).step.report.seq).toBe(1)
    expect(await host.sweep()).toBe(0)
    clock.advance(61_000)
    expect(await host.sweep()).toBe(1)
  })

  it('happens by itself', async () => {
    const store = createMemoryStore()
    const { host, clock } = createTestHost({ store, bounds: { idleSeconds: 60 } })
    const countLater = () => {
      clock.advance(10_000)
      return store.count()
    }
    for (let round = 0; round < 2; round++) {
      await host.open(null, asking())
      expect(await store.count()).toBe(1)
      await expect.poll(countLater, { interval: 1 }).toBe(0)
    }
  })

  it('reaches all that is idle, behind any number of sessions that are only read', async () => {
    const { host, clock } = createTestHost({ bounds: { idleSeconds: 60 } })
    const watched = await Promise.all(Array.from({ length: 250 }, () => host.open(null, asking())))
    clock.advance(1_000)
    await Promise.all(Array.from({ length: 250 }, () => host.open(null, asking())))
    clock.advance(58_000)
    for (const { session } of watched) await atControl(host, session).state()
    clock.advance(5_000)
    expect(await host.sweep()).toBe(250)
    expect((await host.list({ limit: 1 })).total).toBe(250)
  })
})

describe('hosts on one store', () => {
  function twoHosts() {
    const store = createMemoryStore()
    onTestFinished(() => store[Symbol.asyncDispose]())
    const clock = createManualClock()
    return { store, clock, left: createTestHost({ store, clock }).host, right: createTestHost({ store, clock }).host }
  }

  it('apply a step once when both are asked at once (invariant 2)', async () => {
    const { left, right } = twoHosts()
    const { session } = await left.open(null, asking({ params: { high: 1_000_000_000 } }))
    await atControl(right, session).state()
    const answers = await Promise.all(
      [left, right, left, right].map((host) => atControl(host, session).step(guess(1, 0))),
    )
    expect(answers.map(({ replayed }) => replayed).sort()).toEqual([false, true, true, true])
    expect(new Set(answers.map(({ step }) => JSON.stringify(step))).size).toBe(1)
  })

  it('open a session once when both are asked', async () => {
    const { left, right } = twoHosts()
    const request = asking()
    const [a, b] = await Promise.all([left.open(null, request), right.open(null, request)])
    expect(a).toEqual(b)
    expect((await left.list({ limit: 10 })).total).toBe(1)
  })

  it('see at once that the other has closed it', async () => {
    const { left, right } = twoHosts()
    const { session } = await left.open(null, asking())
    await atControl(right, session).step(guess(1))
    await atControl(left, session).close()
    await expect(atControl(right, session).step(guess(2))).rejects.toThrow(NOT_FOUND)
  })

  it('derive the same handles after a restart, and play on', async () => {
    const { store, clock, left } = twoHosts()
    const request = asking({ seed: 'seed' })
    const opened = await left.open('trainer', request)
    const first = await atControl(left, opened.session, 'trainer').step(guess(1, 0))
    const transportId = await left.connections.issue(null)
    await left[Symbol.asyncDispose]()

    const { host } = createTestHost({ store, clock })
    expect(await host.open('trainer', request)).toEqual(opened)
    expect(await atControl(host, opened.session, 'trainer').step(guess(1, 0))).toEqual({ ...first, replayed: true })
    expect((await atControl(host, opened.session, 'trainer').step(guess(2, 1))).step.report.seq).toBe(2)
    const { steps } = await atControl(host, opened.session, 'trainer').watch({ after: 0, limit: 10, wait: 0 })
    expect(steps.map(({ report }) => report.seq)).toEqual([1, 2])
    await atTransport(host, transportId, numberGuessing.name).environment()
  })

  it('refuse a session whose environment they do not serve, and say which it is', async () => {
    const { store, clock, left } = twoHosts()
    const { session } = await left.open(null, asking())
    const newer = createTestHost({ store, clock, environments: [{ ...numberGuessing, version: '2.0.0' }] }).host
    await expect(atControl(newer, session).state()).rejects.toThrow(
      expect.objectContaining({
        code: 'unknown-environment',
        message: expect.stringContaining('number-guessing 1.0.0'),
      }),
    )
  })

  it('keep to themselves what another store knows', async () => {
    const { left } = twoHosts()
    const stranger = createTestHost().host
    const { session } = await left.open(null, asking())
    await expect(atControl(stranger, session).state()).rejects.toThrow(NOT_FOUND)
    await expect(
      atTransport(stranger, await left.connections.issue(null), numberGuessing.name).environment(),
    ).rejects.toThrow(NOT_FOUND)
  })
})

describe('disposal', () => {
  it('leaves a store that was given, and closes one that was not', async () => {
    const store = createMemoryStore()
    const { host } = createTestHost({ store })
    await host.open(null, asking())
    await host[Symbol.asyncDispose]()
    expect(await store.count()).toBe(1)
    await store[Symbol.asyncDispose]()

    const own = createTestHost().host
    const { session: other } = await own.open(null, asking())
    await own[Symbol.asyncDispose]()
    await expect(atControl(own, other).state()).rejects.toThrow(expect.objectContaining({ code: 'store-unavailable' }))
  })
})
