import { DEFAULT_SEAT, METHODS, type OutsideEvent, WireError } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { inProcess } from '../../dispatch/in-process.ts'
import { defineEnvironment } from '../../environment/definition/define-environment.ts'
import { rehearse } from '../../environment/rehearse/rehearse.ts'
import { atCapability, atControl } from '../../fixtures/addressed.fixture.ts'
import { createMarket } from '../../fixtures/market.fixture.ts'
import { asking, call, connectClient, createTestHost, freshKey, serve } from '../../fixtures/testbed.fixture.ts'
import type { EventNotification, Host } from '../host.ts'

/** Creates a host of a market, and opens one session. */
async function openMarket(options: Parameters<typeof createTestHost>[0] = {}) {
  const testbed = createTestHost({ environments: [createMarket()], ...options })
  const opened = await testbed.host.open(null, asking({ environment: 'market', seed: 'seed' }))
  const control = opened.session
  return {
    ...testbed,
    control,
    capability: opened.seats[DEFAULT_SEAT]?.capability as string,
    publish: (type: string, data: OutsideEvent['data'] = {}, id: string = freshKey()) =>
      atControl(testbed.host, control).publish({ id, type, data }),
    buy: (shares: number, seq?: number) => atControl(testbed.host, control).step(call('buy', { shares }, seq)),
    state: () => atControl(testbed.host, control).state(),
  }
}

