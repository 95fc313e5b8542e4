import { WireError } from '@episodic/protocol'
import { createManualClock, type SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineEnvironment } from '../environment/definition/define-environment.ts'
import type { Tool } from '../environment/definition/environment.ts'
import { rehearse } from '../environment/rehearse/rehearse.ts'
import { atControl } from '../fixtures/addressed.fixture.ts'
import { call, freshKey } from '../fixtures/testbed.fixture.ts'
import { createHost } from './create-host.ts'

type Rows = Record<string, { status: string; note: string }>

/** Rows as a module reads them from a file: `isFrozen` says whether at every depth. */
function rowsOf(isFrozen: boolean): Rows {
  const rows = Object.fromEntries(
    Array.from({ length: 300 }, (_, i) => [`row-${i}`, { status: 'open', note: `a note on row ${i}` }]),
  )
  return JSON.parse(JSON.stringify(rows), (_, value) => (isFrozen ? Object.freeze(value) : value))
}

/** A world that begins with the same rows in each session, and the number of rows that its schema has parsed. */
function shopOf(rows: Rows) {
  const parsed = { rows: 0 }
  const row = z.object({ status: z.string(), note: z.string() }).refine(() => {
    parsed.rows += 1
    return true
  })
  const shop = defineEnvironment({
    name: 'shop',
    version: '1.0.0',
    description: 'A shop.',
    params: z.object({ customer: z.string().default('anna') }),
    state: {
      public: z.object({ calls: z.int() }),
      private: z.object({ customer: z.string(), rows: z.record(z.string(), row) }),
    },
    start: ({ params }) => ({ public: { calls: 0 }, private: { customer: params.customer, rows } }),
    observe: ({ calls }) => `${calls} calls.`,
    tools: ({ tool }) => ({
      close: tool({
        description: 'Closes a row.',
        input: z.object({ row: z.string() }),
        play({ state, input, say, refuse }) {
          const found = state.private.rows[input.row]
          if (!found) return refuse('There is no such row.')
          found.status = 'closed'
          state.public.calls += 1
          return say(
            `${Object.values(state.private.rows).filter(({ status }) => status === 'closed').length} are closed.`,
          )
        },
      }),
    }),
    rewards: {},
  })
  return { shop, parsed }
}

describe('A large start that is frozen at every depth', () => {
  it('is parsed and stored once for all sessions that begin with it, and each changes its own', async () => {
    const { shop, parsed } = shopOf(rowsOf(true))
    const store = createMemoryStore()
    const host = createHost({ environments: [shop], store })
    const request = () => ({ environment: 'shop', requestKey: freshKey() })
    const open = () => host.open('trainer', request())
    const first = await open()
    const [rows, pages] = [parsed.rows, await store.countPages()]
    expect(rows).toBe(300)
    const others = await Promise.all(Array.from({ length: 5 }, open))
    expect(parsed.rows).toBe(rows)
    // Each has the first page of its state.
    expect(await store.countPages()).toBeLessThanOrEqual(pages + 10)
    for (const [i, { session }] of [first, ...others].entries()) {
      const { step } = await atControl(host, session, 'trainer').step(call('close', { row: `row-${i}` }))
      expect(step.observation.text).toContain('1 are closed.')
    }
    // Another customer is another start, with the same rows.
    const before = await store.countPages()
    const { session: bert } = await host.open('trainer', { ...request(), params: { customer: 'bert' } })
    expect(await store.countPages()).toBeLessThanOrEqual(before + 2)
    for (const session of [first, ...others].map((opened) => opened.session).concat(bert))
      await atControl(host, session, 'trainer').close()
    expect(await store.countPages()).toBe(0)
  })

  it('is written no more than twice for sessions that follow each other, and goes once nobody begins with it', async () => {
    const { shop } = shopOf(rowsOf(true))
    const bare = createMemoryStore()
    let written = 0
    const store: SessionStore = new Proxy(bare, {
      get: (target, name: keyof SessionStore) =>
        name === 'create'
          ? (...[session, shared, own]: Parameters<SessionStore['create']>) => {
              if (shared) written += 1
              return target.create(session, shared, own)
            }
          : (target[name] as () => unknown).bind(target),
    })
    const clock = createManualClock()
    const host = createHost({ environments: [shop], store, clock, bounds: { idleSeconds: 60 } })
    const playOne = async () => {
      const { session } = await host.open('trainer', { environment: 'shop', requestKey: freshKey() })
      const opened = atControl(host, session, 'trainer')
      await opened.step(call('close', { row: 'row-1' }))
      await opened.close()
    }
    for (let i = 0; i < 5; i++) await playOne()
    expect(written).toBe(2)
    clock.advance(59_000)
    await host.sweep()
    await playOne()
    expect(written).toBe(2)
    clock.advance(61_000)
    await host.sweep()
    for (let i = 0; i < 3; i++) await playOne()
    expect(written).toBe(3)
    expect(await bare.countPages()).toBe(0)
    await host[Symbol.asyncDispose]()
    const next = createHost({ environments: [shop], store, clock })
    await next.open('trainer', { environment: 'shop', requestKey: freshKey() })
    expect(written).toBe(4)
  })

  it('is parsed for each session if anything in it can still change', async () => {
    const rows = rowsOf(false)
    const { shop, parsed } = shopOf(rows)
    const host = createHost({ environments: [shop] })
    await host.open('trainer', { environment: 'shop', requestKey: freshKey() })
    Object.assign(rows['row-0'] as object, { note: 'changed between two sessions' })
    const { session } = await host.open('trainer', { environment: 'shop', requestKey: freshKey() })
    expect(parsed.rows).toBe(600)
    const { state } = await atControl(host, session, 'trainer').state()
    expect(state.private.rows).toMatchObject({ 'row-0': { note: 'changed between two sessions' } })
  })

  it('is refused as any other start is, with the place of the problem', async () => {
    const rows = JSON.parse(JSON.stringify({ ...rowsOf(true), 'row-7': { status: 1, note: '' } }), (_, value) =>
      Object.freeze(value),
    )
    const host = createHost({ environments: [shopOf(rows).shop] })
    const error = await host
      .open('trainer', { environment: 'shop', requestKey: freshKey() })
      .catch((caught: unknown) => caught)
    expect(WireError.is(error, 'environment-failed')).toBe(true)
    expect((error as Error).message).toContain('rows.row-7.status')
  })
})

