import { rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineConversation } from '../define/define-conversation.ts'
import { openEnvironment } from '../fixtures/open-environment.fixture.ts'
import { booking, literal, shared, travel } from '../fixtures/travel.fixture.ts'
import type { Interpreter } from '../model/interpreter.ts'
import { conversationEnvironment } from './conversation-environment.ts'
import type { ConversationGoal } from './conversation-goal.ts'
import type { UserSimulator } from './user-simulator.ts'

const Goal = z.object({ from: z.string(), to: z.string() })

const goal: ConversationGoal<typeof Goal, { detours: number }> = {
  schema: Goal,
  draw: ({ rng }) => ({ from: 'Lahore', to: rng.pick(['Dubai', 'Doha', 'Muscat']) }),
  describe: ({ from, to }) => `Book a flight from ${from} to ${to}.`,
  reached: ({ record, goal: { from, to } }) =>
    booking.closed(record).some(({ result }) => result?.from === from && result.to === to),
  accuracy({ record, goal: { from, to } }) {
    const data = (booking.find(record) ?? booking.closed(record).at(-1))?.data
    return (Number(data?.from === from) + Number(data?.to === to)) / 2
  },
  digressions: ({ record, params }) =>
    Math.min(1, record.public.closed.filter(({ context }) => context === 'weather').length / params.detours),
}

const described = {
  version: '1.0.0',
  description: 'Book a flight.',
  params: z.object({ detours: z.int().min(1).default(1) }),
  start: () => ({ now: Date.UTC(2026, 0, 5) }),
  goal,
}

/** States its destination, may correct itself once, and leaves when the flight is booked or its patience ends. */
const traveller: UserSimulator<z.output<typeof Goal>> = {
  state: z.object({ patience: z.int(), changesMind: z.boolean() }),
  start: ({ goal: { from, to }, rng }) => ({
    state: { patience: rng.int(2, 4), changesMind: rng.chance() },
    says: `From ${from} to ${to}, please.`,
  }),
  answer({ state, goal: { to }, record, text }) {
    const user = state as { patience: number; changesMind: boolean }
    if (booking.closed(record).some(({ result }) => result?.to === to))
      return { kind: 'leaves', text: 'Thank you!', reason: 'content' }
    user.patience -= 1
    if (user.patience === 0) return { kind: 'leaves', text: 'Never mind.', reason: 'out-of-patience' }
    return { kind: 'says', text: user.changesMind ? `No, to ${to}!` : `I said to ${to}, and you said: ${text}` }
  },
}

const asUser = conversationEnvironment(travel, described)
const asAssistant = conversationEnvironment(travel, { ...described, user: traveller })

