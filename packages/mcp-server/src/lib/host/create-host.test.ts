import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DEFAULT_SEAT, type OpenResult, WireError } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { openSqliteStore } from '@episodic/state/sqlite'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { atCapability, atControl } from '../fixtures/addressed.fixture.ts'
import { createGatedStore } from '../fixtures/gated-store.fixture.ts'
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
  it('answers with what a player sees and what a trainer counts', async () => {
    const { host } = createTestHost()
    const { session } = await host.open(null, asking({ params: { low: 5, high: 5 } }))
    expect(await atControl(host, session).step(guess(5, 0))).toEqual({
      replayed: false,
      secrets: expect.anything(),
      messages: [],
      step: {
        seat: DEFAULT_SEAT,
        action: { tool: 'guess', arguments: { value: 5 } },
        observation: { text: '5 is correct.', structured: { value: 5, hint: 'correct' } },
        report: {
          seq: 1,
          revision: 1,
          terms: { jackpot: 1, toll: -0.01 },
          potential: -1,
          end: { kind: 'terminated', reason: 'solved' },
          refused: null,
          stateHash: expect.any(String),
        },
      },
    })
  })

  it('applies a step once, and answers a retry with the same answer', async () => {
    const { host } = createTestHost()
    const { session } = await host.open(null, asking())
    const first = await atControl(host, session).step(guess(1, 0))
    expect(await atControl(host, session).step(guess(1, 0))).toEqual({ ...first, replayed: true })
    expect(await errorOf(atControl(host, session).step(guess(2, 0)))).toMatchObject({ code: 'seq-reused' })
    expect(await errorOf(atControl(host, session).step(guess(2, 5)))).toMatchObject({ code: 'state-lost' })
    expect(await errorOf(atControl(host, session).step({ ...guess(2, 1), epoch: 0 }))).toMatchObject({ code: 'fenced' })
    expect((await atControl(host, session).state()).seats).toEqual({ [DEFAULT_SEAT]: { seq: 1 } })
  })

  it('keeps the order of calls that are made at once', async () => {
    const { host } = createTestHost()
    const { session } = await host.open(null, asking({ params: { low: 1, high: 1_000_000_000, maxGuesses: 50 } }))
    const values = Array.from({ length: 30 }, (_, i) => i + 1)
    await Promise.all(values.map((value) => atControl(host, session).step(guess(value))))
    const { state } = await atControl(host, session).state()
    expect((state.public.guesses as { value: number }[]).map(({ value }) => value)).toEqual(values)
  })

  it('refuses calls beyond the queue, and plays the others', async () => {
    const gated = createGatedStore()
    const { host } = createTestHost({ bounds: { queue: 3 }, store: gated.store })
    const { session } = await host.open(null, asking())
    const playing = [1, 2, 3, 4, 5].map((value) => atControl(host, session).step(guess(value)))
    gated.open()
    const played = await Promise.allSettled(playing)
    expect(played.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'])
    expect(await errorOf(Promise.reject((played[4] as PromiseRejectedResult).reason))).toMatchObject({
      code: 'rate-limited',
    })
  })

  it('answers a refused step, counts it, and charges its terms', async () => {
    const { host } = createTestHost()
    const { session } = await host.open(null, asking())
    const before = await atControl(host, session).state()
    const { step } = await atControl(host, session).step(call('peek', {}, 0))
    expect(step.report).toMatchObject({ seq: 1, refused: 'tool', terms: { toll: -0.05 }, end: null })
    expect(step.observation.text).toContain('The tools are: guess.')
    expect((await atControl(host, session).state()).state).toEqual(before.state)
  })

  it('truncates at the step limit, refused steps counted, and then refuses', async () => {
    const { host } = createTestHost()
    const { session } = await host.open(null, asking({ limits: { steps: 3 } }))
    expect((await atControl(host, session).step(guess(1))).step.report.end).toBeNull()
    expect((await atControl(host, session).step(call('peek'))).step.report.end).toBeNull()
    const last = await atControl(host, session).step(guess(2, 2))
    expect(last.step.report.end).toEqual({ kind: 'truncated', reason: 'step-limit' })
    expect(last.step.observation.text).toContain('6 guesses left')
    expect(await errorOf(atControl(host, session).step(guess(3)))).toMatchObject({ code: 'episode-ended' })
    expect(await atControl(host, session).step(guess(2, 2))).toEqual({ ...last, replayed: true })
  })

  it('lets the rules end an episode at its last step', async () => {
    const { host } = createTestHost()
    const { session } = await host.open(null, asking({ params: { low: 5, high: 5 }, limits: { steps: 1 } }))
    expect((await atControl(host, session).step(guess(5))).step.report.end).toMatchObject({ kind: 'terminated' })
  })

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

  it('keeps a history only if the environment bounds one', async () => {
    const { host } = createTestHost()
    const shop = await host.open(null, asking({ environment: 'workshop', params: { stock: 9 } }))
    for (const tool of ['wait', 'gossip', 'gossip', 'regret'])
      await atControl(host, shop.session).step(call(tool, { milliseconds: 1 }))
    const { step } = await atControl(host, shop.session).step(call('take'))
    expect(step.observation.structured).toMatchObject({ remembered: ['gossip', 'gossip', 'regret'] })
    const game = await host.open(null, asking())
    await atControl(host, game.session).step(guess(1))
    const { sessions } = await host.list({ limit: 10 })
    expect(sessions.find(({ id }) => id === shop.id)?.history).toBe(3)
    expect(sessions.find(({ id }) => id === game.id)?.history).toBe(0)
  })

  it('plays two interleaved sessions as it plays them apart', async () => {
    const anyValues = fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 7 })
    await fc.assert(
      fc.asyncProperty(anyValues, anyValues, async (left, right) => {
        const { host } = createTestHost()
        const play = async (values: readonly number[], session: string) => {
          const steps = []
          for (const value of values) {
            const { step } = await atControl(host, session).step(guess(value))
            steps.push(step)
            if (step.report.end) break
          }
          return steps
        }
        const open = async (seed: string) => (await host.open(null, asking({ seed }))).session
        const apart = [await play(left, await open('left')), await play(right, await open('right'))]
        const together = await Promise.all([play(left, await open('left')), play(right, await open('right'))])
        expect(together).toEqual(apart)
      }),
      { numRuns: 30 },
    )
  })
})

