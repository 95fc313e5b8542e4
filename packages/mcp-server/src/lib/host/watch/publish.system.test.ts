import { DEFAULT_SEAT } from '@episodic/protocol'
import { MODERN_VERSION } from '@episodic/protocol/internal'
import { createMemoryStore } from '@episodic/state/memory'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EnvironmentDefinition } from '../../environment/definition/environment.ts'
import { rehearse } from '../../environment/rehearse/rehearse.ts'
import { atCapability, atControl } from '../../fixtures/addressed.fixture.ts'
import { openSqliteFile } from '../../fixtures/sqlite-file.fixture.ts'
import { asking, call, connectClient, createTestHost, freshKey, serve } from '../../fixtures/testbed.fixture.ts'
import { LEAD, theatre } from '../../fixtures/theatre.fixture.ts'
import type { HostOptions } from '../host.ts'

/** Creates a host of a theatre, and opens one session. */
async function openTheatre(options: Partial<HostOptions> & { seats?: number } = {}) {
  const { seats = 6, ...hostOptions } = options
  const testbed = createTestHost({ environments: [theatre], ...hostOptions })
  const asked = asking({ environment: 'theatre', seed: 'seed', params: { seats } })
  const { session: control, seats: opened } = await testbed.host.open(null, asked)
  return {
    ...testbed,
    control,
    capability: opened[DEFAULT_SEAT]?.capability as string,
    sell: (seats: number, seq?: number) => atControl(testbed.host, control).step(call('sell', { seats }, seq)),
    fumble: (how: string) => atControl(testbed.host, control).step(call('fumble', { how })),
    state: () => atControl(testbed.host, control).state(),
  }
}

const SOLD_OUT = { kind: 'terminated', reason: 'sold-out' }

describe('an event that a tool publishes', () => {
  it('is applied in the very step, reported in its answer, and rewarded with it', async () => {
    const { sell, state } = await openTheatre()
    const { step } = await sell(4)
    expect(step.observation).toEqual({
      text: 'Sold 4.\nA seat is 15 now, for the last seats.\n2 seats are left, at 15.',
      structured: { seats: 2, price: 15, earned: 40 },
    })
    expect(step.report).toMatchObject({ seq: 1, revision: 1, terms: { price: 5, news: 0, sold: 0 }, potential: -2 })
    expect(step.report).not.toHaveProperty('events')
    // Played first, at 0, for one millisecond.
    expect((await state()).state.private.log).toEqual(['10>15 at 1'])
    expect((await state()).now).toBe(11)
    const after = await sell(1)
    expect(after.step.observation.text).toBe('Sold 1.\nA seat is 20 now, for the last seats.\n1 seats are left, at 20.')
  })

  it('is shown by a rehearsal, with the data and what it said', () => {
    const world = rehearse(theatre, { params: { seats: 1 }, strict: true })
    expect(world.play('sell', { seats: 1 })).toMatchObject({
      published: [
        {
          type: 'price-changed',
          data: { price: 15, why: 'the last seats' },
          said: 'A seat is 15 now, for the last seats.',
        },
        { type: 'sold-out', data: {}, said: 'The house is sold out.' },
      ],
      end: SOLD_OUT,
    })
    expect(rehearse(theatre, { strict: true }).play('sell', { seats: 1 }).published).toBeUndefined()
    expect(() => rehearse(theatre, { strict: true }).play('fumble', { how: 'rumour' })).toThrow(/what `secrets` lists/)
  })

  it('carries the data that it was published with, even if the tool changes them later', async () => {
    const { fumble } = await openTheatre()
    expect((await fumble('edit')).step.observation.structured).toMatchObject({ price: 50 })
  })

  it('is remembered with what the step said', async () => {
    const { host, control, sell } = await openTheatre()
    await sell(4)
    expect((await atControl(host, control).snapshot({})).history).toMatchObject([
      { tool: 'sell', said: 'Sold 4.\nA seat is 15 now, for the last seats.' },
    ])
  })

  it.each([
    ['of a type that the world does not take', 'type', /takes no event "encore"\. It takes: price-changed, sold-out/],
    [
      'with wrong data',
      'data',
      /Tool fumble of theatre could not publish\. Wrong data for the event price-changed: price/,
    ],
    ['with what JSON would change', 'json', /Wrong data for the event sold-out: data\.at is -0/],
    ['past the bound', 'many', /published more than 16 events in one step/],
    ['whose rules throw', 'fire', /the curtain burns/],
    ['before the tool throws', 'throw', /the clerk fainted/],
  ])('%s fails the call as a fault of the world, and leaves everything as it was', async (_, how, message) => {
    const { fumble, state, sell, faults, host, capability } = await openTheatre()
    await expect(fumble(how)).rejects.toMatchObject({
      code: 'environment-failed',
      message: expect.stringMatching(message),
    })
    expect(faults).toHaveLength(1)
    expect(await state()).toMatchObject({
      revision: 0,
      now: 0,
      end: null,
      state: { public: { seats: 6, price: 10, earned: 0 }, private: { demand: 0, log: [] } },
    })
    const listening = atCapability(host, capability).events({ after: 0 })[Symbol.asyncIterator]()
    await sell(4, 0)
    expect((await listening.next()).value).toMatchObject({ said: ['A seat is 15 now, for the last seats.'] })
    await listening.return?.()
  })

  it('is not published by a step that is refused', async () => {
    const { fumble, state } = await openTheatre()
    const { step } = await fumble('refusal')
    expect(step.observation.text).toBe('Not today.\n6 seats are left, at 10.')
    expect(step.report).toMatchObject({ refused: 'rules', terms: { price: 0 } })
    expect((await state()).state.private.log).toEqual([])
  })
})

