import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerFrame } from '@episodic/contexts/http'
import { METHODS } from '@episodic/protocol'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

/** Joins a conversation with a token of the trainer endpoint, for the length of the test. */
async function join(url: string, token: string) {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), ['episodic', `episodic.bearer.${encodeURIComponent(token)}`])
  onTestFinished(() => socket.close())
  const frames: ServerFrame[] = []
  socket.addEventListener('message', ({ data }) => frames.push(JSON.parse(data as string)))
  await once(socket, 'open')
  const next = async <Type extends ServerFrame['type']>(type: Type) => {
    for (;;) {
      const frame = frames.shift()
      if (frame?.type === type) return frame as Extract<ServerFrame, { type: Type }>
      if (!frame) await once(socket, 'message')
    }
  }
  const send = (frame: object) => socket.send(JSON.stringify(frame))
  send({ type: 'join' })
  return { send, next, joined: await next('joined') }
}

describe('episodic serve of a conversation', () => {
  it('prints where people can talk to it, and accepts events at the trainer endpoint', async () => {
    const served = workshop.start([
      'serve',
      exampleWorld('flight-booking'),
      exampleWorld('number-guessing'),
      '--port',
      '0',
    ])
    const [, url] = (await served.until(/for people {6}(http:\S+)/)) as unknown as [string, string]
    const [, trainerUrl, tokenFile] = (await served.until(
      /trainer endpoint {4}(http:\S+) {3}control token in (\S+)/,
    )) as unknown as [string, string, string]
    await served.until(/Ctrl-C stops\./)
    expect(new URL(url).pathname).toBe('/conversations/flight-booking')
    expect((await fetch(url)).status).toBe(200)
    expect((await fetch(new URL('/conversations/number-guessing', url))).status).toBe(404)

    const token = readFileSync(tokenFile, 'utf8').trim()
    const { send, next, joined } = await join(url, token)
    send({ type: 'say', seq: 0, text: 'I want to book a flight' })
    expect((await next('answer')).replies).toEqual(['Where do you want to fly from?'])
    const event = { id: 'news-1', type: 'price-changed', data: { data: { flight: 'EP 139', seat: 120 } } }
    const response = await fetch(trainerUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: METHODS.publish,
        params: { session: joined.control, ...event },
      }),
    })
    expect(await response.json()).toMatchObject({ result: { delivered: 'now' } })
    let news = await next('news')
    while (news.turn < 2) news = await next('news')
    expect(news.turns).toMatchObject([{ turn: 2, kind: 'event', text: 'price-changed' }])

    served.interrupt()
    const { status, out } = await served.ended
    expect(status).toBe(0)
    expect(out.match(/for people/g)).toHaveLength(1)
    expect(out).not.toContain(token)
  })
})
