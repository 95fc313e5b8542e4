import { WireError } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineEnvironment } from '../../environment/definition/define-environment.ts'
import { rehearse } from '../../environment/rehearse/rehearse.ts'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { createExchange, createMarket, type Exchange } from '../../fixtures/market.fixture.ts'
import { asking, call, connectClient, createTestHost, freshKey, serve } from '../../fixtures/testbed.fixture.ts'
import { ServerError } from '../../server-error.ts'

/** Creates a host of a market with its own exchange, and opens one session. */
async function openMarket({ exchange = createExchange(), ...options }: { exchange?: Exchange } & TestOptions = {}) {
  const testbed = createTestHost({ environments: [createMarket(exchange)], ...options })
  const opened = await testbed.host.open(null, asking({ environment: 'market', seed: 'seed' }))
  const control = opened.session
  return {
    ...testbed,
    exchange,
    control,
    capability: opened.seats.agent?.capability as string,
    play: (tool: string, shares: number, seq?: number) =>
      atControl(testbed.host, control).step(call(tool, { shares }, seq)),
    state: () => atControl(testbed.host, control).state(),
  }
}
type TestOptions = NonNullable<Parameters<typeof createTestHost>[0]>

/** An exchange whose answers wait until the test gives them. */
function createSlowExchange() {
  const exchange = createExchange()
  const asked = Promise.withResolvers<AbortSignal>()
  const answer = Promise.withResolvers<number>()
  exchange.order = (_, signal) => {
    asked.resolve(signal)
    return answer.promise
  }
  return { exchange, asked: asked.promise, answer }
}