describe('Rules of a large state', () => {
  /** A world of 300 rows with one tool, which leaves something in a row, and an `observe` of its own. */
  function worldOf(left: unknown, observe: (state: { calls: number }) => string) {
    return defineEnvironment({
      name: 'left',
      version: '1.0.0',
      description: 'A world.',
      params: z.object({}),
      state: { public: z.object({ calls: z.int(), pad: z.string() }), private: z.object({ left: z.unknown() }) },
      start: () => ({ public: { calls: 0, pad: 'x'.repeat(10_000) }, private: { left: null } }),
      observe,
      tools: ({ tool }) => ({
        leave: tool({
          description: 'Leaves it.',
          input: z.object({}),
          play({ state, say }) {
            state.public.calls += 1
            state.private.left = left
            return say('Left.')
          },
        }),
      }),
      rewards: {},
    })
  }

  async function failureOf(world: ReturnType<typeof worldOf>): Promise<{ error: unknown; calls: unknown }> {
    const host = createHost({ environments: [world] })
    const { session } = await host.open('trainer', { environment: 'left', requestKey: freshKey() })
    const control = atControl(host, session, 'trainer')
    const error = await control.step(call('leave', {})).catch((caught: unknown) => caught)
    return { error, calls: (await control.state()).state.public.calls }
  }

  it('cannot change it outside of a tool', async () => {
    let isStarted = false
    const world = worldOf(1, (state) => {
      if (isStarted) state.calls = 7
      isStarted = true
      return 'Seen.'
    })
    const { error, calls } = await failureOf(world)
    expect((error as Error).message).toContain('calls of it was to be changed. Change it in a tool.')
    expect(calls).toBe(0)
  })

  it('fail with the name of what JSON cannot say, and nothing is changed', async () => {
    const { error, calls } = await failureOf(worldOf(Number.NaN, () => 'Seen.'))
    expect((error as Error).message).toContain('state.private.left is NaN')
    expect(calls).toBe(0)
  })
})

describe('A strict rehearsal of a large state', () => {
  it('checks what a step has changed, and names the place', () => {
    const { shop, parsed } = shopOf(rowsOf(true))
    const world = rehearse(withTools(shop, { closed: 7 }), { strict: true })
    const before = parsed.rows
    expect(() => world.play('close', { row: 'row-7' })).toThrow(
      /left a wrong private state: rows\.row-7\.status: Invalid input/,
    )
    const undeclared = rehearse(withTools(shop, { closed: 'closed', extra: 1 }), { strict: true })
    expect(() => undeclared.play('close', { row: 'row-8' })).toThrow(/"rows\.row-8\.extra" is not declared/)
    const sound = rehearse(shop, { strict: true })
    expect(sound.play('close', { row: 'row-9' }).refused).toBeNull()
    // The start was parsed before, and a step has one row of 300 parsed. A wrong status is found before its row is.
    expect(parsed.rows - before).toBe(2)
  })

  /** The shop with a tool that leaves something else in a row. */
  function withTools(
    shop: ReturnType<typeof shopOf>['shop'],
    { closed, ...more }: { closed: unknown; extra?: unknown },
  ) {
    const { close } = shop.tools as unknown as Record<'close', Tool>
    const play: Tool['play'] = (context) => {
      const answer = close.play(context)
      const { state, input } = context as unknown as { state: { private: { rows: Rows } }; input: { row: string } }
      Object.assign(state.private.rows[input.row] as object, { status: closed, ...more })
      return answer
    }
    return { ...shop, tools: { close: { ...close, play } } }
  }
})

describe('The state of a large session', () => {
  it('is read-only for a program in the same process, which gets it without a copy', async () => {
    const host = createHost({ environments: [shopOf(rowsOf(true)).shop] })
    const { session } = await host.open('trainer', { environment: 'shop', requestKey: freshKey() })
    const { state } = await atControl(host, session, 'trainer').state()
    expect((state.private.rows as unknown as Rows)['row-7']).toEqual({ status: 'open', note: 'a note on row 7' })
    expect(() => Object.assign(state.public, { calls: 7 })).toThrow(TypeError)
    expect(structuredClone(state)).toEqual(JSON.parse(JSON.stringify(state)))
  })
})
