import type { OpenResult } from '@episodic/protocol'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { environmentRules } from '../environment/rules/environment-rules.ts'
import { atCapability, atControl } from '../fixtures/addressed.fixture.ts'
import { asking, call, controlHeaders, createTestHost, freshKey, rpc, serve } from '../fixtures/testbed.fixture.ts'
import { SAFE_CODE, warehouse } from '../fixtures/warehouse.fixture.ts'

const ROWS = 800
const SAFE = `o${ROWS / 2}`

/** A store that counts the pages that are read from it. */
function countingStore() {
  const store = createMemoryStore()
  const read: string[] = []
  const counting = new Proxy<SessionStore>(store, {
    get(target, key) {
      if (key === 'readPages')
        return (id: string, names: readonly string[]) => {
          read.push(...names)
          return target.readPages(id, names)
        }
      const value = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { store: counting, read }
}

async function openWarehouse(store: SessionStore = createMemoryStore()) {
  const { host, faults } = createTestHost({ environments: [warehouse], store })
  const opened = await host.open(null, asking({ environment: 'warehouse', params: { rows: ROWS }, seed: 'seed' }))
  return { host, faults, opened, control: atControl(host, opened.session) }
}

const capabilityOf = ({ seats }: OpenResult) => Object.values(seats)[0]?.capability as string

describe('a session with a large state', () => {
  it('is forked, at any step, and reads no page but those that were changed since', async () => {
    const { store, read } = countingStore()
    const { host, control } = await openWarehouse(store)
    await control.step(call('cancel', { id: 'o1' }))
    await control.step(call('cancel', { id: 'o2' }))
    const [now] = await control.fork({ requestKey: freshKey() })
    const [before] = await control.fork({ requestKey: freshKey(), at: 1 })
    expect(read.length).toBeLessThanOrEqual(8)
    const answers = []
    for (const fork of [now, before]) {
      const { step } = await atControl(host, fork?.session as string).step(call('cancel', { id: 'o2' }))
      answers.push(step.observation.text.split('\n')[0])
    }
    expect(answers).toEqual(['There is no such open order.', 'Cancelled.'])
  })

  it('is read as it was after any of its steps, without playing them again, also by another server', async () => {
    const store = createMemoryStore()
    const plays = vi.spyOn(environmentRules, 'play')
    onTestFinished(() => plays.mockRestore())
    const open = () => createTestHost({ environments: [warehouse], store }).host
    const first = open()
    const opened = await first.open(null, asking({ environment: 'warehouse', params: { rows: ROWS }, seed: 'seed' }))
    const control = atControl(first, opened.session)
    const seen = []
    for (let i = 0; i < 12; i++) {
      if (i % 3 === 1) await control.publish({ id: `e${i}`, type: 'arrive', data: { customer: 'Ann' } })
      await control.step(call(i % 4 === 0 ? 'remove' : 'cancel', { id: `o${i * 7}` }))
      seen.push(await control.snapshot({}))
    }
    await control.publish({ id: 'last', type: 'arrive', data: { customer: 'Bob' } })
    expect(plays).toHaveBeenCalledTimes(12)
    for (const host of [first, open()])
      for (const [index, snapshot] of seen.entries())
        expect(await atControl(host, opened.session).snapshot({ at: index + 1 })).toEqual(snapshot)
    expect(plays).toHaveBeenCalledTimes(12)
  })

  it('is forked from fork to fork, and reads few pools, although its ancestors are closed', async () => {
    const store = createMemoryStore()
    const { host, opened } = await openWarehouse(store)
    let { id, session } = opened
    for (let i = 0; i < 70; i++) {
      const parent = atControl(host, session)
      await parent.step(call('cancel', { id: `o${i}` }))
      const [fork] = await parent.fork({ requestKey: freshKey() })
      await parent.close()
      ;({ id, session } = fork as OpenResult)
      expect((await store.read(id))?.pools.length).toBeLessThanOrEqual(32)
    }
    const { host: other } = createTestHost({ environments: [warehouse], store })
    const { state } = await atControl(other, session).state()
    const orders = Object.values(state.private.orders as Record<string, { status: string }>)
    expect(orders).toHaveLength(ROWS)
    expect(orders.slice(0, 70).filter(({ status }) => status === 'open')).toEqual([])
    await atControl(other, session).close()
    expect(await store.countPages()).toBe(0)
  })

  it('withholds an answer with a secret of one of its rows', async () => {
    const { host, opened, faults } = await openWarehouse()
    const player = atCapability(host, capabilityOf(opened))
    const { secrets } = await player.view()
    expect(secrets.suspects(`It is ${SAFE_CODE}.`)).toBe(true)
    const { step } = await player.step(call('read', { id: SAFE }))
    expect(step.observation.text).toContain(SAFE_CODE)
    expect(() =>
      secrets.assertAbsent({
        text: step.observation.text,
        worldText: () => step.observation.text,
        callerText: () => '',
      }),
    ).toThrow()
    expect(JSON.stringify(faults)).not.toContain(SAFE_CODE)
  })

  it('comes back from a snapshot, with the hash that it had', async () => {
    const { host, control } = await openWarehouse()
    await control.publish({ id: 'e1', type: 'arrive', data: { customer: 'Ann' } })
    await control.step(call('remove', { id: 'o7' }))
    const restored = await host.restore(null, { snapshot: await control.snapshot({}), requestKey: freshKey() })
    const again = atControl(host, restored.session)
    expect((await again.state()).state).toEqual((await control.state()).state)
    const [one, other] = [
      await control.step(call('cancel', { id: 'o9' })),
      await again.step(call('cancel', { id: 'o9' })),
    ]
    expect(other.step.report.stateHash).toBe(one.step.report.stateHash)
  })

  it('comes back from a snapshot of more than a request of an agent may have, over HTTP', async () => {
    const { host } = createTestHost({ environments: [warehouse] })
    const server = await serve(host)
    const trainer = controlHeaders(server)
    const ask = async (method: string, params: object) =>
      (await rpc(server.trainerUrl, method, params, trainer)).json.result as Record<string, string>
    const opened = await ask('environment/open', asking({ environment: 'warehouse', params: { rows: 12_000 } }))
    const { snapshot } = await ask('environment/snapshot', { session: opened.session })
    expect(JSON.stringify(snapshot).length).toBeGreaterThan(1_048_576)
    const restored = await ask('environment/restore', { snapshot, requestKey: freshKey() })
    const stateOf = async (session = '') => (await ask('environment/state', { session })).state
    expect(await stateOf(restored.session)).toEqual(await stateOf(opened.session))
  })

  it('is listed with its own bytes, and with those that others share with it', async () => {
    const { host, control } = await openWarehouse()
    await control.fork({ requestKey: freshKey(), count: 3 })
    const whole = JSON.stringify((await control.state()).state).length
    const { sessions } = await host.list({ limit: 10 })
    expect(sessions.map(({ shared }) => shared)).toEqual([whole, whole, whole, whole])
    for (const { bytes } of sessions) expect(bytes).toBeLessThan(2_000)
  })

  it('is dumped without its private part, and with it but without its secrets', async () => {
    const { host, control, opened } = await openWarehouse()
    await control.step(call('cancel', { id: 'o1' }))
    const dumped = async (all: boolean) =>
      JSON.stringify(await host.dump({ id: opened.id, private: all, after: 0, limit: 10 }))
    expect(await dumped(false)).not.toContain('Leave it at gate')
    const whole = await dumped(true)
    expect(whole).toContain('Leave it at gate 9.')
    expect(whole).not.toContain(SAFE_CODE)
  })
})