describe('prepare', () => {
  it('passes its result to the rules, and the report and the log keep it', async () => {
    const { play, host, control, exchange } = await openMarket()
    exchange.order = async (shares) => shares * 2
    const { step } = await play('quote', 4, 0)
    expect(step.observation.text).toMatch(/^The fee is 8\./)
    expect(step.report).toMatchObject({ seq: 1, prepared: { fee: 8 } })
    const { steps } = await atControl(host, control).watch({ after: 0, limit: 10, wait: 0 })
    expect(steps).toEqual([step])
    expect((await play('buy', 1)).step.report).not.toHaveProperty('prepared')
  })

  it('leaves out what its schema does not declare', async () => {
    const page = { text: 'What was asked for.', html: '<p>And all the rest.</p>' }
    const { host } = createTestHost({ environments: [createCounter(() => page)] })
    const { session } = await host.open(null, asking({ environment: 'counter' }))
    const { step } = await atControl(host, session).step(call('count'))
    expect(step.report.prepared).toEqual({ text: 'What was asked for.' })
  })

  it('gets the virtual time, and chance that follows from the seed and moves no stream', async () => {
    const { use } = rehearseDrawing('seed')
    const first = await use()
    expect(first).toMatchObject({ now: 0 })
    // The streams are where they were until the rules draw.
    expect(await use()).toEqual({ ...first, now: 250 })
    expect(await rehearseDrawing('seed').use()).toEqual(first)
    expect((await rehearseDrawing('another').use()).drawn).not.toBe(first.drawn)
  })

  it('sees the state, and cannot change it', async () => {
    const world = createCounter((state) => {
      Object.assign(state.public, { count: 9 })
      return {}
    })
    const { host, faults } = createTestHost({ environments: [world] })
    const { session } = await host.open(null, asking({ environment: 'counter' }))
    await expect(atControl(host, session).step(call('count'))).rejects.toMatchObject({ code: 'environment-failed' })
    expect(String(faults[0]?.cause)).toMatch(/read only property/)
    expect((await atControl(host, session).state()).state.public).toEqual({ count: 0 })
  })

  it('is asked for calls alone that reach the rules', async () => {
    const { play, exchange, clock, host } = await openMarket()
    const asked: number[] = []
    exchange.order = (shares) => {
      asked.push(shares)
      return 1
    }
    await play('quote', 1.5)
    await play('order', 0)
    expect(asked).toEqual([])
    const timed = await host.open(null, asking({ environment: 'market', limits: { seconds: 10 } }))
    clock.advance(10_000)
    const late = await atControl(host, timed.session).step(call('order', { shares: 1 }))
    expect(late.step.report).toMatchObject({ refused: 'time', end: { reason: 'time-limit' } })
    expect({ asked, orders: exchange.orders }).toEqual({ asked: [], orders: 0 })
  })

  it('is played though the time runs out meanwhile, because it came in time', async () => {
    const { exchange, asked, answer } = createSlowExchange()
    const { host, clock } = createTestHost({ environments: [createMarket(exchange)] })
    const { session } = await host.open(null, asking({ environment: 'market', limits: { seconds: 10 } }))
    clock.advance(9_000)
    const ordered = atControl(host, session).step(call('order', { shares: 1 }))
    await asked
    clock.advance(2_000)
    answer.resolve(1)
    expect((await ordered).step.report).toMatchObject({ refused: null, end: null })
    const late = await atControl(host, session).step(call('buy', { shares: 1 }))
    expect(late.step.report.refused).toBe('time')
  })

  it('is a fault if it throws, and changes nothing', async () => {
    const { play, exchange, state, faults } = await openMarket()
    exchange.order = () => {
      throw new Error('the line is dead')
    }
    await expect(play('quote', 1, 0)).rejects.toMatchObject({ code: 'environment-failed' })
    exchange.order = async () => Promise.reject(new Error('the line is still dead'))
    await expect(play('quote', 1, 0)).rejects.toMatchObject({ code: 'environment-failed' })
    expect(faults.map(({ cause }) => (cause as Error).message.split('\n')[0])).toEqual([
      'The preparation of tool quote threw: the line is dead',
      'The preparation of tool quote threw: the line is still dead',
    ])
    expect(await state()).toMatchObject({ revision: 0 })
    exchange.order = () => 7
    expect((await play('quote', 1, 0)).step.report).toMatchObject({ seq: 1, prepared: { fee: 7 } })
  })

  it.each([
    ['what its schema refuses', () => 'much' as never, /gave something else than `prepared` says: fee/],
    ['what JSON would change', () => -0, /gave what JSON cannot say: prepared\.fee is -0/],
  ])('is a fault if it returns %s', async (_, order, message) => {
    const { play, exchange, faults } = await openMarket()
    exchange.order = order
    await expect(play('quote', 1)).rejects.toMatchObject({ code: 'environment-failed' })
    expect(String(faults[0]?.cause)).toMatch(message)
  })

  it('is a fault if the service that it calls throws one of our errors, which is not returned as if it were ours', async () => {
    const { play, exchange, faults } = await openMarket()
    const elsewhere = new WireError('session-not-found', 'There is no such session at the exchange.')
    exchange.order = async () => Promise.reject(elsewhere)
    await expect(play('quote', 1, 0)).rejects.toMatchObject({ code: 'environment-failed' })
    await expect(play('order', 1, 0)).rejects.toMatchObject({ code: 'outcome-unknown' })
    expect(faults.map(({ cause }) => (cause as Error).cause)).toEqual([elsewhere, elsewhere])
  })

  it('is a fault if it returns more than the session may hold', async () => {
    const world = createCounter(() => ({ text: 'x'.repeat(1_000) }))
    const { host, faults } = createTestHost({ environments: [world] })
    const { session } = await host.open(null, asking({ environment: 'counter', limits: { bytes: 1_000 } }))
    await expect(atControl(host, session).step(call('count'))).rejects.toMatchObject({ code: 'environment-failed' })
    expect(String(faults[0]?.cause)).toMatch(/gave 1011 bytes, and the limit is 1000/)
  })

  it('has a time limit, after which its signal is aborted and it is not waited for', async () => {
    const { exchange, asked } = createSlowExchange()
    const { play, clock, faults } = await openMarket({ exchange })
    const quoting = play('quote', 1, 0)
    const signal = await asked
    clock.advance(4_999)
    expect(signal.aborted).toBe(false)
    clock.advance(1)
    await expect(quoting).rejects.toMatchObject({ code: 'environment-failed' })
    expect(signal.aborted).toBe(true)
    expect(String(faults[0]?.cause)).toMatch(/preparation of tool quote took more than 5 s/)
    expect((await play('buy', 1, 0)).step.report.seq).toBe(1)
  })

  it('ends with its caller, unless it has an effect outside', async () => {
    const { exchange, asked, answer } = createSlowExchange()
    const { host, control, play, faults } = await openMarket({ exchange })
    const caller = new AbortController()
    const waiting = { signal: caller.signal, report: undefined }
    const quoting = atControl(host, control).step({ ...call('quote', { shares: 1 }), waiting })
    const signal = await asked
    caller.abort(new Error('gone'))
    await expect(quoting).rejects.toThrow('gone')
    expect(signal.aborted).toBe(true)
    const again = new AbortController()
    const ordering = atControl(host, control).step({
      ...call('order', { shares: 1 }, 0),
      waiting: { signal: again.signal, report: undefined },
    })
    while (exchange.orders === 0) await new Promise(setImmediate)
    again.abort(new Error('gone'))
    answer.resolve(2)
    const { step } = await ordering
    expect(await play('order', 1, 0)).toMatchObject({ replayed: true, step })
    expect(faults).toEqual([])
  })

  it('holds its own session, and no other', async () => {
    const { exchange, asked, answer } = createSlowExchange()
    const { host, control, play } = await openMarket({ exchange })
    const order: string[] = []
    const quoting = play('quote', 1).then(() => order.push('quote'))
    await asked
    const buying = play('buy', 1).then(() => order.push('buy'))
    const event = { id: 'event-1', type: 'order-filled', data: {} }
    const publishing = atControl(host, control)
      .publish(event)
      .then(() => order.push('event'))
    const other = await host.open(null, asking({ environment: 'market' }))
    await atControl(host, other.session).step(call('buy', { shares: 1 }))
    order.push('another session')
    answer.resolve(1)
    await Promise.all([quoting, buying, publishing])
    expect(order).toEqual(['another session', 'quote', 'buy', 'event'])
  })

  it('does not block an event whose publisher has cancelled', async () => {
    const { exchange, asked, answer } = createSlowExchange()
    const { host, control, play, state } = await openMarket({ exchange })
    const quoting = play('quote', 1)
    await asked
    const stop = new AbortController()
    const event = { id: 'event-1', type: 'order-filled', data: {}, signal: stop.signal }
    const publishing = atControl(host, control)
      .publish(event)
      .catch((error: Error) => error.message)
    stop.abort(new Error('gone'))
    answer.resolve(1)
    await quoting
    expect(await publishing).toBe('gone')
    expect((await state()).state.private.log).toEqual([])
  })

  it('needs nothing from outside for a fork of an earlier step, or a rehearsal', async () => {
    const { host, control, play, exchange } = await openMarket()
    exchange.order = (shares) => shares
    await play('order', 3)
    await play('quote', 4)
    await play('buy', 5)
    exchange.order = () => {
      throw new Error('nobody may ask')
    }
    const { state } = await atControl(host, control).snapshot({ at: 2 })
    expect(state.public).toEqual({ price: 10, shares: 3, spent: 33 })
    const [fork] = await atControl(host, control).fork({ at: 1, requestKey: freshKey() })
    expect((await atControl(host, fork?.session as string).state()).state.public.spent).toBe(33)
    const world = rehearse(createMarket(exchange), { seed: 'seed', strict: true })
    expect(world.play('order', { shares: 3 }, { prepared: { fee: 3 } }).observation.structured).toEqual({ fee: 3 })
    expect(() => world.play('order', { shares: 3 })).toThrow(/prepares its steps, and this one comes with nothing/)
    expect(() => world.play('order', { shares: 3 }, { prepared: { fee: 'much' } })).toThrow(
      /What was prepared for order/,
    )
    expect(exchange.orders).toBe(1)
  })

  it('is reported to a plain client as a tool that failed, without its cause', async () => {
    const { host, capability, exchange } = await openMarket()
    exchange.order = () => {
      throw new Error('the password is swordfish')
    }
    const server = await serve(host)
    const { client } = await connectClient(server.sessionUrl(capability))
    const answer = await client.callTool({ name: 'quote', arguments: { shares: 1 } })
    expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('changed nothing') }] })
    expect(JSON.stringify(answer)).not.toContain('swordfish')
    const unknown = await client.callTool({ name: 'order', arguments: { shares: 1 } })
    expect(unknown).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('failed on the way') }] })
    expect(JSON.stringify(unknown)).not.toContain('swordfish')
    const again = await client.callTool({ name: 'order', arguments: { shares: 1 } })
    expect(again).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('is unknown') }] })
  })
})

