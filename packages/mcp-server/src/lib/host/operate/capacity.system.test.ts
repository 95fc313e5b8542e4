import { WireError } from '@episodic/protocol'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { openSqliteFile } from '../../fixtures/sqlite-file.fixture.ts'
import { asking, call, createTestHost } from '../../fixtures/testbed.fixture.ts'
import type { Principal } from '../access/caller.ts'
import type { Host } from '../host.ts'

const STORES: Readonly<Record<string, () => Promise<SessionStore>>> = {
  memory: async () => createMemoryStore(),
  sqlite: openSqliteFile,
}

/** Opens many sessions at once; resolves with how many were opened and the errors of the others. */
async function openAtOnce(host: Host, principals: readonly Principal[]) {
  const opened = await Promise.allSettled(principals.map((principal) => host.open(principal, asking())))
  const refusals = opened.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  for (const refusal of refusals) {
    expect(WireError.is(refusal, 'capacity')).toBe(true)
    expect(refusal.details).toEqual({ retryAfterSeconds: 30 })
  }
  return { opened: opened.length - refusals.length, refused: refusals.length }
}

const times = (count: number, principal: Principal): Principal[] => Array.from({ length: count }, () => principal)

describe.each(Object.keys(STORES))('the cap on sessions, in %s', (name) => {
  const openStore = STORES[name] as () => Promise<SessionStore>

  it('is exact, however many open at once and in however many waves', async () => {
    const store = await openStore()
    const { host } = createTestHost({ store, bounds: { sessions: 40 } })
    expect(await openAtOnce(host, times(30, null))).toEqual({ opened: 30, refused: 0 })
    expect(await openAtOnce(host, times(100, null))).toEqual({ opened: 10, refused: 90 })
    expect(await store.count()).toBe(40)
  })

  it('gives the place of a failed open to the next one in the queue', async () => {
    const { host } = createTestHost({ store: await openStore(), bounds: { sessions: 1 } })
    const opens = [asking({ params: { low: 'x' } }), asking(), asking()].map((request) => host.open(null, request))
    const codes = (await Promise.allSettled(opens)).map((result) =>
      result.status === 'rejected' ? (result.reason as WireError).code : 'opened',
    )
    expect(codes).toEqual(['invalid-params', 'opened', 'capacity'])
  })

  it('counts twins of one request once', async () => {
    const { host } = createTestHost({ store: await openStore(), bounds: { sessions: 1 } })
    const request = asking()
    const [first, ...twins] = await Promise.all([1, 2, 3].map(() => host.open('anna', request)))
    expect(twins).toEqual([first, first])
  })

  it('never ends a session for another', async () => {
    const { host } = createTestHost({ store: await openStore(), bounds: { sessions: 3, sessionsPerPrincipal: 2 } })
    const kept = await Promise.all([1, 2].map(() => host.open('anna', asking())))
    await host.open('ben', asking())
    await openAtOnce(host, [...times(20, 'anna'), ...times(20, 'ben')])
    for (const { session } of kept) await atControl(host, session, 'anna').step(call('guess', { value: 1 }))
  })
})

describe.each(Object.keys(STORES))('the quota of a principal, in %s', (name) => {
  const openStore = STORES[name] as () => Promise<SessionStore>
  const bounds = { sessions: 100, sessionsPerPrincipal: 5 }

  it('is exact under any number of opens at once, and does not affect other owners', async () => {
    const store = await openStore()
    const { host } = createTestHost({ store, bounds })
    const mixed = times(20, 'anna').flatMap((anna, i) => (i % 5 === 0 ? [anna, 'ben', null] : [anna]))
    expect(await openAtOnce(host, mixed)).toEqual({ opened: 5 + 4 + 4, refused: 15 })
    expect(await openAtOnce(host, times(3, 'ben'))).toEqual({ opened: 1, refused: 2 })
    expect(await store.count()).toBe(14)
  })

  it('is free again after closing and after expiring', async () => {
    const { host, clock } = createTestHost({ store: await openStore(), bounds })
    const [first] = await Promise.all(times(5, 'anna').map((anna) => host.open(anna, asking())))
    await atControl(host, first?.session as string, 'anna').close()
    expect(await openAtOnce(host, times(3, 'anna'))).toEqual({ opened: 1, refused: 2 })
    clock.advance(1_000_000)
    await expect.poll(() => host.sweep().then(() => host.list({ limit: 1 }))).toMatchObject({ total: 0 })
    expect(await openAtOnce(host, times(6, 'anna'))).toEqual({ opened: 5, refused: 1 })
  })

  it('counts what an earlier server and another one opened', async () => {
    const store = await openStore()
    const earlier = createTestHost({ store, bounds }).host
    await openAtOnce(earlier, times(3, 'anna'))
    const { host } = createTestHost({ store, bounds })
    expect(await openAtOnce(host, times(5, 'anna'))).toEqual({ opened: 2, refused: 3 })
    // What others did is seen at the next sweep.
    await earlier.sweep()
    expect(await openAtOnce(earlier, times(2, 'anna'))).toEqual({ opened: 0, refused: 2 })
  })
})

describe('a full quota', () => {
  it('says whose bound it is, and when to come back', async () => {
    const { host } = createTestHost({ bounds: { sessionsPerPrincipal: 1 } })
    const request = asking()
    const opened = await host.open('anna', request)
    await expect(host.open('anna', asking())).rejects.toMatchObject({
      code: 'capacity',
      message: expect.stringContaining(
        'You have 1 of the 1 sessions that one principal may have, and 1 more were asked for.',
      ),
      details: { retryAfterSeconds: 30 },
    })
    expect(await host.open('anna', request)).toEqual(opened)
  })
})
