import type { OpenResult, SessionSnapshot } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import type { defineEnvironment } from '../../environment/definition/define-environment.ts'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { garden } from '../../fixtures/garden.fixture.ts'
import { asking, call, createTestHost, freshKey } from '../../fixtures/testbed.fixture.ts'
import type { Host } from '../host.ts'

const water = (litres: number) => ({ tool: 'water', arguments: { litres } })

/** A session that has played three steps, the second of them refused. */
async function playGarden(host: Host): Promise<OpenResult> {
  const opened = await host.open(null, asking({ environment: 'garden', seed: 'garden' }))
  for (const [seq, litres] of [2, 0, 3].entries())
    await atControl(host, opened.session).step({ action: water(litres), seq })
  return opened
}

const createGardenHost = (options = {}) => createTestHost({ environments: [garden], ...options })

describe('Host.snapshot', () => {
  it('says all that decides how a session goes on, in values that are not the session’s own', async () => {
    const { host } = createGardenHost()
    const { session, params, limits } = await playGarden(host)
    const { state, now } = await atControl(host, session).state()
    const snapshot = await atControl(host, session).snapshot({})
    expect(snapshot).toEqual({
      format: 1,
      environment: { name: 'garden', version: '1.0.0' },
      params,
      seed: 'garden',
      limits,
      rng: { main: expect.any(Array), weather: expect.any(Array) },
      now,
      state,
      seats: { agent: { seq: 3 } },
      history: [
        expect.objectContaining({ tool: 'water', arguments: { litres: 2 } }),
        expect.objectContaining({ arguments: { litres: 0 } }),
        expect.objectContaining({ arguments: { litres: 3 } }),
      ],
      end: null,
    })
    Object.assign(snapshot.state.private, { luck: -1 })
    Object.assign(snapshot.params, { maxHeight: -1 })
    expect((await atControl(host, session).state()).state).toEqual(state)
    expect((await atControl(host, session).snapshot({})).params).toEqual({ maxHeight: 30 })
  })

  it('returns the same snapshot of a step once it is past', async () => {
    const { host } = createGardenHost()
    const { session } = await host.open(null, asking({ environment: 'garden' }))
    const seen: SessionSnapshot[] = []
    for (const [seq, litres] of [1, 0, 2, 3].entries()) {
      seen.push(await atControl(host, session).snapshot({}))
      await atControl(host, session).step({ action: water(litres), seq })
    }
    for (const [at, snapshot] of seen.entries())
      expect(await atControl(host, session).snapshot({ at })).toEqual(snapshot)
  })
})