describe('what is done outside once', () => {
  it('is not done again if the first try failed: whether it happened cannot be known', async () => {
    const { play, exchange, state, faults } = await openMarket()
    exchange.order = () => {
      throw new Error('the line went dead')
    }
    await expect(play('order', 1, 0)).rejects.toMatchObject({
      code: 'outcome-unknown',
      message: expect.stringContaining('failed on the way'),
    })
    expect(faults).toMatchObject([
      { reference: expect.any(String), cause: { cause: { message: 'the line went dead' } } },
    ])
    exchange.order = () => 1
    await expect(play('order', 1, 0)).rejects.toMatchObject({
      code: 'outcome-unknown',
      message: expect.stringContaining('its answer was lost'),
    })
    await expect(play('order', 1)).rejects.toMatchObject({ code: 'outcome-unknown' })
    expect(exchange.orders).toBe(1)
    expect((await state()).seats.agent?.seq).toBe(0)
  })

  it('is not reported as changing nothing if it was done and the rules then failed on its result', async () => {
    const { host, capability, exchange, faults } = await openMarket()
    exchange.order = () => -1
    const server = await serve(host)
    const { client } = await connectClient(server.sessionUrl(capability))
    const failed = await client.callTool({ name: 'order', arguments: { shares: 1 } })
    expect(failed).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('cannot be known') }] })
    expect(faults).toHaveLength(1)
    const again = await client.callTool({ name: 'order', arguments: { shares: 1 } })
    expect(again).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('is unknown') }] })
    expect(exchange.orders).toBe(1)
  })

  it('is done again on purpose, once another call was answered', async () => {
    const { play, exchange } = await openMarket()
    exchange.order = () => {
      throw new Error('the line went dead')
    }
    await expect(play('order', 1)).rejects.toMatchObject({ code: 'outcome-unknown' })
    exchange.order = () => 1
    await play('quote', 1)
    expect((await play('order', 1)).step.report.refused).toBeNull()
    expect(exchange.orders).toBe(2)
  })

  it('may be another thing instead', async () => {
    const { play, exchange } = await openMarket()
    exchange.order = () => {
      throw new Error('the line went dead')
    }
    await expect(play('order', 1, 0)).rejects.toMatchObject({ code: 'outcome-unknown' })
    exchange.order = () => 1
    expect((await play('order', 2, 0)).step.report).toMatchObject({ seq: 1, prepared: { fee: 1 } })
  })

  it('is done once if two servers of one store are asked at the same time', async () => {
    const store = createMemoryStore()
    const { exchange, asked, answer } = createSlowExchange()
    const { control, play } = await openMarket({ exchange, store })
    const other = createTestHost({ environments: [createMarket(exchange)], store }).host
    const first = play('order', 1, 0)
    await asked
    await expect(atControl(other, control).step(call('order', { shares: 1 }, 0))).rejects.toMatchObject({
      code: 'outcome-unknown',
    })
    answer.resolve(1)
    const { step } = await first
    expect(await atControl(other, control).step(call('order', { shares: 1 }, 0))).toMatchObject({
      replayed: true,
      step,
    })
    expect(exchange.orders).toBe(1)
  })
})

