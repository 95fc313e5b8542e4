import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createModelReplyWriter } from '../../model.ts'
import { defineConversation } from '../define/define-conversation.ts'
import { conversationEnvironment } from '../environment/conversation-environment.ts'
import { type Asked, json, openModel, says } from '../fixtures/model.fixture.ts'
import { literal, shared, travel } from '../fixtures/travel.fixture.ts'
import { factProblem } from './fact-problem.ts'
import type { ReplyWriter } from './reply-writer.ts'

const BOOK = 'book-flight 0.9 {"from":"Lahore","to":"Oslo"}'
const WRITTEN = 'Gladly! That is Lahore to Oslo for only 100 dollars: shall I book it for you?'

function talk(writer: ReplyWriter) {
  const conversation = defineConversation({
    name: 'travel',
    contexts: travel.contexts,
    shared,
    interpreter: literal,
    writer,
  })
  const environment = conversationEnvironment(conversation, {
    version: '1.0.0',
    description: 'Book a flight.',
    params: z.object({}),
    goal: { schema: z.object({}), draw: () => ({}), describe: () => 'Book a flight.', reached: () => false },
  })
  return { conversation, environment }
}

const byModel = (baseUrl: string, milliseconds = 4_000) =>
  createModelReplyWriter({ model: 'small', baseUrl, apiKey: 'any', milliseconds, style: 'cheerful' })

/** The replies to a booking in a conversation whose writer is a model. */
async function write(answer: Parameters<typeof openModel>[0]) {
  await using model = await openModel(answer)
  const { conversation } = talk(byModel(model.baseUrl))
  const { record } = conversation.start()
  const interpreted = conversation.interpretNow(record, BOOK, { now: 0 })
  const input = { kind: 'utterance', text: BOOK, interpreted, now: 0 } as const
  const written = await conversation.write(record, input)
  const { replies, record: after } = conversation.handleInput(record, JSON.parse(JSON.stringify({ ...input, written })))
  return { written, replies: replies.map(({ text }) => text), after, asked: model.asked }
}

describe('a model that writes the replies', () => {
  it('receives the facts and the style, and its text is sent and recorded in their place', async () => {
    const { written, replies, after, asked } = await write(says(WRITTEN))
    expect(written).toEqual({ text: WRITTEN, problem: null })
    expect(replies).toEqual([WRITTEN])
    expect(after.public.history.at(-1)?.replies).toEqual([WRITTEN])
    const [question] = asked
    const [system, user] = (question as Asked).body.messages as { content: string }[]
    expect(system?.content).toContain('cheerful')
    expect(JSON.parse(user?.content as string)).toEqual({
      facts: ['Lahore to Oslo for 100: shall I book?'],
      said: BOOK,
      history: [],
    })
  })

  it.each<[string, Parameters<typeof openModel>[0], string]>([
    ['fails', json(500, { error: { message: 'out of memory' } }), 'failed: 500'],
    ['says nothing', says(''), 'said nothing'],
    ['gives no choices', json(200, { choices: [] }), 'no text'],
    ['says far too much', says('x'.repeat(5_000)), 'said 5000 characters, and at most 4000'],
    ['drops the price', says('Lahore to Oslo: shall I book?'), 'left out "100"'],
    ['changes the price', says('Lahore to Oslo for 99: shall I book?'), 'left out "100"'],
    ['adds a number', says('Lahore to Oslo for 100, seat 12: shall I book?'), 'invented "12"'],
    ['drops a city', says('From Lahore for 100: shall I book?'), 'left out "Oslo"'],
    ['adds a city', says('Lahore to Oslo via Doha for 100: shall I book?'), 'invented "Doha"'],
    ['does not ask', says('It is Lahore to Oslo for 100.'), 'asks nothing'],
  ])('that %s leaves the replies unchanged, and the result says why', async (_, answer, problem) => {
    const { written, replies } = await write(answer)
    expect(written.text).toBeNull()
    expect(written.problem).toContain(problem)
    expect(replies).toEqual(['Lahore to Oslo for 100: shall I book?'])
  })

  it('writes in an environment, for words and acts; forks and replays need no model', async () => {
    const model = await openModel((response, { body }) => {
      const [, user] = body.messages as { content: string }[]
      const { facts } = JSON.parse(user?.content as string)
      says(`So: ${facts.join(' ')}`)(response)
    })
    await using host = createHost({ environments: [talk(byModel(model.baseUrl)).environment] })
    await using connection = await connect(inProcess(host))
    await using environment = connection.environment()
    await environment.reset({ seed: 'a' })
    const said = await environment.step({ tool: 'say', arguments: { text: BOOK } })
    expect(said.observation.structured?.replies).toEqual(['So: Lahore to Oslo for 100: shall I book?'])
    const acted = await environment.step({ tool: 'act', arguments: { intent: 'ask-refund' } })
    expect(acted.observation.structured?.replies).toEqual(['So: What went wrong?'])
    expect(model.asked).toHaveLength(2)

    const [fork] = await environment.fork({ count: 1, at: 1 })
    await using line = fork
    // The earlier step is replayed with its recorded text; the next one is new.
    expect(model.asked).toHaveLength(2)
    expect((await line?.step({ tool: 'act', arguments: { intent: 'ask-refund' } }))?.observation).toEqual(
      acted.observation,
    )
    expect(model.asked).toHaveLength(3)
    // Without the model the replies are sent unchanged.
    await model[Symbol.asyncDispose]()
    const alone = await line?.step({ tool: 'act', arguments: { intent: 'close-case' } })
    expect(alone?.observation.structured?.replies).toContain('Lahore to Oslo for 100: shall I book?')
  })
})

describe('factProblem', () => {
  const facts = ['EP 139, Lahore to Dubai, Thu 8 Jan 2026 at 16:40, 1 passenger in economy, $1149.', 'Shall I book it?']
  const about = { facts, said: 'for 1 please, Emirates if you can', history: [] }

  it.each([
    'OK! Flight EP 139 leaves Lahore for Dubai on Thursday, 8 January 2026 at 16:40. For 1 passenger it is $1,149. Shall I book?',
    "I'd take EP 139 (Lahore to Dubai, Thu 8 Jan 2026, 16:40) at $1149 for 1 passenger, no Emirates, I am afraid. Would you like it?",
  ])('accepts other words for the same facts: %s', (text) => {
    expect(factProblem(text, about)).toBeNull()
  })

  it.each([
    ['EP 138, Lahore to Dubai, Thu 8 Jan 2026 at 16:40, 1 passenger, $1149?', 'left out "139"'],
    ['XQ 139, Lahore to Dubai, Thu 8 Jan 2026 at 16:40, 1 passenger, $1149?', 'left out "EP"'],
    ['EP 139 by XQ, Lahore to Dubai, Thu 8 Jan 2026 at 16:40, 1 passenger, $1149?', 'invented "XQ"'],
    ['EP 139, Lahore to Dubai, Thu 8 Jan 2026 at 4:40, 1 passenger, $1149?', 'left out "16:40"'],
    ['EP 139, Lahore to Dubai, Fri 8 Jan 2026 at 16:40, 1 passenger, $1149?', 'left out "Thu"'],
  ])('finds facts that are dropped or invented: %s', (text, problem) => {
    expect(factProblem(text, about)).toBe(problem)
  })
})
