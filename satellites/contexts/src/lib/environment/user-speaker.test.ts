import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createModelSpeaker } from '../../model.ts'
import { type Asked, json, openModel, says } from '../fixtures/model.fixture.ts'
import { openEnvironment } from '../fixtures/open-environment.fixture.ts'
import { booking, travel } from '../fixtures/travel.fixture.ts'
import { conversationEnvironment } from './conversation-environment.ts'
import type { UserSimulator } from './user-simulator.ts'
import type { UserSpeaker } from './user-speaker.ts'

const Goal = z.object({ from: z.string(), to: z.string() })

/** Repeats itself until the flight is booked or its patience ends. */
const traveller: UserSimulator<z.output<typeof Goal>, z.ZodObject<{ patience: z.ZodInt }>> = {
  state: z.object({ patience: z.int() }),
  start: () => ({ state: { patience: 4 }, says: 'Hello.' }),
  answer({ state, goal, record }) {
    if (booking.closed(record).some(({ result }) => result?.to === goal.to))
      return { kind: 'leaves', text: 'Thank you!', reason: 'content' }
    state.patience -= 1
    return state.patience === 0
      ? { kind: 'leaves', text: 'Never mind.', reason: 'out-of-patience' }
      : { kind: 'says', text: `By the script: to ${goal.to}.` }
  },
}

function desk(speaker?: UserSpeaker): EnvironmentDefinition {
  return conversationEnvironment(travel, {
    name: 'desk',
    version: '1.0.0',
    description: 'Book what a traveller asks for.',
    params: z.object({}),
    goal: {
      schema: Goal,
      draw: () => ({ from: 'Lahore', to: 'Doha' }),
      describe: ({ from, to }) => `Book a flight from ${from} to ${to} on 2026-01-08.`,
      reached: ({ record, goal }) => booking.closed(record).some(({ result }) => result?.to === goal.to),
    },
    user: traveller,
    ...(speaker && { speaker }),
  })
}

const byModel = (baseUrl: string) =>
  createModelSpeaker({ model: 'small', baseUrl, apiKey: 'any', styles: ['curt', 'chatty'] })

const reply = (text: string) => ({ tool: 'reply', arguments: { text } })

/** The user's line after the first reply, if a model speaks. */
async function hear(answer: Parameters<typeof openModel>[0]) {
  await using model = await openModel(answer)
  await using world = await openEnvironment(desk(byModel(model.baseUrl)))
  await world.environment.reset({ seed: 'a' })
  const step = await world.environment.step(reply('Where do you want to fly?'))
  return { step, asked: model.asked }
}

describe('a model that speaks for the simulated user', () => {
  it("receives the user's goal, the style and the dialogue, and the agent receives its line", async () => {
    const { step, asked } = await hear(says('To Doha, please.'))
    expect(step.observation.structured).toEqual({ said: 'To Doha, please.' })
    expect(step.info.prepared).toEqual({ text: 'To Doha, please.', problem: null })
    const [question] = asked
    const [system, user] = (question as Asked).body.messages as { content: string }[]
    expect(system?.content).toMatch(/You talk like this: (curt|chatty)\.$/)
    expect(JSON.parse(user?.content as string)).toEqual({
      goal: 'Book a flight from Lahore to Doha on 2026-01-08.',
      dialogue: [
        { by: 'user', text: 'Hello.' },
        { by: 'assistant', text: 'Where do you want to fly?' },
      ],
      screen: [],
    })
  })

  it.each<[string, Parameters<typeof openModel>[0], string]>([
    ['fails', json(503, { error: { message: 'no capacity' } }), 'failed: 503'],
    ['says nothing', says(' '), 'said nothing'],
    ['wants to go elsewhere', says('I want to fly to Oslo.'), 'invented "Oslo"'],
    ['makes up a date', says('On 9 January, please.'), 'invented "9"'],
    ['talks for ever', says('to '.repeat(3_000)), 'at most 4000 are allowed'],
  ])('that %s is replaced by the script for this turn, and the step records why', async (_, answer, problem) => {
    const { step } = await hear(answer)
    expect(step.observation.structured).toEqual({ said: 'By the script: to Doha.' })
    expect(step.info.prepared).toMatchObject({ text: null, problem: expect.stringContaining(problem) })
  })

  it('leaves when the script leaves, so that ends and rewards depend on no model', async () => {
    await using model = await openModel(says('Not yet.'))
    await using world = await openEnvironment(desk(byModel(model.baseUrl)))
    await world.environment.reset({ seed: 'a' })
    await world.environment.step({ tool: 'book-flight', arguments: { from: 'Lahore', to: 'Doha' } })
    await world.environment.step({ tool: 'pay', arguments: {} })
    const last = await world.environment.step(reply('It is booked.'))
    expect(last.end).toEqual({ kind: 'terminated', reason: 'content' })
    expect(last.reward.terms.success).toBe(1)
    expect(last.observation.structured).toEqual({ said: 'Thank you!' })
  })

  it('is not needed for a replay or a fork', async () => {
    let turn = 0
    const model = await openModel((response) => says(`Well, number ${turn++ === 0 ? '2026' : '8'} it is.`)(response))
    const environment = desk(byModel(model.baseUrl))
    await using world = await openEnvironment(environment)
    await world.environment.reset({ seed: 'a' })
    const steps: Awaited<ReturnType<typeof world.environment.step>>[] = []
    for (const text of ['First?', 'Second?']) steps.push(await world.environment.step(reply(text)))
    expect(steps.map(({ observation }) => observation.structured?.said)).toEqual([
      'Well, number 2026 it is.',
      'Well, number 8 it is.',
    ])
    const [fork] = await world.environment.fork({ count: 1, at: 1 })
    await using line = fork
    expect(model.asked).toHaveLength(2)
    await model[Symbol.asyncDispose]()

    const again = rehearse(environment, { params: {}, seed: 'a', strict: true })
    for (const [i, step] of steps.entries()) {
      const played = again.play('reply', { text: ['First?', 'Second?'][i] as string }, { prepared: step.info.prepared })
      expect(played.observation).toEqual(step.observation)
    }
    // Without the model the script speaks.
    expect((await line?.step(reply('Second?')))?.observation.structured).toEqual({ said: 'By the script: to Doha.' })
  })
})
