import { createRng, DEFAULT_SEAT, META, METHODS, type OpenResult } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { atCapability, atControl } from '../fixtures/addressed.fixture.ts'
import {
  asking,
  call,
  createTestHost,
  initialize,
  type RawAnswer,
  rpc,
  send,
  serveTestHost,
} from '../fixtures/testbed.fixture.ts'
import { workshop } from '../fixtures/workshop.fixture.ts'
import type { HttpServer } from '../http/serve-http.ts'

const guess = (value: number) => ({ name: 'guess', arguments: { value } })
const NOT_FOUND = expect.objectContaining({ code: 'session-not-found' })
const tokens = { 'anna-has-a-long-bearer-token': 'anna', 'ben-has-a-longer-bearer-token': 'ben' }
const [ANNA, BEN] = Object.keys(tokens).map((token) => ({ authorization: `Bearer ${token}` })) as [Bearer, Bearer]
type Bearer = { authorization: string }

async function serveTwo(hostOptions = {}) {
  return serveTestHost({ auth: { agentTokens: tokens, controlTokens: tokens } }, hostOptions)
}

async function open(server: HttpServer, headers: Bearer): Promise<OpenResult> {
  const { json } = await rpc(server.trainerUrl, METHODS.open, asking(), headers)
  return json.result as unknown as OpenResult
}

const capabilityOf = ({ seats }: OpenResult) => seats[DEFAULT_SEAT]?.capability as string

/** An answer without what the clock decides. */
function bytesOf({ status, headers: { date: _, ...headers }, text }: RawAnswer): string {
  return JSON.stringify({ status, headers, text })
}