describe('what is kept outside for a session', () => {
  it('is known by the name of the session, and is dropped when the episode is over, closed, expired or stopped', async () => {
    const kept = new Map<string, number>()
    const lasts: boolean[] = []
    const world = createKeeper({ kept, onPrepare: ({ isLast }) => lasts.push(isLast) })
    const { host, clock } = createTestHost({ environments: [world], bounds: { idleSeconds: 60 } })
    const open = async () => {
      const { session } = await host.open(null, asking({ environment: 'keeper', limits: { steps: 2 } }))
      const ref = atControl(host, session)
      await ref.step(call('keep'))
      return { ref }
    }
    const [ended, closed] = [await open(), await open()]
    await open()
    expect([...kept.values()]).toEqual([1, 1, 1])
    await ended.ref.step(call('keep'))
    expect(lasts).toEqual([false, false, false, true])
    await closed.ref.close()
    expect(kept.size).toBe(1)
    clock.advance(61_000)
    await host.sweep()
    expect(kept.size).toBe(0)
    await open()
    await host[Symbol.asyncDispose]()
    expect(kept.size).toBe(0)
  })

  it('is not ours to fork', async () => {
    const { host } = createTestHost({ environments: [createKeeper({})] })
    expect(host.environments[0]?.forkable).toBe(false)
    const { session } = await host.open(null, asking({ environment: 'keeper' }))
    await expect(atControl(host, session).fork({ requestKey: freshKey() })).rejects.toMatchObject({
      code: 'invalid-params',
    })
  })

  it('makes the session void if it is gone: no further step is played, and it can be closed', async () => {
    const onPrepare = () => {
      throw new ServerError('session-lost', 'The browser has crashed: out of memory.')
    }
    const { host, faults } = createTestHost({ environments: [createKeeper({ onPrepare })] })
    const { session, seats } = await host.open(null, asking({ environment: 'keeper' }))
    const ref = atControl(host, session)
    const lost = {
      code: 'state-lost',
      message: expect.stringMatching(/^The browser has crashed: out of memory\. Open/),
    }
    await expect(ref.step(call('keep'))).rejects.toMatchObject(lost)
    await expect(ref.step(call('rest'))).rejects.toMatchObject(lost)
    const server = await serve(host)
    const { client } = await connectClient(server.sessionUrl(seats.agent?.capability as string))
    const shown = await client.callTool({ name: 'rest', arguments: {} })
    expect(shown).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/no further calls are played/) }],
    })
    expect(JSON.stringify(shown)).not.toMatch(/memory/)
    expect(faults).toHaveLength(1)
    expect((await ref.close()).end).toMatchObject({ reason: 'closed' })
  })

  it('reports what fails while it is dropped', async () => {
    const { host, faults } = createTestHost({
      environments: [createKeeper({ release: () => Promise.reject(new Error('It does not stop.')) })],
    })
    const { session } = await host.open(null, asking({ environment: 'keeper' }))
    await atControl(host, session).close()
    await host[Symbol.asyncDispose]()
    expect(faults.map(({ cause }) => String(cause))).toEqual(['Error: It does not stop.'])
  })
})