describe('Host.restore', () => {
  it('returns the same session for a repeated request, and rejects the key for any other', async () => {
    const { host } = createGardenHost()
    const { session } = await playGarden(host)
    const request = { snapshot: await atControl(host, session).snapshot({}), requestKey: freshKey() }
    const [first, twin] = await Promise.all([host.restore(null, request), host.restore(null, request)])
    expect(twin).toEqual(first)
    await atControl(host, first.session).step({ action: water(1), seq: 3 })
    expect(await host.restore(null, request)).toEqual(first)
    const invalid = { code: 'invalid-params', message: expect.stringContaining('Make a new key') }
    const snapshot = await atControl(host, session).snapshot({ at: 1 })
    await expect(host.restore(null, { ...request, snapshot })).rejects.toMatchObject(invalid)
    const { requestKey } = request
    const opening = asking({ environment: 'garden', seed: 'garden', requestKey })
    await expect(host.open(null, opening)).rejects.toMatchObject(invalid)
    const opened = asking({ environment: 'garden' })
    await host.open(null, opened)
    await expect(host.restore(null, { ...request, requestKey: opened.requestKey })).rejects.toMatchObject(invalid)
  })

  it('refuses what no session here can have been, and names it', async () => {
    const { host } = createGardenHost({ bounds: { sessions: 2 } })
    const { session } = await playGarden(host)
    const sound = await atControl(host, session).snapshot({})
    const { state } = sound
    const restore = (change: object) =>
      host.restore(null, { snapshot: { ...sound, ...change } as SessionSnapshot, requestKey: freshKey() })
    for (const [change, message] of [
      [{ params: { maxHeight: 'none' } }, 'snapshot.params: maxHeight'],
      [{ params: { maxHeight: 30, luck: 1 } }, 'snapshot.params holds what the environment does not declare'],
      [{ params: {} }, 'snapshot.params holds'],
      [{ state: { ...state, public: {} } }, 'snapshot.state.public: height'],
      [{ state: { ...state, private: { luck: 0.5 } } }, 'snapshot.state.private: luck'],
      [{ state: { ...state, private: { luck: 1, more: 1 } } }, 'snapshot.state.private holds'],
      [{ state: { ...state, public: { ...state.public, height: Number.NaN } } }, 'snapshot.state.public.height is NaN'],
      [{ seats: {} }, 'snapshot.seats names none'],
      [{ seats: { agent: { seq: 1 }, ghost: { seq: 0 } } }, 'snapshot.seats names agent, ghost'],
      [{ seats: { agent: { seq: 1_001 } } }, 'snapshot.seats.agent.seq is 1001'],
      [{ seats: { agent: { seq: 0.5 } } }, 'snapshot.seats.agent.seq is 0.5'],
      [{ limits: { ...sound.limits, steps: 2 } }, 'snapshot.seats.agent.seq is 3'],
      [{ limits: { ...sound.limits, steps: 1_000_001 } }, 'snapshot.limits: steps'],
      [{ limits: { ...sound.limits, bytes: 1e12 } }, 'snapshot.limits: bytes'],
      [{ now: 1e308 }, 'snapshot.now is 1e+308'],
      [{ history: [{}, {}, {}, {}, {}] }, 'snapshot.history has 5 entries, and a session remembers 4'],
      [{ history: [{ text: 'x'.repeat(10_000) }] }, 'snapshot.history has 10011 bytes'],
    ] as const)
      await expect(restore(change)).rejects.toMatchObject({
        code: 'invalid-params',
        message: expect.stringContaining(message),
      })
    await expect(restore({ limits: { ...sound.limits, bytes: 20 } })).rejects.toMatchObject({ code: 'too-large' })
    await expect(restore({ end: { kind: 'terminated', reason: 'grown' } })).rejects.toMatchObject({
      code: 'episode-ended',
    })
    for (const environment of [
      { name: 'garden', version: '2.0.0' },
      { name: 'desert', version: '1.0.0' },
    ])
      await expect(restore({ environment })).rejects.toMatchObject({ code: 'unknown-environment' })
    expect((await host.list({ limit: 9 })).total).toBe(1)
    await restore({})
    await expect(restore({})).rejects.toMatchObject({ code: 'capacity' })
  })

  it('applies the world’s own limits, not those of the snapshot', async () => {
    const { host } = createTestHost()
    const { session } = await host.open(null, asking({ environment: 'workshop' }))
    await atControl(host, session).step(call('take', {}, 0))
    const snapshot = await atControl(host, session).snapshot({})
    const limits = { steps: 1_000_000, seconds: 60, bytes: 500 }
    const restored = await host.restore(null, { snapshot: { ...snapshot, limits }, requestKey: freshKey() })
    expect(restored.limits).toEqual({ steps: 13, seconds: 60, bytes: 500 })
    // What the world leaves open is bound by what an opener may ask for; what it sets is not the caller's to exceed.
    const beyond = { ...limits, steps: Number.MAX_SAFE_INTEGER }
    const again = await host.restore(null, { snapshot: { ...snapshot, limits: beyond }, requestKey: freshKey() })
    expect(again.limits).toEqual(restored.limits)
  })

  it('keeps nothing of a state that the rules cannot show, and reports the fault', async () => {
    const { host } = createGardenHost()
    const { session } = await playGarden(host)
    const snapshot = await atControl(host, session).snapshot({})
    const blind = {
      ...garden,
      observe() {
        throw new Error('I see nothing.')
      },
    } satisfies ReturnType<typeof defineEnvironment>
    const { host: other, faults } = createTestHost({ environments: [blind] })
    await expect(other.restore(null, { snapshot, requestKey: freshKey() })).rejects.toMatchObject({
      code: 'environment-failed',
    })
    expect(faults).toHaveLength(1)
    expect((await other.list({ limit: 9 })).total).toBe(0)
  })
})
