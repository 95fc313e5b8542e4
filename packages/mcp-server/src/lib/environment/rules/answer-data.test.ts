import { connect, runEpisode } from '@episodic/env'
import type { LoggedStep } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { inProcess } from '../../dispatch/in-process.ts'
import { OFFICIAL_CLIENTS } from '../../fixtures/official-clients.fixture.ts'
import { createTestHost, serve } from '../../fixtures/testbed.fixture.ts'
import { createHost } from '../../host/create-host.ts'
import { defineEnvironment } from '../definition/define-environment.ts'
import { defineGame } from '../definition/define-game.ts'
import { rehearse } from '../rehearse/rehearse.ts'

const Order = z.object({ id: z.int(), status: z.string() })
const order = { id: 7, status: 'shipped' }

const desk = defineEnvironment({
  name: 'desk',
  version: '1.0.0',
  description: 'Look up an order.',
  limits: { steps: 2 },
  history: { entries: 4, bytes: 1_000 },
  state: { public: z.object({}), private: z.object({ secret: z.string() }) },
  start: () => ({ public: {}, private: { secret: 'a-secret-of-the-desk' } }),
  observe: () => 'One order is open.',
  secrets: ({ private: { secret } }) => [secret],
  tools: ({ tool }) => ({
    titled: tool({
      description: 'Show it below a title.',
      input: z.object({}),
      output: z.object({ order: Order }),
      play: ({ say }) => say('The order.', { order }),
    }),
    written: tool({
      description: 'Write it.',
      input: z.object({}),
      output: z.object({ order: Order }),
      dataFollows: false,
      play: ({ say }) => say('Order 7 is shipped.', { order }),
    }),
    bare: tool({
      description: 'Show the data alone.',
      input: z.object({}),
      output: z.object({ order: Order }),
      play({ say }) {
        expectTypeOf(say).toBeCallableWith({ order })
        return say({ order })
      },
    }),
    json: tool({
      description: 'Write it as JSON.',
      input: z.object({}),
      output: z.object({ order: Order }),
      play: ({ say }) => say(`Here: ${JSON.stringify({ order })}`, { order }),
    }),
    empty: tool({
      description: 'Answer with no data.',
      input: z.object({}),
      output: z.object({}),
      play: ({ say }) => say('Nothing.', {}),
    }),
    counted: tool({
      description: 'Say what the history says.',
      input: z.object({}),
      play: ({ history, say }) => say(history.map(({ said }) => said).join('; ')),
    }),
    leak: tool({
      description: 'Leak.',
      input: z.object({}),
      output: z.object({ secret: z.string() }),
      play: ({ state, say }) => say('Nothing here.', { secret: state.private.secret }),
    }),
    wrong: tool({
      description: 'Data without an output.',
      input: z.object({}),
      play: ({ say }) => (say as unknown as (data: object) => ReturnType<typeof say>)({ order }),
    }),
  }),
  rewards: { one: () => 0 },
})

const LINE = JSON.stringify({ order })