describe('a session of another owner (invariant 5)', () => {
  /** Everything that can be asked of a session at the trainer endpoint. */
  const TRAINER: Readonly<Record<string, (session: string) => [method: string, params: object]>> = {
    step: (session) => ['tools/call', { ...guess(1), _meta: { [META.session]: session, [META.seq]: 0 } }],
    'step of an old epoch': (session) => [
      'tools/call',
      { ...guess(1), _meta: { [META.session]: session, [META.seq]: 9, [META.epoch]: 0 } },
    ],
    'refused step': (session) => ['tools/call', { name: 'peek', _meta: { [META.session]: session } }],
    state: (session) => [METHODS.state, { session }],
    watch: (session) => [METHODS.watch, { session }],
    snapshot: (session) => [METHODS.snapshot, { session }],
    'snapshot of a step': (session) => [METHODS.snapshot, { session, at: 99 }],
    fork: (session) => [METHODS.fork, { session, requestKey: 'k'.repeat(20) }],
    close: (session) => [METHODS.close, { session }],
  }

  it('answers like one that was closed, has expired, or never was: byte for byte, at the trainer endpoint', async () => {
    const { host, clock, server } = await serveTwo({ bounds: { idleSeconds: 60 } })
    const [closed, expired, ended] = [await open(server, BEN), await open(server, BEN), await open(server, BEN)]
    await rpc(server.trainerUrl, METHODS.close, { session: closed.session }, BEN)
    clock.advance(50_000)
    await rpc(server.trainerUrl, METHODS.state, { session: ended.session }, BEN)
    clock.advance(30_000)
    await expect.poll(() => host.sweep().then(() => host.list({ limit: 10 }))).toMatchObject({ total: 1 })
    const annas = await open(server, ANNA)
    const before = await atControl(host, annas.session, 'anna').state()
    const unknown = `ctl_${'0'.repeat(44)}`
    const otherHandles = {
      "anna's": annas.session,
      "anna's with a changed proof": `${annas.session.slice(0, -1)}${annas.session.endsWith('A') ? 'B' : 'A'}`,
      "anna's capability": capabilityOf(annas),
      "anna's id": annas.id,
      'her id in a handle': `ctl_${annas.id}${'0'.repeat(22)}`,
      closed: closed.session,
      expired: expired.session,
      'no handle': 'x',
      empty: '',
      long: `ctl_${'x'.repeat(5_000)}`,
    }
    for (const [what, ask] of Object.entries(TRAINER)) {
      const expected = bytesOf(await rpc(server.trainerUrl, ...ask(unknown), BEN))
      expect(expected).toContain('session-not-found')
      for (const [whose, handle] of Object.entries(otherHandles))
        expect(bytesOf(await rpc(server.trainerUrl, ...ask(handle), BEN)), `${what}, ${whose}`).toBe(expected)
    }
    expect(await atControl(host, annas.session, 'anna').state()).toEqual(before)
  })

  it('answers so at the agent endpoint too', async () => {
    const { host, clock, server } = await serveTwo({ bounds: { idleSeconds: 60 } })
    const expired = await initialize(server.agentUrl, BEN)
    const ended = await initialize(server.agentUrl, BEN)
    clock.advance(61_000)
    await send(server.agentUrl, { method: 'DELETE', headers: { ...BEN, ...ended } })
    const annas = await initialize(server.agentUrl, ANNA)
    await rpc(server.agentUrl, 'tools/call', guess(1), { ...ANNA, ...annas })
    const ask: Readonly<Record<string, (id: string) => Promise<RawAnswer>>> = {
      call: (id) => rpc(server.agentUrl, 'tools/call', guess(1), { ...BEN, 'mcp-session-id': id }),
      'call of no tool': (id) => rpc(server.agentUrl, 'tools/call', { name: 'peek' }, { ...BEN, 'mcp-session-id': id }),
      list: (id) => rpc(server.agentUrl, 'tools/list', {}, { ...BEN, 'mcp-session-id': id }),
      ping: (id) => rpc(server.agentUrl, 'ping', {}, { ...BEN, 'mcp-session-id': id }),
      delete: (id) => send(server.agentUrl, { method: 'DELETE', headers: { ...BEN, 'mcp-session-id': id } }),
    }
    for (const [what, asked] of Object.entries(ask)) {
      const unknown = bytesOf(await asked('mcp_unknown'))
      expect(unknown).toContain('404')
      for (const { 'mcp-session-id': id } of [annas, expired, ended])
        expect(bytesOf(await asked(id)), what).toBe(unknown)
    }
    expect((await host.list({ limit: 10 })).sessions).toMatchObject([{ owner: 'anna', steps: 1, end: null }])
  })

  it('answers so at a session URL that is closed, has expired, or was made up', async () => {
    const { host, clock, server } = await serveTwo({ bounds: { idleSeconds: 60 } })
    const [closed, expired] = [await open(server, ANNA), await open(server, ANNA)]
    await rpc(server.trainerUrl, METHODS.close, { session: closed.session }, ANNA)
    clock.advance(61_000)
    await expect.poll(() => host.sweep().then(() => host.list({ limit: 1 }))).toMatchObject({ total: 0 })
    for (const [method, params] of [
      ['tools/call', guess(1)],
      ['tools/list', {}],
      ['ping', {}],
    ] as const) {
      const ask = (capability: string) => rpc(server.sessionUrl(capability), method, params, BEN)
      const unknown = bytesOf(await ask(`cap_0${'0'.repeat(44)}`))
      for (const opened of [closed, expired]) expect(bytesOf(await ask(capabilityOf(opened)))).toBe(unknown)
      expect(bytesOf(await ask(closed.session))).toBe(unknown)
    }
  })

  it('gets the same answer even if it can no longer be played here', async () => {
    const store = createMemoryStore()
    const opened = await createTestHost({ store }).host.open('anna', asking())
    const { host } = createTestHost({ store, environments: [workshop] })
    await expect(atControl(host, opened.session, 'anna').state()).rejects.toMatchObject({ code: 'unknown-environment' })
    for (const other of ['ben', '', null])
      await expect(atControl(host, opened.session, other).state()).rejects.toThrow(NOT_FOUND)
    await expect(atControl(host, `ctl_${opened.id}${'0'.repeat(22)}`, 'anna').state()).rejects.toThrow(NOT_FOUND)
  })

  it('is in the lists of its owner and the operator only', async () => {
    const { server } = await serveTwo()
    const annas = [await open(server, ANNA), await open(server, ANNA)].map(({ id }) => id).sort()
    const [bens] = [await open(server, BEN)]
    const list = async (headers: Bearer, params = {}) =>
      (await rpc(server.trainerUrl, METHODS.sessions, params, headers)).json.result as unknown as {
        total: number
        sessions: { id: string }[]
      }
    const idsOf = async (headers: Bearer, params = {}) => (await list(headers, params)).sessions.map(({ id }) => id)
    expect(await idsOf(ANNA)).toEqual(annas)
    expect(await idsOf(ANNA, { after: annas[0] })).toEqual(annas.slice(1))
    expect(await idsOf(ANNA, { limit: 1 })).toEqual(annas.slice(0, 1))
    expect((await list(ANNA, { limit: 1 })).total).toBe(2)
    expect(await idsOf(BEN)).toEqual([bens.id])
    const operator = { authorization: `Bearer ${server.controlToken}` }
    expect(await idsOf(operator)).toEqual([...annas, bens.id].sort())
    const { json } = await rpc(server.trainerUrl, METHODS.state, { session: bens.session }, operator)
    expect(json.error?.data).toEqual({ code: 'session-not-found' })
  })
})