describe('steps that publish, played by two servers on one store at the same time', () => {
  it('publish each of their events once', async () => {
    const store = createMemoryStore()
    const { host, control, state } = await openTheatre({ store, seats: 40 })
    const { host: other } = createTestHost({ environments: [theatre], store })
    const steps = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        atControl(i % 2 === 0 ? host : other, control).step(call('sell', { seats: 1 })),
      ),
    )
    expect(steps.map(({ step }) => step.report.revision).sort((a, b) => a - b)).toEqual(steps.map((_, i) => i + 1))
    const { state: world, end } = await state()
    // With two seats left, one, and none.
    expect(world.private.log).toHaveLength(3)
    expect(world.public).toMatchObject({ seats: 0, price: 25 })
    expect(end).toEqual(SOLD_OUT)
  })
})

describe('a subscriber', () => {
  it('receives what a tool published and what came from outside in order, and the end', async () => {
    const { host, control, capability, sell } = await openTheatre()
    const listening = (async () => {
      const said: string[] = []
      for await (const announcement of atCapability(host, capability).events({ after: 0 }))
        said.push(...announcement.said)
      return said
    })()
    await atControl(host, control).publish({ id: 'event-1', type: 'price-changed', data: { price: 11 } })
    await sell(4)
    await atControl(host, control).publish({ id: 'event-2', type: 'price-changed', data: { price: 13 } })
    await sell(2)
    expect(await listening).toEqual([
      'A seat is 11 now, for no reason.',
      'A seat is 16 now, for the last seats.',
      'A seat is 13 now, for no reason.',
      'A seat is 18 now, for the last seats.',
      'The house is sold out.',
    ])
  })

  it('continues after a revision, and receives what another process played on the same store', async () => {
    const store = createMemoryStore()
    const { host, clock, control, capability, sell } = await openTheatre({ store })
    const { host: other } = createTestHost({ environments: [theatre], store })
    await sell(4)
    const next = atCapability(host, capability).events({ after: 1 })[Symbol.asyncIterator]().next()
    await atControl(other, control).step(call('sell', { seats: 1 }))
    let settled = false
    void next.finally(() => {
      settled = true
    })
    while (!settled) {
      clock.advance(1_000)
      await new Promise(setImmediate)
    }
    expect((await next).value).toEqual({ revision: 2, said: ['A seat is 20 now, for the last seats.'], over: false })
  })

  it('receives no secret in an event, and neither does the player', async () => {
    const { host, capability, fumble, faults } = await openTheatre()
    const server = await serve(host)
    const { client } = await connectClient(server.sessionUrl(capability))
    const answer = await client.callTool({ name: 'fumble', arguments: { how: 'rumour' } }).catch((error) => error)
    expect(JSON.stringify(answer) + String(answer)).not.toContain(LEAD)
    await fumble('edit')
    const { value } = await atCapability(host, capability).events({ after: 0 })[Symbol.asyncIterator]().next()
    expect(JSON.stringify(value)).toContain('A seat is 99 now')
    expect(JSON.stringify(value)).not.toContain(LEAD)
    expect(faults.length).toBeGreaterThan(0)
  })

  it('through MCP, in either protocol version, is notified that the public state has changed, and reads it', async () => {
    const { host, capability } = await openTheatre()
    const server = await serve(host)
    const url = server.sessionUrl(capability)
    const listener = new ModernClient(
      { name: 'listener', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: MODERN_VERSION } } },
    )
    const updated = Promise.withResolvers<string>()
    listener.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.resolve(params.uri))
    await listener.connect(new ModernTransport(new URL(url)))
    onTestFinished(() => listener.close())
    const [uri] = (await listener.listResources()).resources.map((resource) => resource.uri)
    await listener.listen({ resourceSubscriptions: [uri as string] })
    const { client } = await connectClient(url)
    const answer = await client.callTool({ name: 'sell', arguments: { seats: 6 } })
    expect(answer).toMatchObject({
      content: [
        {
          text: expect.stringMatching(
            /^Sold 6\.\nA seat is 15 now, for the last seats\.\nThe house is sold out\.\nThe episode is over\./,
          ),
        },
      ],
      structuredContent: { seats: 0, price: 15, earned: 60, episode_over: true },
    })
    expect(await updated.promise).toBe(uri)
    const { contents } = await listener.readResource({ uri: uri as string })
    expect(JSON.parse((contents[0] as { text: string }).text)).toEqual({ seats: 0, price: 15, earned: 60 })
  })
})

