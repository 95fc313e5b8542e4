import { WireError } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineGame } from '../environment/definition/define-game.ts'
import { rehearse } from '../environment/rehearse/rehearse.ts'
import { atCapability, atControl } from '../fixtures/addressed.fixture.ts'
import { auction } from '../fixtures/auction.fixture.ts'
import { asking, connectClient, createTestHost, freshKey, serve } from '../fixtures/testbed.fixture.ts'
import type { EventNotification } from './host.ts'

const NEWS = 'A dealer has come in.'

async function openAuction(params: { raises?: number } = {}, limits = {}) {
  const testbed = createTestHost({ environments: [auction], store: createMemoryStore() })
  const { host } = testbed
  const opened = await host.open(null, asking({ environment: 'auction', seed: 'lots', params, limits }))
  const at = (session = opened.session) => ({
    step: (seat: string, tool: string, args: { [name: string]: number }) =>
      atControl(host, session).step({ action: { tool, arguments: args }, seat }),
    publish: (type: string, data: { [name: string]: string | number } = {}, id: string = freshKey()) =>
      atControl(host, session).publish({ id, type, data }),
    turn: (seat: string, wait = 0) => atControl(host, session).turn({ seat, wait }),
  })
  return { ...testbed, opened, at, ...at() }
}

/** Both move at once, until an event lets one of them move alone. */
const changing = defineGame({
  name: 'changing',
  version: '1.0.0',
  description: 'An event changes who moves.',
  seats: ['first', 'second'],
  state: { public: z.object({ alone: z.boolean() }), own: z.object({}), private: z.object({}) },
  start: () => ({ public: { alone: false }, own: { first: {}, second: {} }, private: {} }),
  turn: ({ alone }) => (alone ? 'first' : ['first', 'second']),
  observe: () => 'Bid.',
  events: ({ event }) => ({
    alone: event({
      description: 'One alone.',
      data: z.object({}),
      apply({ state }) {
        state.public.alone = true
      },
    }),
  }),
  tools: ({ sealed }) => ({ bid: sealed({ description: 'Bids.', input: z.object({}), play: () => undefined }) }),
  settle: () => undefined,
  rewards: {},
})

