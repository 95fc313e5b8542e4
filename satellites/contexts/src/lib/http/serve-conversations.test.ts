import { createHost } from '@episodic/mcp-server'
import { type HttpOptions, serveHttp } from '@episodic/mcp-server/http'
import type { OpenResult } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineConversation } from '../define/define-conversation.ts'
import { conversationEnvironment } from '../environment/conversation-environment.ts'
import { openTalker } from '../fixtures/talker.fixture.ts'
import { booking, literal, shared, support, travel, weather } from '../fixtures/travel.fixture.ts'
import type { Conversation } from '../model/conversation.ts'
import type { Interpreter } from '../model/interpreter.ts'
import { serveConversations } from './serve-conversations.ts'

const Goal = z.object({ to: z.string() })

function environmentOf(conversation: Conversation<(typeof travel)['contexts'], typeof shared>) {
  return conversationEnvironment(conversation, {
    version: '1.0.0',
    description: 'Book a flight.',
    params: z.object({}),
    limits: { steps: 10_000 },
    goal: {
      schema: Goal,
      draw: () => ({ to: 'Oslo' }),
      describe: ({ to }) => `Fly to ${to}.`,
      reached: ({ record, goal: { to } }) => booking.closed(record).some(({ result }) => result?.to === to),
    },
  })
}

/** The same conversation with another interpreter. */
function understoodBy(interpreter: Interpreter) {
  return defineConversation({ name: 'travel', contexts: [booking, weather, support], interpreter, shared })
}

const BOOK = 'book-flight 1 {"from":"Lahore"}'
const TO_DUBAI = 'set-route 1 {"to":"Dubai"}'

/** Serves the conversation for the length of the test. */
async function serveTravel({ conversation = travel, ...options }: HttpOptions & { conversation?: typeof travel } = {}) {
  const environment = environmentOf(conversation)
  const host = createHost({ environments: [environment] })
  const opened: OpenResult[] = []
  const extraRoutes = serveConversations(host, [environment], { onOpened: (session) => opened.push(session) })
  const server = await serveHttp(host, { ...options, extraRoutes })
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]()
    await host[Symbol.asyncDispose]()
  })
  const url = `http://127.0.0.1:${server.port}/conversations/travel`
  return { host, server, url, opened, token: server.controlToken }
}

describe('a conversation over a WebSocket', () => {
  it('can be joined, answers, and pushes every turn with its transitions and the stack', async () => {
    const { url } = await serveTravel()
    const talker = await openTalker(url)
    const joined = await talker.join()
    expect(joined).toMatchObject({ turn: 0, turns: [], missed: false, stack: [], ended: null })
    expect(joined).toMatchObject({ publishes: false })
    expect(joined).not.toHaveProperty('control')
    expect(await talker.say(BOOK)).toEqual({
      type: 'answer',
      seq: 0,
      replies: ['Where do you fly to?'],
      intent: 'book-flight',
      refused: null,
      replayed: false,
    })
    const first = await talker.next('news')
    expect(first).toMatchObject({ turn: 1, missed: false, stack: [{ context: 'booking', state: 'collecting' }] })
    expect(first.turns).toMatchObject([{ turn: 1, kind: 'utterance', text: BOOK, replies: ['Where do you fly to?'] }])
    await talker.say('ask-weather 1 {"city":"Dubai"}')
    const [digression] = (await talker.next('news')).turns
    expect(digression?.transitions.map(({ kind, context }) => `${context} ${kind}`)).toEqual([
      'booking suspended',
      'weather opened',
      'weather moved',
      'weather finished',
      'booking resumed',
    ])
    talker.send({ type: 'act', seq: 2, intent: 'set-route', slots: { to: 'Dubai' } })
    expect(await talker.next('answer')).toMatchObject({ seq: 2, refused: null })
    expect((await talker.next('news')).stack).toMatchObject([
      { state: 'confirming', data: { from: 'Lahore', to: 'Dubai' } },
    ])
  })

  it('returns the stored answer for a repeated seq, and rejects a wrong one with the expected one', async () => {
    const { url } = await serveTravel()
    const talker = await openTalker(url)
    await talker.join()
    const answer = await talker.say(BOOK, 0)
    expect(await talker.say(BOOK, 0)).toEqual({ ...answer, replayed: true })
    expect(await talker.fail({ type: 'say', seq: 0, text: 'something else' })).toMatchObject({
      code: 'seq-reused',
      seq: 0,
      expected: 1,
    })
    expect(await talker.fail({ type: 'say', seq: 7, text: 'too early' })).toMatchObject({
      code: 'seq-conflict',
      message:
        'Message 7 is not the next one: 1 are answered. Send it with seq 1. If you counted right, the server has lost what came in between: say that again first.',
      seq: 7,
      expected: 1,
    })
    await talker.say(TO_DUBAI, 1)
    expect(await talker.fail({ type: 'say', seq: 0, text: BOOK })).toMatchObject({ code: 'seq-conflict', expected: 2 })
    expect((await talker.next('news')).turns).toHaveLength(1)
  })

  it('resumes with no turn lost or repeated, wherever the connection drops', async () => {
    const { url } = await serveTravel()
    const lines = [BOOK, 'ask-weather 1 {"city":"Oslo"}', TO_DUBAI, 'set-passengers 1 {"count":3}', 'next-day 1']
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('none', 'after-sending', 'after-answer'), {
          minLength: lines.length,
          maxLength: lines.length,
        }),
        async (drops) => {
          let talker = await openTalker(url)
          const { handle } = await talker.join()
          const turns: unknown[] = []
          let turn = 0
          const hear = (news: { turn: number; turns: readonly unknown[]; missed: boolean }) => {
            expect(news.missed).toBe(false)
            turns.push(...news.turns)
            turn = news.turn
          }
          const resume = async () => {
            talker.webSocket.terminate()
            talker = await openTalker(url)
            hear(await talker.resume(handle, turn))
          }
          for (const [seq, line] of lines.entries()) {
            if (drops[seq] === 'after-sending') {
              talker.send({ type: 'say', seq, text: line })
              await resume()
            }
            await talker.say(line, seq)
            if (drops[seq] === 'after-answer') await resume()
            while (turn <= seq) hear(await talker.next('news'))
          }
          expect(turns).toMatchObject(lines.map((text, at) => ({ turn: at + 1, text })))
          talker.webSocket.terminate()
        },
      ),
      { numRuns: 12, seed: 7 },
    )
  })

  it('is taken over by a second connection, and the first one is closed with a code that says so', async () => {
    const { url } = await serveTravel()
    const [first, second] = [await openTalker(url), await openTalker(url)]
    const { handle } = await first.join()
    await first.say(BOOK)
    expect(await second.resume(handle, 0)).toMatchObject({ handle, turn: 1, turns: [{ text: BOOK }] })
    expect(await first.closed).toEqual({
      code: 4_001,
      reason: 'Another connection has taken this conversation over.',
    })
    expect(await second.say(TO_DUBAI, 1)).toMatchObject({ refused: null })
  })
})