describe('an outside event', () => {
  it('is reported by the next answer, and by none after it', async () => {
    const { publish, buy } = await openMarket()
    await publish('price-changed', { price: 12 }, 'event-1')
    await publish('order-filled', {}, 'event-2')
    await publish('price-changed', { price: 13 }, 'event-3')
    const { step } = await buy(1)
    expect(step.observation.text).toBe(
      'The price is now 12.\nThe price is now 13.\nBought 1.\nThe price is 13. You have 1 shares.',
    )
    expect(step.report.terms).toEqual({ value: 1, news: 3, closed: 0 })
    expect(step.report.events).toEqual([
      {
        id: 'event-1',
        type: 'price-changed',
        data: { price: 12 },
        said: 'The price is now 12.',
        end: null,
        revision: 1,
      },
      { id: 'event-2', type: 'order-filled', data: {}, said: null, end: null, revision: 2 },
      {
        id: 'event-3',
        type: 'price-changed',
        data: { price: 13 },
        said: 'The price is now 13.',
        end: null,
        revision: 3,
      },
    ])
    const after = await buy(1)
    expect(after.step.observation.text).toBe('Bought 1.\nThe price is 13. You have 2 shares.')
    expect(after.step.report).not.toHaveProperty('events')
  })

  it('is reported by a refusal too, and by a retry again', async () => {
    const { publish, host, control, buy } = await openMarket()
    await publish('price-changed', { price: 12 })
    const refused = await atControl(host, control).step(call('sell', {}, 0))
    expect(refused.step.report).toMatchObject({ refused: 'tool', terms: { news: 1 } })
    expect(refused.step.observation.text).toMatch(/^The price is now 12\.\nThere is no tool/)
    const again = await atControl(host, control).step(call('sell', {}, 0))
    expect(again).toMatchObject({ replayed: true, step: refused.step })
    expect((await buy(1, 1)).step.report.terms.news).toBe(0)
  })

  it('rejects the id of a different event, and changes nothing', async () => {
    const { publish, state } = await openMarket()
    await publish('price-changed', { price: 12 }, 'event-1')
    await expect(publish('price-changed', { price: 13 }, 'event-1')).rejects.toThrow(/event-1 was delivered already/)
    await expect(publish('order-filled', {}, 'event-1')).rejects.toMatchObject({ code: 'invalid-params' })
    expect(await state()).toMatchObject({ revision: 1, state: { public: { price: 12 } } })
  })

  it('recognizes as many of the last ids as the host is configured to keep', async () => {
    const { publish, buy } = await openMarket({ bounds: { events: 2 } })
    await publish('order-filled', {}, 'event-1')
    await publish('order-filled', {}, 'event-2')
    await buy(1)
    await publish('order-filled', {}, 'event-3')
    expect(await publish('order-filled', {}, 'event-2')).toMatchObject({ delivered: 'before' })
    expect(await publish('order-filled', {}, 'event-1')).toMatchObject({ delivered: 'now' })
  })

  it.each([
    [
      'another type',
      'dividend',
      {},
      'invalid-params',
      /takes no event "dividend"\. It takes: price-changed, order-filled/,
    ],
    ['wrong data', 'price-changed', { price: 'low' }, 'invalid-params', /data for the event price-changed: price/],
    ['what JSON would change', 'price-changed', { price: 1, low: -0 }, 'invalid-params', /data\.low is -0/],
    ['too much data', 'order-filled', { note: 'x'.repeat(2_000_000) }, 'too-large', /limit is 1048576/],
    ['a fault of the rules', 'broken', {}, 'environment-failed', /the ticker tore/],
  ] as const)('is refused for %s, and changes nothing', async (_, type, data, code, message) => {
    const { publish, state } = await openMarket()
    const error = await publish(type, data).catch((error) => error)
    expect(WireError.is(error, code)).toBe(true)
    expect(error.message).toMatch(message)
    expect(await state()).toMatchObject({ revision: 0, state: { public: { price: 10 } } })
  })

  it.each(['', 'x'.repeat(129), '\ud800'])('is rejected for an invalid id', async (id) => {
    const { publish } = await openMarket()
    await expect(publish('order-filled', {}, id)).rejects.toThrow(/is a text of 1 to 128 characters/)
  })

  it('is rejected until the next step if too many have come since the last one', async () => {
    const { publish, buy } = await openMarket({ bounds: { events: 2 } })
    await publish('order-filled')
    await publish('order-filled')
    const error = await publish('order-filled', {}, 'event-3').catch((error) => error)
    expect(error).toMatchObject({ code: 'rate-limited', details: { waiting: 2 } })
    await buy(1)
    expect(await publish('order-filled', {}, 'event-3')).toMatchObject({ delivered: 'now' })
  })

  it('reports the newest if there are more than an answer holds', async () => {
    const chatty = defineEnvironment({
      name: 'chatty',
      version: '1.0.0',
      description: 'Many remarks are made.',
      params: z.object({}),
      state: { public: z.object({}), private: z.object({}) },
      start: () => ({ public: {}, private: {} }),
      observe: () => 'Still there.',
      events: ({ event }) => ({
        remark: event({
          description: 'Somebody makes a remark.',
          data: z.object({ text: z.string() }),
          apply: ({ data, say }) => say(data.text),
        }),
      }),
      tools: ({ tool }) => ({
        wait: tool({ description: 'Waits.', input: z.object({}), play: ({ say }) => say('Waited.') }),
      }),
      rewards: {},
    })
    const { host } = createTestHost({ environments: [chatty] })
    const { session } = await host.open(null, asking({ environment: 'chatty' }))
    const texts = Array.from({ length: 12 }, (_, i) => `${i} `.padEnd(1_000, '.'))
    for (const [i, text] of texts.entries())
      await atControl(host, session).publish({ id: String(i), type: 'remark', data: { text } })
    const { step } = await atControl(host, session).step(call('wait'))
    expect(step.observation.text).toBe(
      ['(4 earlier events are left out.)', ...texts.slice(4), 'Waited.', 'Still there.'].join('\n'),
    )
    const event = { id: 'too long', type: 'remark', data: { text: 'x'.repeat(4_001) } }
    await expect(atControl(host, session).publish(event)).rejects.toMatchObject({ code: 'environment-failed' })
  })
})

describe('an event that ends the episode', () => {
  it('lets no other event follow, and is known again', async () => {
    const { publish } = await openMarket()
    const ended = await publish('market-closed', {}, 'event-1')
    await expect(publish('order-filled')).rejects.toMatchObject({ code: 'episode-ended' })
    expect(await publish('market-closed', {}, 'event-1')).toEqual({ ...ended, delivered: 'before' })
  })

  it('is reported to a plain client as the end of its session', async () => {
    const { publish, host, capability } = await openMarket()
    await publish('market-closed')
    const server = await serve(host)
    const { client } = await connectClient(server.sessionUrl(capability))
    const result = await client.callTool({ name: 'buy', arguments: { shares: 1 } })
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('The market has closed.') }],
    })
    const after = await client.callTool({ name: 'buy', arguments: { shares: 1 } })
    expect(after).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('The episode is over') }] })
  })
})