describe('the text of an answer with data', () => {
  it('has the data as a line of JSON before the observation, unless the tool says that none follows', () => {
    const { play } = rehearse(desk)
    expect(play('titled', {}).observation).toEqual({
      text: `The order.\n${LINE}\nOne order is open.`,
      structured: { order },
    })
    expect(play('written', {}).observation.text).toBe('Order 7 is shipped.\nOne order is open.')
    expect(play('bare', {}).observation).toEqual({ text: `${LINE}\nOne order is open.`, structured: { order } })
    expect(() => play('wrong', {})).toThrow('answers with data alone, and declares no output')
    const { play: shout } = rehearse(desk)
    expect(shout('json', {}).observation.text).toBe(`Here: ${LINE}\nOne order is open.`)
    expect(shout('empty', {}).observation.text).toBe('Nothing.\nOne order is open.')
  })

  it('is not in the history, which rules read', () => {
    const { play } = rehearse(desk)
    play('titled', {})
    expect(play('counted', {}).observation.text).toBe('The order.\nOne order is open.')
  })

  it.each(Object.entries(OFFICIAL_CLIENTS))('reaches a model at the agent endpoint: %s', async (_, connectClient) => {
    const { host } = createTestHost({ environments: [desk] })
    const server = await serve(host)
    const client = await connectClient(server.agentUrl)
    const created = await client.callTool({ name: 'create_desk', arguments: {} })
    const { desk_id } = created.structuredContent as { readonly desk_id: string }
    const { content, structuredContent } = await client.callTool({ name: 'titled', arguments: { desk_id } })
    expect(content).toMatchObject([{ type: 'text', text: `The order.\n${LINE}\nOne order is open.` }])
    // What shows the data alone does not show it twice.
    expect(structuredContent).toEqual({
      order,
      observation: 'The order.\nOne order is open.',
      episode_over: false,
    })
    const leaking = await client
      .callTool({ name: 'leak', arguments: { desk_id } })
      .catch((error: Error) => error.message)
    expect(JSON.stringify(leaking)).not.toContain('a-secret-of-the-desk')
  })

  it('reaches a policy at the trainer endpoint, and in a seat', async () => {
    await using host = createHost({ environments: [desk, dealer] })
    await using connection = await connect(inProcess(host))
    const texts: string[] = []
    const policy = {
      name: 'reader',
      start: () => (observation: { text: string }) => {
        texts.push(observation.text)
        return { tool: 'titled', arguments: {} }
      },
    }
    await runEpisode({ createEnvironment: () => connection.environment('desk'), policy, seed: '1' })
    expect(texts.at(-1)).toBe(`The order.\n${LINE}\nOne order is open.`)
    const { play } = rehearse(dealer)
    const step: Pick<LoggedStep, 'observation'> = play('ask', {}, { seat: 'one' })
    expect(step.observation.text).toBe('An offer.\n{"price":12}')
  })
})

/** A shop whose data follows the text or not; as under another rule, its steps are then logged with another text. */
const shop = (dataFollows: boolean, price = 12) =>
  defineEnvironment({
    name: 'shop',
    version: '1.0.0',
    description: 'Ask for a price.',
    state: { public: z.object({}), private: z.object({}) },
    start: () => ({ public: {}, private: {} }),
    observe: () => 'The shop is open.',
    tools: ({ tool }) => ({
      ask: tool({
        description: 'Ask.',
        input: z.object({}),
        output: z.object({ price: z.int() }),
        dataFollows,
        play: ({ say }) => say('The price.', { price }),
      }),
    }),
    rewards: { one: () => 0 },
  })

describe('a session whose steps were logged by another rule for the data below a text', () => {
  it.each([true, false])('is computed again at an earlier step, unless its data differs: %s', async (before) => {
    await using store = createMemoryStore()
    await using old = createHost({ environments: [shop(before)], store })
    const { session: token } = await old.open(null, { environment: 'shop', requestKey: 'shop', seed: '1' })
    for (const seq of [0, 1])
      await (await old.resolve(null, { by: 'control', token })).step({ action: { tool: 'ask', arguments: {} }, seq })
    await using host = createHost({ environments: [shop(!before)], store })
    const session = await host.resolve(null, { by: 'control', token })
    expect((await session.snapshot({ at: 1 })).seats.agent?.seq).toBe(1)
    await using dearer = createHost({ environments: [shop(!before, 13)], store })
    await expect((await dearer.resolve(null, { by: 'control', token })).snapshot({ at: 1 })).rejects.toMatchObject({
      code: 'replay-diverged',
      details: { field: 'observation' },
    })
  })
})

const dealer = defineGame({
  name: 'dealer',
  version: '1.0.0',
  description: 'Ask for a price.',
  seats: ['one', 'two'],
  utility: 'general',
  state: { public: z.object({ asked: z.boolean() }), own: z.object({}), private: z.object({}) },
  start: () => ({ public: { asked: false }, own: { one: {}, two: {} }, private: {} }),
  turn: ({ asked }) => (asked ? 'two' : 'one'),
  observe: () => 'A dealer waits.',
  tools: ({ tool }) => ({
    ask: tool({
      description: 'Ask.',
      input: z.object({}),
      output: z.object({ price: z.int() }),
      play({ state, say }) {
        state.public.asked = true
        return say('An offer.', { price: 12 })
      },
    }),
  }),
  rewards: { one: () => 0 },
})