describe('events', () => {
  const price = (id: string, to: object | 'conversation' = 'conversation') => ({
    type: 'publish',
    id,
    event: 'price-changed',
    data: { price: 250 },
    to,
  })

  it('can be published by a client with a trainer token, once for each id, also to suspended contexts', async () => {
    const { url, token } = await serveTravel()
    const operator = await openTalker(url, { token })
    const { handle, control } = await operator.join()
    expect(control).toMatch(/^ctl_/)
    await operator.say(BOOK)
    await operator.say('ask-refund 1')
    while ((await operator.next('news')).turn < 2);
    operator.send(price('news-1', { context: 'booking' }))
    expect(await operator.next('published')).toMatchObject({ id: 'news-1', delivered: 'now' })
    const news = await operator.next('news')
    expect(news).toMatchObject({
      turns: [
        { turn: 3, kind: 'event', text: 'price-changed', replies: expect.arrayContaining(['The price is now 250.']) },
      ],
      stack: [{ context: 'booking', data: { price: 250 } }, { context: 'support' }],
    })
    const resumed = await openTalker(url, { token })
    expect(await resumed.resume(handle, 3)).toMatchObject({ turns: [], publishes: true })
    resumed.send(price('news-1', { context: 'booking' }))
    expect(await resumed.next('published')).toMatchObject({ delivered: 'before' })
    resumed.send(price('news-2'))
    expect(await resumed.next('published')).toMatchObject({ delivered: 'now' })
  })

  it('are rejected from any other client, and with an error if they are malformed', async () => {
    const { url, token, host, opened } = await serveTravel()
    const guest = await openTalker(url, { token: 'no-token-of-this-server-at-all' })
    await guest.join()
    expect(await guest.fail(price('1'))).toMatchObject({ code: 'unauthorized', id: '1' })
    const operator = await openTalker(url, { token })
    const { handle } = await operator.join()
    expect(await operator.fail({ ...price('2'), event: 'meteor' })).toMatchObject({
      code: 'invalid-params',
      message: 'travel takes no event "meteor". It takes: price-changed, sold-out.',
      id: '2',
    })
    expect(await operator.fail({ ...price('3'), data: { price: 'much' } })).toMatchObject({ code: 'invalid-params' })
    expect(await operator.fail(price('4', { context: 'nowhere' }))).toMatchObject({
      code: 'invalid-params',
      message: expect.stringContaining('{ context } with one of booking, weather, support'),
    })
    expect(await operator.say('end 1')).toMatchObject({ seq: 0, refused: null })
    expect(await operator.fail(price('5'))).toMatchObject({ code: 'episode-ended', id: '5' })
    expect(await operator.fail({ type: 'say', seq: 1, text: BOOK })).toMatchObject({ code: 'episode-ended', seq: 1 })
    await (await host.resolve('control', { by: 'control', token: (opened[1] as OpenResult).session })).close()
    expect(await operator.fail({ type: 'resume', handle })).toMatchObject({ code: 'session-not-found' })
  })
})