describe('environment/publish', () => {
  it('publishes at the trainer endpoint, and is unknown at the endpoint for agents', async () => {
    const { host, control } = await openMarket()
    const trainer = inProcess(host, { endpoint: 'trainer', principal: null })
    const params = { session: control, id: 'event-1', type: 'price-changed', data: { price: 11 } }
    expect(await trainer.request(METHODS.publish, params)).toEqual({ revision: 1, end: null, delivered: 'now' })
    await expect(trainer.request(METHODS.publish, { ...params, id: '' })).rejects.toMatchObject({
      code: 'invalid-params',
    })
    const world = { by: 'transport', token: null, environment: 'market' } as const
    const agent = inProcess(host, { endpoint: 'agent', principal: null, address: world })
    await expect(agent.request(METHODS.publish, params)).rejects.toMatchObject({ code: 'method-not-found' })
  })

  it('is announced with the types of events and their schemas', async () => {
    const { host } = await openMarket()
    const [info] = host.environments
    expect(info?.events?.map(({ type }) => type)).toEqual([
      'price-changed',
      'order-filled',
      'market-closed',
      'tip',
      'broken',
    ])
    expect(info?.events?.[0]).toMatchObject({ dataSchema: { type: 'object', required: ['price'] } })
  })
})

describe('watch', () => {
  it('wakes at an event, returns it at once, and not after the step that reports it', async () => {
    const { host, control, publish, buy } = await openMarket()
    const waiting = atControl(host, control).watch({ after: 0, limit: 10, wait: 60 })
    await publish('price-changed', { price: 12 }, 'event-1')
    expect(await waiting).toMatchObject({ steps: [], events: [{ id: 'event-1', revision: 1 }], end: null })
    await buy(1)
    const { steps, events } = await atControl(host, control).watch({ after: 1, limit: 10, wait: 0 })
    expect(steps.map(({ report }) => report.events?.map(({ revision }) => revision))).toEqual([[1]])
    expect(events).toBeUndefined()
  })
})

describe('a watch of an episode that an event has ended', () => {
  it('returns the event, and then waits for the step that reports it', async () => {
    const { host, control, publish, buy } = await openMarket()
    const end = { kind: 'terminated', reason: 'market-closed' }
    await publish('market-closed')
    const watched = await atControl(host, control).watch({ after: 0, limit: 10, wait: 60 })
    expect(watched).toMatchObject({ steps: [], events: [{ type: 'market-closed', end, revision: 1 }], end })
    const waiting = atControl(host, control).watch({ after: 1, limit: 10, wait: 60 })
    const { step } = await buy(1)
    expect(await waiting).toEqual({ steps: [step], end })
    expect(await atControl(host, control).watch({ after: 2, limit: 10, wait: 60 })).toEqual({ steps: [], end })
  })
})

describe('the event notifications of a session', () => {
  /** Takes so many announcements, or as many as there are. */
  async function take(announcements: AsyncIterable<EventNotification>, count: number): Promise<EventNotification[]> {
    const taken: EventNotification[] = []
    for await (const announcement of announcements) if (taken.push(announcement) === count) break
    return taken
  }

  it('are sent for each event, also for those that a step has reported by then, and end with the episode', async () => {
    const { host, capability, publish, buy } = await openMarket()
    await publish('price-changed', { price: 11 })
    const listening = take(atCapability(host, capability).events({ after: 0 }), Number.POSITIVE_INFINITY)
    await publish('price-changed', { price: 12 })
    await buy(1)
    await publish('order-filled')
    await publish('price-changed', { price: 13 })
    await publish('market-closed')
    const notifications = await listening
    expect(notifications.flatMap(({ said }) => said)).toEqual([
      'The price is now 11.',
      'The price is now 12.',
      'The price is now 13.',
      'The market has closed.',
    ])
    expect(notifications.map(({ over }) => over)).toEqual([...notifications.slice(1).map(() => false), true])
    expect(JSON.stringify(notifications)).not.toContain('market-closed')
  })

  it('start after a revision, end with their signal, and reject if the session is gone', async () => {
    const { host, control, capability, publish } = await openMarket()
    await publish('price-changed', { price: 11 })
    const [first] = await take(atCapability(host, capability).events({ after: 0 }), 1)
    await publish('price-changed', { price: 12 })
    expect(await take(atCapability(host, capability).events({ after: first?.revision }), 1)).toMatchObject([
      { revision: 2, said: ['The price is now 12.'], over: false },
    ])
    const stop = new AbortController()
    const stopped = take(atCapability(host, capability).events({ signal: stop.signal }), 1)
    stop.abort()
    expect(await stopped).toEqual([])
    const left = take(atCapability(host, capability).events({ after: 2 }), 1)
    await atControl(host, control).close()
    await expect(left).resolves.toMatchObject([{ said: [], over: true }])
    await expect(take(atCapability(host, capability).events(), 1)).rejects.toMatchObject({ code: 'session-not-found' })
  })
})