describe('an agent that plays the user', () => {
  it('receives its goal, says words or states intents, and is rewarded term by term', async () => {
    await using world = await openEnvironment(asUser)
    const { observation } = await world.environment.reset({ seed: 'a' })
    const wanted = cityIn(observation.text)
    expect(observation.text).toBe(`You are the user. Book a flight from Lahore to ${wanted}.\nNothing is open.`)
    const terms = []
    for (const [tool, args] of [
      ['say', { text: 'book-flight 0.9 {"from":"Lahore"}' }],
      ['say', { text: `set-route 0.9 {"to":"${wanted}"}` }],
      ['act', { intent: 'ask-weather', slots: { city: wanted } }],
      ['say', { text: 'pay 0.9' }],
    ] as const) {
      const step = await world.environment.step({ tool, arguments: args })
      terms.push(step.reward.terms)
      if (tool === 'act')
        expect(step.observation.structured).toEqual({
          replies: [
            `It is sunny in ${wanted} on day 0.`,
            `Back to your booking, Lahore to ${wanted}.`,
            `Lahore to ${wanted} for 100: shall I book?`,
          ],
          intent: 'ask-weather',
          context: 'booking',
          state: 'confirming',
        })
      if (step.end) expect(step.end).toEqual({ kind: 'terminated', reason: 'goal-reached' })
    }
    expect(terms).toEqual([
      { success: 0, turn: -0.01, accuracy: 0.5, digressions: 0 },
      { success: 0, turn: -0.01, accuracy: 0.5, digressions: 0 },
      { success: 0, turn: -0.01, accuracy: 0, digressions: 1 },
      { success: 1, turn: -0.01, accuracy: 0, digressions: 0 },
    ])
  })

  it('receives outside events, each delivered once, also to suspended contexts', async () => {
    await using world = await openEnvironment(asUser)
    const { environment } = world
    await environment.reset({ seed: 'a' })
    await environment.step({ tool: 'say', arguments: { text: 'book-flight 0.9 {"from":"Lahore","to":"Oslo"}' } })
    await environment.step({ tool: 'say', arguments: { text: 'ask-refund 0.9' } })
    const event = { id: 'news-1', type: 'price-changed', data: { data: { price: 66 }, to: { topic: 'to:Oslo' } } }
    await environment.publish(event)
    await environment.publish(event)
    const step = await environment.step({ tool: 'act', arguments: { intent: 'close-case' } })
    expect(step.observation.text.match(/The price is now 66/g)).toHaveLength(1)
    expect(step.observation.text).toContain('Lahore to Oslo for 66: shall I book?')
    await expect(
      environment.publish({ type: 'price-changed', data: { data: { price: 'low' } } }),
    ).rejects.toMatchObject({
      code: 'invalid-params',
    })
    await expect(
      environment.publish({ type: 'price-changed', data: { data: { price: 1 }, to: { context: 'hotel' } } }),
    ).rejects.toMatchObject({ code: 'invalid-params' })
    await expect(environment.publish({ type: 'storm' })).rejects.toMatchObject({ code: 'invalid-params' })
  })

  it('uses an asynchronous interpretation, which a replay does not request again', async () => {
    let asked = 0
    const slow: Interpreter = {
      name: 'slow',
      later: true,
      async interpret(request) {
        asked += 1
        await Promise.resolve()
        if (request.text === 'crash') throw new Error('out of order')
        return literal.interpret(request)
      },
    }
    const patient = conversationEnvironment(
      defineConversation({ name: 'travel', contexts: travel.contexts, shared, interpreter: slow }),
      described,
    )
    await using world = await openEnvironment(patient)
    await world.environment.reset({ seed: 'a' })
    const crashed = await world.environment.step({ tool: 'say', arguments: { text: 'crash' } })
    expect(crashed.observation.text).toContain('could not make that out')
    const text = 'book-flight 0.9 {"from":"Lahore","to":"Oslo"}'
    const live = await world.environment.step({ tool: 'say', arguments: { text } })
    expect(live.observation.text).toContain('Lahore to Oslo for 100: shall I book?')
    expect(asked).toBe(2)

    const [fork] = await world.environment.fork({ count: 1, at: 1 })
    await using line = fork
    expect(asked).toBe(2)
    expect((await line?.step({ tool: 'say', arguments: { text } }))?.observation).toEqual(live.observation)

    const again = rehearse(patient, { params: { detours: 1 }, strict: true })
    const prepared = { interpreted: { candidates: [{ intent: 'ask-refund', score: 1, slots: {} }], problem: null } }
    expect(again.play('say', { text: 'whatever was said' }, { prepared }).observation.text).toContain(
      'What went wrong?',
    )
    expect(asked).toBe(3)
  })

  it('continues in a fork independently of the original', async () => {
    await using world = await openEnvironment(asUser)
    await world.environment.reset({ seed: 'a' })
    await world.environment.step({ tool: 'say', arguments: { text: 'book-flight 0.9 {"from":"Lahore"}' } })
    const [other] = await world.environment.fork({ count: 1 })
    await using fork = other
    const play = (to: string) => ({ tool: 'act', arguments: { intent: 'set-route', slots: { to } } })
    const [one, two] = [await world.environment.step(play('Dubai')), await fork?.step(play('Doha'))]
    expect(one.observation.text).toContain('Lahore to Dubai')
    expect(two?.observation.text).toContain('Lahore to Doha')
  })
})

describe('an agent that plays the assistant', () => {
  it('uses one tool for each intent, and replies to the user until the user leaves', async () => {
    await using world = await openEnvironment(asAssistant)
    const { observation } = await world.environment.reset({ seed: 'b' })
    expect(observation.text).toMatch(/^The user said: From Lahore to (\w+), please\.\nNothing is open\.$/)
    const wanted = cityIn(observation.text)
    await world.environment.step({ tool: 'book-flight', arguments: { from: 'Lahore' } })
    const asked = await world.environment.step({ tool: 'reply', arguments: { text: 'Where to?' } })
    expect(asked.observation.text).toMatch(/^The user: (No, to|I said to)/)
    await world.environment.step({ tool: 'set-route', arguments: { to: wanted } })
    const paid = await world.environment.step({ tool: 'pay', arguments: {} })
    expect(paid.end).toBeNull()
    const last = await world.environment.step({ tool: 'reply', arguments: { text: 'It is booked.' } })
    expect(last.end).toEqual({ kind: 'terminated', reason: 'content' })
    expect(last.reward.terms.success).toBe(1)
  })
})

function cityIn(text: string): string {
  const city = /to (Dubai|Doha|Muscat)/.exec(text)?.[1]
  if (!city) throw new Error(`Nobody says where to: ${text}`)
  return city
}