describe('bad input', () => {
  it('is answered with an error, and the conversation continues', async () => {
    const { url } = await serveTravel()
    const talker = await openTalker(url)
    expect(await talker.fail({ type: 'say', seq: 0, text: BOOK })).toMatchObject({
      code: 'invalid-request',
      message: 'Join a conversation first, or resume one by its handle.',
      seq: 0,
    })
    expect(await talker.fail({ type: 'resume', handle: 'cap_nothing' })).toMatchObject({ code: 'session-not-found' })
    await talker.join()
    for (const frame of ['{', '[]', 'null', '7', '"join"', '{}', '{"type":"shout"}', '{"type":"say","text":"no seq"}'])
      expect(await talker.fail(frame)).toMatchObject({ code: 'invalid-request' })
    expect(await talker.fail({ type: 'say', seq: 0, text: 'x'.repeat(1_000_000) })).toMatchObject({
      code: 'too-large',
      message: 'A frame of 1000032 characters is too large. At most 65536 are read.',
    })
    const long = await talker.say('x'.repeat(5_000))
    expect(long).toMatchObject({
      seq: 0,
      replies: [],
      refused: 'Invalid arguments for say: text: Too big: expected string to have <=4000 characters.',
    })
    expect(await talker.say(BOOK)).toMatchObject({ seq: 1, refused: null })
    talker.webSocket.send(Buffer.from([1, 2, 3]))
    expect((await talker.closed).code).toBe(1_003)
  })

  it('never breaks a conversation, whatever a client sends', async () => {
    const { url } = await serveTravel({ limits: { rate: { calls: 100_000, seconds: 1 } } })
    const talker = await openTalker(url)
    await talker.join()
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (text) => {
        expect(await talker.fail(text)).toMatchObject({ type: 'error', code: 'invalid-request' })
      }),
      { numRuns: 100, seed: 1 },
    )
    expect(await talker.say(BOOK)).toMatchObject({ refused: null })
  })

  it('includes interpretations: one that throws, is late or is invalid leads to a question', async () => {
    const clumsy = understoodBy({
      name: 'clumsy',
      later: true,
      async interpret({ text, signal }) {
        if (text === 'throw') throw new Error('It broke.')
        if (text === 'late')
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        if (text === 'nonsense') return { candidates: 'nonsense' } as never
        return literal.interpret({ text } as never)
      },
    })
    const conversation: typeof travel = {
      ...clumsy,
      interpret: (record, text, options) => clumsy.interpret(record, text, { ...options, milliseconds: 20 }),
    }
    const { url } = await serveTravel({ conversation })
    const talker = await openTalker(url)
    await talker.join()
    for (const text of ['throw', 'late', 'nonsense'])
      expect(await talker.say(text)).toMatchObject({
        refused: null,
        replies: ['I could not make that out just now. Please say it again.'],
      })
    expect(await talker.say(BOOK)).toMatchObject({ replies: ['Where do you fly to?'] })
  })
})

describe('the server of conversations', () => {
  it('checks Host, Origin and token as the endpoints do', async () => {
    const agentTokens = { 'a-token-of-twenty-two-characters': 'ada' }
    const { url } = await serveTravel({ auth: { agentTokens } })
    const refused = (options: Parameters<typeof openTalker>[1]) =>
      openTalker(url, options).then(
        () => 'let in',
        (error: Error) => error.message,
      )
    expect(await refused({ token: 'a-token-of-nobody-that-we-know' })).toBe('Unexpected server response: 401')
    expect(await refused({})).toBe('Unexpected server response: 401')
    expect(await refused({ token: 'a-token-of-twenty-two-characters', origin: 'https://elsewhere.example' })).toBe(
      'Unexpected server response: 403',
    )
    expect(await refused({ token: 'a-token-of-twenty-two-characters', headers: { host: 'evil.example' } })).toBe(
      'Unexpected server response: 403',
    )
    expect(await refused({ token: 'a-token-of-twenty-two-characters' })).toBe('let in')
  })

  it('answers every frame that it has read before it stops, and then closes', async () => {
    const slow = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const conversation = understoodBy({
      name: 'slow',
      later: true,
      async interpret(request) {
        asked.resolve()
        await slow.promise
        return literal.interpret(request)
      },
    })
    const { url, server } = await serveTravel({ conversation })
    const talker = await openTalker(url)
    await talker.join()
    const answer = talker.say(BOOK)
    await asked.promise
    const drained = server.drain()
    slow.resolve()
    expect(await answer).toMatchObject({ seq: 0, replies: ['Where do you fly to?'] })
    expect(await drained).toBe(0)
    expect((await talker.closed).code).toBe(1_001)
  })
})
