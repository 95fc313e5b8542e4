import { type Channel, WireError } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EnvError } from '../env-error.ts'
import { type RetryOptions, retryOptions, withRetries } from './with-retries.ts'

const lost = () => new EnvError('connection-failed', 'Lost.')
const unavailable = (seconds?: number) =>
  new WireError('store-unavailable', 'Away.', seconds === undefined ? {} : { details: { retryAfterSeconds: seconds } })

/** A channel that rejects with one error after the other, each after `milliseconds`, and then answers. */
function troubled(errors: readonly Error[], options: Partial<RetryOptions> = {}, milliseconds = 0) {
  const pauses: number[] = []
  const calls: unknown[] = []
  const left = [...errors]
  let time = 0
  const channel: Channel = {
    async request(method, params) {
      calls.push({ method, params })
      time += milliseconds
      const error = left.shift()
      if (error) throw error
      return 'answer'
    },
    async close() {},
  }
  const retry = retryOptions({
    random: () => 0.5,
    now: () => time,
    async pause(length, signal) {
      signal?.throwIfAborted()
      pauses.push(length)
      time += length
    },
    ...options,
  })
  const request = (signal?: AbortSignal) => withRetries(channel, retry).request('tools/call', { seq: 3 }, { signal })
  return { request, pauses, calls, time: () => time }
}

describe('withRetries', () => {
  it('retries the same call, with longer pauses each time', async () => {
    const { request, pauses, calls } = troubled(Array.from({ length: 9 }, lost))
    expect(await request()).toBe('answer')
    expect(calls).toEqual(Array(10).fill({ method: 'tools/call', params: { seq: 3 } }))
    expect(pauses).toEqual([15, 30, 60, 120, 240, 480, 960, 1_500, 1_500])
  })

  it('is bounded in count and in time, and rejects with the last error', async () => {
    const delays = fc.record({
      attempts: fc.integer({ min: 1, max: 30 }),
      seconds: fc.double({ min: 0, max: 20, noNaN: true }),
      draw: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      call: fc.integer({ min: 0, max: 3_000 }),
    })
    await fc.assert(
      fc.asyncProperty(delays, async ({ attempts, seconds, draw, call }) => {
        const errors = Array.from({ length: 40 }, lost)
        const { request, calls, pauses, time } = troubled(errors, { attempts, seconds, random: () => draw }, call)
        const last = await request().catch((error: unknown) => error)
        expect(last).toBe(errors[calls.length - 1])
        expect(calls.length).toBeLessThanOrEqual(attempts)
        expect(pauses).toHaveLength(calls.length - 1)
        expect(time()).toBeLessThanOrEqual(call + seconds * 1_000 + call)
        // It gave up for no other reason than one of the two bounds: the next pause is at most two seconds.
        if (calls.length < attempts) expect(time()).toBeGreaterThan(seconds * 1_000 - 2_000)
      }),
    )
  })

  it('draws its pauses, so that those who lost the same server do not come back at once', async () => {
    const pauses = [0, 0.25, 0.75].map(async (draw) => {
      const { request, pauses } = troubled([lost(), lost()], { random: () => draw })
      await request()
      return pauses
    })
    expect(await Promise.all(pauses)).toEqual([
      [10, 20],
      [12.5, 25],
      [17.5, 35],
    ])
  })

  it('waits for as long as the server says, and not at all where that is too long', async () => {
    const patient = troubled([unavailable(2), unavailable()])
    expect(await patient.request()).toBe('answer')
    expect(patient.pauses).toEqual([2_000, 30])
    const error = unavailable(16)
    const hasty = troubled([error])
    await expect(hasty.request()).rejects.toBe(error)
    expect(hasty.pauses).toEqual([])
  })

  it.each([
    new WireError('session-not-found', 'No.'),
    new WireError('fenced', 'No.'),
    new WireError('seq-conflict', 'No.'),
    new WireError('capacity', 'No.', { details: { retryAfterSeconds: 1 } }),
    new WireError('internal', 'No.'),
    new EnvError('reply-malformed', 'No.'),
    new EnvError('connection-failed', 'No.', { details: { retryable: false } }),
    new Error('No.'),
  ])('does not retry after an answer: $name $code', async (error) => {
    const { request, calls } = troubled([error])
    await expect(request()).rejects.toBe(error)
    expect(calls).toHaveLength(1)
  })

  it("stops pausing at an abort, with the signal's own reason", async () => {
    const abort = new AbortController()
    const { request, calls } = troubled([lost(), lost()], { pause: retryOptions().pause, random: () => 0 })
    const asked = request(abort.signal)
    const reason = new Error('enough')
    abort.abort(reason)
    await expect(asked).rejects.toBe(reason)
    expect(calls).toHaveLength(1)
  })
})