/** Sales, prices that change outside, and mistakes. */
const moves = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ sell: fc.integer({ min: 0, max: 4 }) }) },
    { weight: 2, arbitrary: fc.record({ price: fc.integer({ min: 0, max: 40 }) }) },
    { weight: 1, arbitrary: fc.record({ fumble: fc.constantFrom('type', 'many', 'fire', 'refusal', 'edit') }) },
  ),
  { maxLength: 20 },
)

describe('any steps that publish, among events from outside', () => {
  it.each([
    ['memory', 100, async () => createMemoryStore()],
    ['SQLite', 25, openSqliteFile],
  ] as const)(
    'have one result by the rules alone, sent again, forked, and replayed from the start, over %s',
    async (_, numRuns, open) => {
      const store = await open()
      await fc.assert(
        fc.asyncProperty(moves, fc.integer({ min: 1, max: 12 }), async (sequence, seats) => {
          const { host, control, state } = await openTheatre({ store, seats })
          const world = rehearse<EnvironmentDefinition>(theatre, { seed: 'seed', params: { seats }, strict: true })
          const stood = [structuredClone(world.state)]
          for (const [i, move] of sequence.entries()) {
            if (world.end) break
            if ('price' in move) {
              const event = { id: String(i), type: 'price-changed', data: { price: move.price } }
              const published = await atControl(host, control)
                .publish(event)
                .catch(() => null)
              expect(published !== null).toBe(move.price > 0)
              if (published) world.publish(event.type, event.data)
              continue
            }
            const [tool, args] = 'sell' in move ? ['sell', { seats: move.sell }] : ['fumble', { how: move.fumble }]
            const seq = stood.length - 1
            const step = () => atControl(host, control).step(call(tool as string, args, seq))
            let played: ReturnType<typeof world.play>
            try {
              played = world.play(tool as string, args)
            } catch {
              await expect(step()).rejects.toMatchObject({ code: 'environment-failed' })
              continue
            }
            const { observation, terms, potential, end, refused, stateHash } = played
            const answered = await step()
            expect(answered.step).toMatchObject({
              observation,
              report: { terms, potential, end, refused, stateHash },
            })
            expect((await step()).step).toEqual(answered.step)
            stood.push(structuredClone(world.state))
          }
          expect((await state()).state).toEqual(world.state)
          const last = stood.length - 1
          for (const [at, expected] of stood.entries()) {
            // Nothing goes on from an end.
            if (at === last && world.end) continue
            expect((await atControl(host, control).snapshot({ at })).state).toEqual(expected)
            const [fork] = await atControl(host, control).fork({ at, requestKey: freshKey() })
            expect((await atControl(host, fork?.session as string).state()).state).toEqual(expected)
          }
        }),
        { numRuns, seed: 1 },
      )
    },
  )
})