describe('a fault of the environment', () => {
  it.each(['crash', 'lie', 'silence', 'spoil'])(
    'in %s changes nothing, is reported with a reference, and is not a step',
    async (tool) => {
      const { host, faults } = createTestHost()
      const { session, id } = await host.open(null, asking({ environment: 'workshop' }))
      const before = await atControl(host, session).state()
      const refusal = await errorOf(atControl(host, session).step(call(tool, {}, 0)))
      expect(refusal).toMatchObject({ code: 'environment-failed' })
      expect(faults).toMatchObject([
        { ...(refusal as { details: object }).details, environment: 'workshop', session: id },
      ])
      expect(await atControl(host, session).state()).toEqual(before)
      expect((await atControl(host, session).step(call('take', {}, 0))).step.report.seq).toBe(1)
    },
  )

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
  it('returns how the episode ended, and leaves nothing', async () => {
    const { host } = createTestHost()
    const open = await host.open(null, asking())
    expect(await atControl(host, open.session).close()).toEqual({ end: { kind: 'truncated', reason: 'closed' } })
    expect(await errorOf(atControl(host, open.session).close())).toMatchObject({ code: 'session-not-found' })
    expect(await errorOf(atCapability(host, capabilityOf(open)).step(guess(1)))).toMatchObject({
      code: 'session-not-found',
    })
    expect((await host.list({ limit: 10 })).total).toBe(0)
  })

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

describe('a host whose SQLite file is locked by another program', () => {
  it('says that its store is unavailable, and plays the same step once the file is free', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'episodic-locked-'))
    const path = join(folder, 'sessions.db')
    await using store = await openSqliteStore(path)
    onTestFinished(() => rm(folder, { recursive: true }))
    const { host } = createTestHost({ store })
    const { session } = await host.open(null, asking())
    const other = new DatabaseSync(path)
    other.exec('BEGIN EXCLUSIVE')
    expect(await errorOf(atControl(host, session).step(guess(1, 0)))).toMatchObject({ code: 'store-unavailable' })
    other.exec('COMMIT')
    other.close()
    expect((await atControl(host, session).step(guess(1, 0))).step.report.seq).toBe(1)
  })
})