describe('the session after an event', () => {
  const happen = async (host: Host, control: string) => {
    const step = (shares: number) => atControl(host, control).step(call('buy', { shares }))
    const publish = (price: number) =>
      atControl(host, control).publish({ id: `to ${price}`, type: 'price-changed', data: { price } })
    await publish(11)
    await step(1)
    await publish(12)
    await publish(13)
    await step(2)
    await step(3)
    await publish(14)
  }

  it('has after each earlier step the state from before the next event', async () => {
    const { host, control } = await openMarket()
    await happen(host, control)
    const prices: number[] = []
    for (const at of [0, 1, 2, 3]) {
      const snapshot = await atControl(host, control).snapshot({ at })
      prices.push(snapshot.state.public.price as number)
    }
    expect(prices).toEqual([10, 11, 13, 13])
    expect((await atControl(host, control).snapshot({})).state.public.price).toBe(14)
  })

  it('is found at its earlier steps in a fork with events, too', async () => {
    const { host, control } = await openMarket()
    const [fork] = await atControl(host, control).fork({ requestKey: freshKey() })
    const there = fork?.session as string
    await happen(host, there)
    const prices = await Promise.all(
      [0, 1, 2, 3].map(async (at) => (await atControl(host, there).snapshot({ at })).state.public.price),
    )
    expect(prices).toEqual([10, 11, 13, 13])
    expect((await atControl(host, there).snapshot({ at: 0 })).outside).toBeUndefined()
    const { outside } = await atControl(host, there).snapshot({ at: 2 })
    expect(outside?.known.map(({ id }) => id)).toEqual(['to 11', 'to 12', 'to 13'])
  })

  it('can be restored from a snapshot, and goes on as it would have', async () => {
    const { host, control } = await openMarket()
    await happen(host, control)
    const snapshot = await atControl(host, control).snapshot({})
    const restored = await host.restore(null, { snapshot, requestKey: freshKey() })
    const steps = await Promise.all(
      [restored.session, control].map((id) => atControl(host, id).step(call('buy', { shares: 4 }))),
    )
    expect(steps[0]?.step.observation).toEqual(steps[1]?.step.observation)
    expect(steps[0]?.step.report.stateHash).toBe(steps[1]?.step.report.stateHash)
    // A fork of an earlier step of the restored session starts at the snapshot.
    const again = await atControl(host, restored.session).snapshot({ at: 3 })
    expect(again.state.public.price).toBe(14)
  })

  it('refuses a snapshot of what no session has had', async () => {
    const { host, control } = await openMarket()
    await happen(host, control)
    const snapshot = await atControl(host, control).snapshot({})
    const [event] = snapshot.outside?.pending ?? []
    const forged = { ...snapshot, outside: { known: [], pending: [{ ...event, type: 'dividend' } as never] } }
    await expect(host.restore(null, { snapshot: forged, requestKey: freshKey() })).rejects.toMatchObject({
      code: 'invalid-params',
    })
  })
})

describe('rehearse', () => {
  it('rejects an event that says a secret if it is strict', () => {
    expect(() => rehearse(createMarket(), { strict: true }).publish('tip')).toThrow(/Event tip of market says/)
    expect(() => rehearse(createMarket()).publish('dividend')).toThrow(/takes no event/)
  })
})

describe('any steps and events', () => {
  it('are each applied once if many clients publish and play at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 30 }), async (ids) => {
        const { host, control, state } = await openMarket()
        const results = await Promise.all(
          ids.map((id, i) =>
            i % 3 === 2
              ? atControl(host, control).step(call('buy', { shares: 1 }))
              : atControl(host, control).publish({ id: String(id), type: 'order-filled', data: {} }),
          ),
        )
        const published = new Set(ids.filter((_, i) => i % 3 !== 2))
        const fresh = results.filter((result) => 'delivered' in result && result.delivered === 'now')
        expect(fresh).toHaveLength(published.size)
        const { state: world, seats } = await state()
        expect(world.private.log).toHaveLength(published.size)
        expect(seats[DEFAULT_SEAT]?.seq).toBe(results.length - ids.filter((_, i) => i % 3 !== 2).length)
      }),
      { numRuns: 100 },
    )
  })
})