describe('an event in a game', () => {
  it('is sent to every seat at once, and to each of them once', async () => {
    const { publish, turn, step } = await openAuction()
    expect(await publish('news', { text: NEWS }, 'event-1')).toEqual({ revision: 1, end: null, delivered: 'now' })
    expect(await publish('news', { text: NEWS }, 'event-1')).toMatchObject({ delivered: 'before' })
    for (const seat of ['ann', 'bob', 'cleo']) expect((await turn(seat)).messages).toEqual([NEWS])
    const first = await step('ann', 'raise', { by: 1 })
    expect(first.step.observation.text).toBe('Raised.\nann raised.')
    expect(first.step.report.seats?.messages).toEqual([NEWS])
    expect((await turn('ann')).messages).toEqual([])
    expect((await turn('bob')).messages).toEqual([NEWS, 'ann raised.'])
    const second = await step('bob', 'raise', { by: 1 })
    expect(second.step.report.seats?.messages).toEqual([NEWS, 'ann raised.'])
  })

  it('is reported to the trainer of all seats by the next step, and rewards of all seats see it', async () => {
    const { publish, step } = await openAuction()
    await publish('news', { text: NEWS }, 'event-1')
    const { report } = (await step('ann', 'raise', { by: 1 })).step
    expect(report.events).toEqual([
      { id: 'event-1', type: 'news', data: { text: NEWS }, said: NEWS, end: null, revision: 1 },
    ])
    expect(report.terms).toEqual({ news: 1, fire: 0 })
    expect(report.seats?.terms).toEqual({ bob: { news: 1, fire: 0 }, cleo: { news: 1, fire: 0 } })
    expect((await step('bob', 'raise', { by: 1 })).step.report).not.toHaveProperty('events')
  })

  it('sends one seat alone what it is sent, from outside and from a tool', async () => {
    const { host, opened, publish, turn } = await openAuction()
    await publish('tip', { to: 'bob', worth: 7 })
    const messages = async () => ({
      ann: (await turn('ann')).messages,
      bob: (await turn('bob')).messages,
      cleo: (await turn('cleo')).messages,
    })
    expect(await messages()).toEqual({ ann: [], bob: ['To you it is now worth 7.'], cleo: [] })
    // A handle of the seat ann, whose player must not learn what others were sent.
    const seat = atControl(host, opened.seats.ann?.handle as string)
    const own = await seat.step({ action: { tool: 'raise', arguments: { by: 50 } } })
    expect(JSON.stringify(own)).not.toMatch(/worth 7|worth 99|tip|event-/)
    expect(own.step.report).not.toHaveProperty('events')
    const sent = await messages()
    expect(sent.bob).toEqual(['To you it is now worth 7.', 'ann raised.'])
    expect(sent.cleo).toEqual(['To you it is now worth 99.', 'ann raised.'])
    expect((await turn('bob')).observation.text).toContain('is worth 7.')
  })

  it('is sent by the server to agents: with the answer, and to those who wait', async () => {
    const { host, opened, publish } = await openAuction()
    const server = await serve(host)
    const agent = (seat: string) =>
      connectClient(`${server.sessionUrl(opened.seats[seat]?.capability as string)}?hold=0`)
    const [ann, bob] = await Promise.all([agent('ann'), agent('bob')])
    await publish('news', { text: NEWS })
    await publish('tip', { to: 'bob', worth: 7 })
    const textOf = (answer: unknown) => JSON.stringify(answer)
    const waited = textOf(await bob.client.callTool({ name: 'wait', arguments: {} }))
    expect(waited).toContain(NEWS)
    expect(waited).toContain('worth 7.')
    const answered = textOf(await ann.client.callTool({ name: 'raise', arguments: { by: 1 } }))
    expect(answered).toContain(NEWS)
    expect(answered).not.toContain('worth 7.')
  })

  it('says the same to the other seats of a round whether or not one has sealed its move', async () => {
    const sent = async (moves: boolean) => {
      const { publish, turn, step } = await openAuction({ raises: 0 })
      await publish('news', { text: NEWS })
      if (moves) await step('ann', 'bid', { bid: 5 })
      return { ...(await turn('bob')), turn: null, revision: null }
    }
    expect(await sent(true)).toEqual(await sent(false))
  })

  it('may change whose turn it is, and wakes who waits for it', async () => {
    const { publish, turn, step } = await openAuction()
    const waiting = turn('cleo', 60)
    await publish('called', { speaker: 2 })
    expect(await waiting).toMatchObject({ mine: true, turn: ['cleo'] })
    await expect(step('ann', 'raise', { by: 1 })).rejects.toMatchObject({ code: 'not-your-turn' })
    expect((await step('cleo', 'raise', { by: 1 })).step.report.seats?.turn).toEqual(['ann'])
  })

  it('begins the time of a turn that it passes on, and of no other', async () => {
    const { clock, publish, turn, step } = await openAuction({}, { turnSeconds: 60 })
    clock.advance(50_000)
    await publish('news', { text: NEWS })
    await publish('called', { speaker: 1 })
    clock.advance(50_000)
    expect(await turn('bob')).toMatchObject({ mine: true, end: null })
    await publish('news', { text: NEWS })
    clock.advance(20_000)
    expect(await turn('bob')).toMatchObject({ end: { kind: 'truncated', reason: 'turn-limit' } })
    await expect(step('bob', 'raise', { by: 1 })).rejects.toMatchObject({ code: 'episode-ended' })
  })

  it('is refused if nobody would be in turn, and if it would leave a sealed round unplayed', () => {
    const world = rehearse(auction, { params: { raises: 1 } })
    expect(() => world.publish('called', { speaker: 9 })).toThrow(
      'The `turn` of auction names undefined. The seats are: ann, bob, cleo.',
    )
    const round = rehearse(changing, {})
    round.play('bid', {}, { seat: 'first' })
    expect(() => round.publish('alone')).toThrow(/changes whose turn it is while the moves of a round are sealed/)
    expect(round.turn).toEqual(['second'])
  })

  it('that ends the episode is reported by one more step of a seat in turn', async () => {
    const { publish, turn, step } = await openAuction()
    await publish('news', { text: NEWS })
    await publish('fire')
    expect(await turn('bob')).toMatchObject({ mine: false, turn: ['ann'], end: null })
    const { report, observation } = (await step('ann', 'raise', { by: 1 })).step
    const end = { kind: 'terminated', reason: 'fire' }
    expect(observation.text).toBe('The episode was over before this call, which changed nothing.')
    expect(report).toMatchObject({ end, refused: 'ended', terms: { news: 2, fire: 1 } })
    expect(report.seats).toMatchObject({ turn: [], ends: { ann: end, bob: end, cleo: end } })
    expect(report.seats?.messages).toEqual([NEWS, 'The house is on fire.'])
    expect(await turn('bob')).toMatchObject({ end, due: { news: 2, fire: 1 } })
    await expect(step('bob', 'raise', { by: 1 })).rejects.toMatchObject({ code: 'episode-ended' })
  })

  it('that ends the episode is reported by the server if the seat in turn does not act', async () => {
    const { clock, publish, turn } = await openAuction({}, { turnSeconds: 60 })
    await publish('fire')
    clock.advance(61_000)
    expect(await turn('bob')).toMatchObject({ end: { reason: 'fire' }, due: { fire: 1 } })
  })

  it('is published by a round of sealed moves too', async () => {
    const { turn, step } = await openAuction({ raises: 0 })
    for (const seat of ['ann', 'bob']) await step(seat, 'bid', { bid: 5 })
    const last = (await step('cleo', 'bid', { bid: 6 })).step
    expect(last.observation.text).toMatch(/^All have moved\.\nThe hammer falls\.\nThe house is on fire\./)
    expect(last.published?.map(({ type }) => type)).toEqual(['news', 'fire'])
    expect(await turn('ann')).toMatchObject({
      end: { reason: 'fire' },
      messages: ['The hammer falls.', 'The house is on fire.'],
    })
  })

  it('cannot be published by a player, nor by the trainer of one seat', async () => {
    const { host, opened } = await openAuction()
    const event = { id: 'event-1', type: 'news', data: { text: NEWS } }
    const seat = atControl(host, opened.seats.ann?.handle as string)
    const refused = await seat.publish(event).catch((error) => error)
    expect(WireError.is(refused, 'unauthorized')).toBe(true)
  })

  it('reaches the subscribers of the seats that it reaches', async () => {
    const { host, opened, publish, step } = await openAuction()
    const take = async (seat: string): Promise<readonly string[]> => {
      const taken: EventNotification[] = []
      const feed = atCapability(host, opened.seats[seat]?.capability as string).events({ after: 0 })
      for await (const each of feed) taken.push(each)
      return taken.flatMap(({ said }) => said)
    }
    const [ann, bob] = [take('ann'), take('bob')]
    await publish('tip', { to: 'bob', worth: 7 })
    await publish('news', { text: 'Nobody knows the name of the forger.' })
    await step('ann', 'raise', { by: 1 })
    await publish('fire')
    expect(await bob).toEqual(['To you it is now worth 7.', 'ann raised.', 'The house is on fire.'])
    expect(await ann).toEqual(['ann raised.', 'The house is on fire.'])
  })

  it('has its types and the schemas of its data in the list of environments', () => {
    const { host } = createTestHost({ environments: [auction] })
    expect(host.environments[0]?.events?.map(({ type }) => type)).toEqual(['news', 'tip', 'called', 'fire'])
  })
})

describe('rehearse', () => {
  it('rejects an event of a game that sends a seat a secret, if it is strict', () => {
    const world = rehearse(auction, { strict: true })
    expect(() => world.publish('news', { text: 'Psst: the name of the forger' })).toThrow(/Event news of auction says/)
    expect(world.publish('tip', { to: 'ann', worth: 3 })).toEqual({
      said: null,
      sent: { ann: ['To you it is now worth 3.'] },
      end: null,
    })
  })
})