/** A world that counts calls outside, by session. */
function createKeeper({
  kept = new Map<string, number>(),
  onPrepare = () => {},
  release = (session) => void kept.delete(session),
}: {
  readonly kept?: Map<string, number>
  readonly onPrepare?: (context: { readonly isLast: boolean }) => void
  readonly release?: (session: string) => void | Promise<void>
}) {
  return defineEnvironment({
    name: 'keeper',
    version: '1.0.0',
    description: 'Keeps.',
    state: { public: z.object({}), private: z.object({}) },
    start: () => ({ public: {}, private: {} }),
    observe: () => 'Keep.',
    tools: ({ tool }) => ({
      keep: tool({
        description: 'Keeps.',
        input: z.object({}),
        prepared: z.object({}),
        prepare(context) {
          onPrepare(context)
          kept.set(context.session, (kept.get(context.session) ?? 0) + 1)
          return {}
        },
        play: ({ say }) => say('Kept.'),
      }),
      rest: tool({ description: 'Rests.', input: z.object({}), play: ({ say }) => say('Rested.') }),
    }),
    rewards: {},
    release,
  })
}

/** A world with one tool, whose preparation is up to the test. */
function createCounter(prepare: (state: { readonly public: { readonly count: number } }) => { text?: string }) {
  return defineEnvironment({
    name: 'counter',
    version: '1.0.0',
    description: 'Counts.',
    params: z.object({}),
    state: { public: z.object({ count: z.int() }), private: z.object({}) },
    start: () => ({ public: { count: 0 }, private: {} }),
    observe: ({ count }) => `${count} so far.`,
    tools: ({ tool }) => ({
      count: tool({
        description: 'Counts.',
        input: z.object({}),
        prepared: z.object({ text: z.string().optional() }),
        prepare: ({ state }) => prepare(state),
        play({ state, say }) {
          state.public.count += 1
          return say('Counted.')
        },
      }),
    }),
    rewards: {},
  })
}

/** Rehearses a world whose tool keeps the time and a number that its preparation drew. */
function rehearseDrawing(seed: string) {
  const environment = defineEnvironment({
    name: 'drawing',
    version: '1.0.0',
    description: 'Draws while it prepares.',
    state: { public: z.object({}), private: z.object({}) },
    start: () => ({ public: {}, private: {} }),
    observe: () => '',
    tools: ({ tool }) => ({
      draw: tool({
        description: 'Draws.',
        input: z.object({}),
        prepared: z.object({ now: z.number(), drawn: z.int() }),
        prepare: ({ now, rng }) => ({ now, drawn: rng.stream('draws').int(0, 1_000_000) }),
        play: ({ say, elapse }) => {
          elapse(250)
          return say('Drawn.')
        },
      }),
    }),
    rewards: {},
  })
  const world = rehearse(environment, { seed })
  return {
    async use() {
      const prepared = (await world.prepare('draw', {})) as { now: number; drawn: number }
      world.play('draw', {}, { prepared })
      return prepared
    },
  }
}
