import { DEFAULT_SEAT, META, METHODS, type OpenResult } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { inProcess } from '../../dispatch/in-process.ts'
import { cellar } from '../../fixtures/cellar.fixture.ts'
import { asking, createTestHost } from '../../fixtures/testbed.fixture.ts'
import { rehearse } from '../rehearse/rehearse.ts'
import { defineEnvironment } from './define-environment.ts'
import { defineGame } from './define-game.ts'
import type { EnvironmentDefinition, Said } from './environment.ts'

const any = (hidden: string[] = []) => rehearse<EnvironmentDefinition>(cellar, { params: { hidden } })

describe('offers', () => {
  it('says with each observation which tools there are, and nothing where these are all', () => {
    const world = any()
    expect(world.start.observation.tools).toEqual(['search', 'look'])
    expect(world.play('search', {}).observation.tools).toEqual(['look', 'unlock'])
    const all = defineEnvironment({
      ...parts,
      offers: () => ['b', 'a', 'a'],
      tools: ({ tool }) => ({ a: tool(nothing), b: tool(nothing) }),
    })
    expect(rehearse(all).start.observation).toEqual({ text: '', structured: {} })
  })

  it('begins as the parameters say', () => {
    expect(any(['search']).start.observation.tools).toEqual(['look'])
  })

  it('refuses a tool that is not offered as one that does not exist, and prepares nothing for it', async () => {
    const world = any()
    const call = ['unlock', { times: 1 }] as const
    expect(await world.prepare(...call)).toBeUndefined()
    const refused = world.play(...call)
    expect(refused).toMatchObject({ refused: 'tool', observation: { tools: ['search', 'look'] } })
    expect(refused.observation.text).toContain('There is no tool "unlock". The tools are: search, look.')
    world.play('search', {})
    expect(await world.prepare(...call)).toEqual({ oiled: true })
  })

  it('leaves out of the legal actions what is not offered, also where the world lists none', () => {
    const world = any()
    const legal = (environment: EnvironmentDefinition) =>
      Object.keys(environment.legal(world.state, { hidden: [] }, DEFAULT_SEAT))
    expect(legal(cellar)).toEqual(['search', 'look'])
    const game = defineTable()
    const { state } = rehearse<EnvironmentDefinition>(game)
    expect(Object.keys(game.legal(state, {}, 'player'))).toEqual(['call'])
  })

  it('is asked for each seat of a game, of whose own tools it names some', () => {
    const game = defineTable()
    const world = rehearse<EnvironmentDefinition>(game)
    expect(world.observe('player').tools).toEqual(['call'])
    expect(world.observe('dealer').tools).toBeUndefined()
    expect(world.play('fold', {}, { seat: 'player' })).toMatchObject({ refused: 'tool' })
    const moved = world.play('call', {}, { seat: 'player' })
    expect(moved.observation.tools).toBeUndefined()
    expect(moved.seats?.views.dealer?.tools).toBeUndefined()
  })

  it.each([
    [['fly'], '"fly"'],
    ['search', '"search"'],
    [undefined, 'nothing'],
  ])('fails where it returns %j', (named, said) => {
    const wrong = defineEnvironment({
      ...parts,
      offers: () => named as never,
      tools: ({ tool }) => ({ a: tool(nothing) }),
    })
    expect(() => rehearse(wrong)).toThrow(
      `The \`offers\` of wrong names ${said}. Return a list of names of tools. There are: a.`,
    )
  })

  it('has to be a function', () => {
    const offers = ['a'] as never
    expect(() => defineEnvironment({ ...parts, offers, tools: ({ tool }) => ({ a: tool(nothing) }) })).toThrow(
      'its `offers` is a list, and has to be a function',
    )
  })

  it('reaches trainers with each answer, and holds after a fork', async () => {
    const { host } = createTestHost({ environments: [cellar] })
    const channel = inProcess(host)
    const opened = (await channel.request(
      METHODS.open,
      asking({ environment: 'cellar' }) as never,
    )) as unknown as OpenResult
    expect(host.environments[0]).toMatchObject({ offers: true })
    expect(opened.seats[DEFAULT_SEAT]?.observation.tools).toEqual(['search', 'look'])
    const step = (session: string, seq: number, name: string, args = {}) =>
      channel.request('tools/call', { name, arguments: args, _meta: { [META.session]: session, [META.seq]: seq } })
    expect(await step(opened.session, 0, 'search')).toMatchObject({ _meta: { [META.tools]: ['look', 'unlock'] } })
    const { forks } = (await channel.request(METHODS.fork, {
      session: opened.session,
      requestKey: crypto.randomUUID(),
    })) as unknown as { forks: OpenResult[] }
    expect(forks[0]?.seats[DEFAULT_SEAT]?.observation.tools).toEqual(['look', 'unlock'])
    expect(await step(forks[0]?.session as string, 1, 'search')).toMatchObject({ isError: true })
    expect(await step(opened.session, 1, 'unlock', { times: 1 })).toMatchObject({
      _meta: { [META.step]: { prepared: { oiled: true }, end: { reason: 'left' } } },
    })
  })
})

const nothing = {
  description: 'Does nothing.',
  input: z.object({}),
  play: ({ say }: { say(text: string): Said<undefined> }) => say(''),
}

const parts = {
  name: 'wrong',
  version: '1.0.0',
  description: 'Nothing.',
  state: { public: z.object({}), private: z.object({}) },
  start: () => ({ public: {}, private: {} }),
  observe: () => '',
  rewards: {},
}

const defineTable = () =>
  defineGame({
    name: 'table',
    version: '1.0.0',
    description: 'A table.',
    seats: ['player', 'dealer'],
    state: { public: z.object({ called: z.boolean() }), own: z.object({}), private: z.object({}) },
    start: () => ({ public: { called: false }, own: { player: {}, dealer: {} }, private: {} }),
    turn: ({ called }) => (called ? 'dealer' : 'player'),
    observe: () => '',
    offers: ({ public: { called } }, _, seat) => (seat === 'dealer' ? ['deal'] : called ? ['call', 'fold'] : ['call']),
    legal: ({ seat }) => (seat === 'player' ? { call: true, fold: true } : { deal: true }),
    tools: ({ tool }) => ({
      call: tool({
        seats: ['player'],
        description: 'Call.',
        input: z.object({}),
        play({ state, say }) {
          state.public.called = true
          return say('Called.')
        },
      }),
      fold: tool({ seats: ['player'], description: 'Fold.', input: z.object({}), play: ({ say }) => say('Folded.') }),
      deal: tool({ seats: ['dealer'], description: 'Deal.', input: z.object({}), play: ({ say }) => say('Dealt.') }),
    }),
    rewards: {},
  })
