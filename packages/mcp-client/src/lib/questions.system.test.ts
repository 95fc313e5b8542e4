import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { MODERN_VERSION } from '@episodic/protocol/internal'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Elicited } from './calls/elicitation.ts'
import { openChannel } from './open-channel.ts'
import type { ChannelOptions, CommandTarget, HttpTarget } from './target.ts'

const command = (...flags: string[]): CommandTarget => ({
  command: process.execPath,
  args: [fileURLToPath(new URL('./fixtures/asking-server.fixture.ts', import.meta.url)), ...flags],
})

/** The same over HTTP, with the stateless version. */
async function serveQuestions(): Promise<HttpTarget> {
  const server = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse((await request.setEncoding('utf8').toArray()).join(''))
    const round = Number(params.requestState ?? 0)
    const { times = Number.POSITIVE_INFINITY, abreast = 1 } = params.arguments ?? {}
    const question = { method: 'elicitation/create', params: { message: 'Once more?', requestedSchema: {} } }
    const inputRequests = Object.fromEntries(Array.from({ length: abreast }, (_, n) => [n, question]))
    const result =
      method === 'server/discover'
        ? { resultType: 'complete', supportedVersions: [MODERN_VERSION], capabilities: {} }
        : round >= times
          ? { resultType: 'complete', content: [{ type: 'text', text: `Asked ${round} times.` }] }
          : { resultType: 'input_required', inputRequests, requestState: String(round + 1) }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` }
}

/** A channel whose person answers every question at once, and how often they were asked. */
async function open(target: CommandTarget | HttpTarget, options: ChannelOptions = {}) {
  const person = { asked: 0 }
  const channel = await openChannel(target, {
    async elicit(): Promise<Elicited> {
      person.asked += 1
      // A bound that does not hold is a failure of the test, and no loop without an end.
      if (person.asked > 100) throw new Error('Asked without an end.')
      return { action: 'accept', content: {} }
    },
    ...options,
  })
  onTestFinished(() => channel.close())
  const call = (asking: { times?: number; abreast?: number }) =>
    channel.request('tools/call', { name: 'ask', arguments: asking })
  return { person, call }
}

const tooMany = (questions: number) => ({
  code: 'refused',
  message: expect.stringContaining(`more than ${questions} times`),
  details: { retryable: false, questions },
})
const answered = (times: number) => ({ content: [{ type: 'text', text: `Asked ${times} times.` }] })

describe.each<[string, () => CommandTarget | Promise<HttpTarget>]>([
  ['over HTTP', serveQuestions],
  ['over a pipe', () => command()],
  ['over a pipe, session-based', () => command('--legacy')],
])('a server that asks before it answers, %s', (_, target) => {
  it('may ask 16 times, and not once more', async () => {
    const { person, call } = await open(await target())
    expect(await call({ times: 16 })).toMatchObject(answered(16))
    await expect(call({ times: 17 })).rejects.toMatchObject(tooMany(16))
    expect(person.asked).toBe(32)
  })

  it('loses the call and not the channel where it never stops asking', async () => {
    const { person, call } = await open(await target())
    await expect(call({})).rejects.toMatchObject(tooMany(16))
    expect(person.asked).toBe(16)
    expect(await call({ times: 1 })).toMatchObject(answered(1))
  })

  it('may ask as often as the option allows', async () => {
    const { person, call } = await open(await target(), { questions: 2 })
    expect(await call({ times: 2 })).toMatchObject(answered(2))
    await expect(call({})).rejects.toMatchObject(tooMany(2))
    expect(person.asked).toBe(4)
  })
})

describe('the bound on questions', () => {
  it.each([
    ['over HTTP', serveQuestions],
    ['over a pipe', () => command()],
  ])('counts questions that are asked together one by one, %s', async (_, target) => {
    const { person, call } = await open(await target())
    await expect(call({ abreast: 1_000 })).rejects.toMatchObject(tooMany(16))
    // A round in which nothing is asked is one too.
    await expect(call({ abreast: 0 })).rejects.toMatchObject(tooMany(16))
    expect(person.asked).toBe(0)
  })

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('cannot be %s', async (questions) => {
    for (const target of [command(), await serveQuestions()])
      await expect(openChannel(target, { questions })).rejects.toMatchObject({ code: 'option-invalid' })
  })
})