describe('a handle', () => {
  const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

  it('is not hit by any guess of one other character, nor by thousands near it', async () => {
    const { host } = createTestHost()
    const opened = await host.open('anna', asking())
    const capability = capabilityOf(opened)
    const rng = createRng('guesses').stream('digits')
    let hits = 0
    let guesses = 0
    const tryOut = async (control: string, agent: string) => {
      guesses += 2
      if (control !== opened.session) hits += await knock(atControl(host, control, 'anna').state())
      if (agent !== capability) hits += await knock(atCapability(host, agent).step(call('guess', { value: 1 })))
    }
    for (let place = 4; place < capability.length; place++)
      for (const digit of DIGITS)
        await tryOut(replaced(opened.session, place, digit), replaced(capability, place, digit))
    for (let i = 0; i < 2_000; i++) {
      let [control, agent] = [opened.session, capability]
      for (let changes = rng.int(1, 4); changes > 0; changes--) {
        control = replaced(control, rng.int(26, control.length - 1), rng.pick([...DIGITS]))
        agent = replaced(agent, rng.int(27, agent.length - 1), rng.pick([...DIGITS]))
      }
      await tryOut(control, agent)
    }
    expect(guesses).toBeGreaterThan(9_000)
    expect(hits).toBe(0)
    expect(await atControl(host, opened.session, 'anna').state()).toMatchObject({ revision: 0 })
  })

  it('is like no other, and has no part in common with another', async () => {
    const { host } = createTestHost({ bounds: { sessions: 2_000 } })
    const opened = await Promise.all(Array.from({ length: 2_000 }, () => host.open('anna', asking())))
    for (const secrets of [
      opened.map(({ session }) => session.slice(-22)),
      opened.map((o) => capabilityOf(o).slice(-22)),
    ]) {
      expect(new Set(secrets).size).toBe(2_000)
      for (let place = 0; place < 21; place++)
        // 64 digits, evenly drawn: a place that is fixed, or shares its bits, would have far fewer.
        expect(new Set(secrets.map((secret) => secret[place])).size).toBe(64)
    }
  })

  it('that is guessed neither keeps a session from expiring nor loads it into the cache', async () => {
    const { host, clock } = createTestHost({ bounds: { idleSeconds: 60 } })
    const { id, session } = await host.open('anna', asking())
    clock.advance(59_000)
    for (const guessed of [session, `ctl_${id}${'0'.repeat(22)}`])
      await expect(atControl(host, guessed, 'ben').state()).rejects.toThrow(NOT_FOUND)
    clock.advance(2_000)
    await expect.poll(() => host.sweep().then(() => host.list({ limit: 1 }))).toMatchObject({ total: 0 })
  })
})

async function knock(asked: Promise<unknown>): Promise<number> {
  return asked.then(
    () => 1,
    () => 0,
  )
}

function replaced(text: string, place: number, digit: string): string {
  return text.slice(0, place) + digit + text.slice(place + 1)
}
