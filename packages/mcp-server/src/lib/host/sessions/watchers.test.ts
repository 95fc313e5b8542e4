import { createManualClock } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { asking, call, createTestHost } from '../../fixtures/testbed.fixture.ts'
import type { WatchRange } from '../host.ts'

const guess = (value: number) => call('guess', { value })

/** Says whether a promise has settled by the time that all that can happen now has happened. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false
  const mark = () => {
    done = true
  }
  promise.then(mark, mark)
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  return done
}

async function watched(options: Parameters<typeof createTestHost>[0] = {}) {
  const testbed = createTestHost(options)
  const { session } = await testbed.host.open(null, asking({ params: { high: 1_000_000_000, maxGuesses: 9 } }))
  const watch = (range: Partial<WatchRange> = {}) =>
    atControl(testbed.host, session).watch({ after: 0, limit: 100, wait: 0, ...range })
  return { ...testbed, session, watch }
}

describe('Host.watch', () => {
  it('returns the log from any point on, in order', async () => {
    const { host, session, watch } = await watched()
    const steps = []
    for (const value of [1, 2, 3]) steps.push((await atControl(host, session).step(guess(value))).step)
    expect(await watch()).toEqual({ steps, end: null })
    expect(await watch({ after: 1, limit: 1 })).toEqual({ steps: steps.slice(1, 2), end: null })
    expect(await watch({ after: 3 })).toEqual({ steps: [], end: null })
  })

  it('ends after the requested wait', async () => {
    const { clock, watch } = await watched()
    const waiting = watch({ wait: 2 })
    expect(await settled(waiting)).toBe(false)
    clock.advance(1_000)
    expect(await settled(waiting)).toBe(false)
    clock.advance(1_000)
    expect(await waiting).toEqual({ steps: [], end: null })
  })

  it('returns within a second what another host commits', async () => {
    const store = createMemoryStore()
    const clock = createManualClock()
    const { session, watch } = await watched({ store, clock })
    const other = createTestHost({ store, clock }).host
    const waiting = watch({ wait: 60 })
    expect(await settled(waiting)).toBe(false)
    const { step } = await atControl(other, session).step(guess(1))
    clock.advance(1_000)
    expect((await waiting).steps).toEqual([step])
  })

  it('ends with the episode, for those who come later too', async () => {
    const { host, session, watch } = await watched()
    const waiting = watch({ wait: 60, after: 9 })
    for (let value = 1; value <= 9; value++) await atControl(host, session).step(guess(value))
    const end = { kind: 'terminated', reason: 'out-of-guesses' }
    expect(await waiting).toEqual({ steps: [], end })
    expect((await watch({ wait: 60, after: 9 })).end).toEqual(end)
  })

  it('ends when the session is closed', async () => {
    const { host, session, watch } = await watched()
    const waiting = watch({ wait: 60 })
    expect(await settled(waiting)).toBe(false)
    await atControl(host, session).close()
    const outcome = await waiting.then(
      ({ end }) => end?.reason,
      ({ code }) => code,
    )
    expect(['closed', 'session-not-found']).toContain(outcome)
  })

  it('keeps its session from expiring', async () => {
    const { host, clock, watch } = await watched({ bounds: { idleSeconds: 10 } })
    const waiting = watch({ wait: 30 })
    for (let second = 0; second < 29; second++) {
      expect(await settled(waiting)).toBe(false)
      clock.advance(1_000)
      expect(await host.sweep()).toBe(0)
    }
    clock.advance(1_000)
    expect(await waiting).toEqual({ steps: [], end: null })
  })

  it('ends when the host is disposed of', async () => {
    const { host, watch } = await watched({ store: createMemoryStore() })
    const waiting = watch({ wait: 60 })
    expect(await settled(waiting)).toBe(false)
    await host[Symbol.asyncDispose]()
    expect(await waiting).toEqual({ steps: [], end: null })
  })
})
