import type { LimitsRequest, OpenResult } from '@episodic/protocol'
import { systemClock } from '@episodic/state'
import { describe, expect, it } from 'vitest'
import { kuhn } from '../fixtures/kuhn.fixture.ts'
import { OFFICIAL_CLIENTS, type OfficialClient, type ToolAnswer } from '../fixtures/official-clients.fixture.ts'
import { asking, rpc, serveTestHost } from '../fixtures/testbed.fixture.ts'
import { throwingHands } from '../fixtures/throwing-hands.fixture.ts'

/** A served session, and the session URL of each seat. */
async function openGame(environment: string, { params = {}, limits = {} as LimitsRequest, waitSeconds = 20 } = {}) {
  const bounds = { waitSeconds }
  const { host, server, clock } = await serveTestHost(
    {},
    { environments: [kuhn, throwingHands], bounds, ...(waitSeconds < 1 && { clock: systemClock }) },
  )
  const opened = await host.open(null, asking({ environment, params, limits, seed: 'cards' }))
  const url = (seat: string) => server.sessionUrl(opened.seats[seat]?.capability as string)
  return { host, server, clock, opened, url }
}

const textOf = ({ content }: ToolAnswer) => (content as [{ text: string }])[0].text
const act = (client: OfficialClient, move: string) => client.callTool({ name: 'act', arguments: { move } })
const throws = (client: OfficialClient, hand: string) => client.callTool({ name: 'throw', arguments: { hand } })
const wait = (client: OfficialClient) => client.callTool({ name: 'wait', arguments: {} })

describe.each(Object.keys(OFFICIAL_CLIENTS) as (keyof typeof OFFICIAL_CLIENTS)[])('two players with %s', (name) => {
  const connect = OFFICIAL_CLIENTS[name]

  it('play a game in turns: each call is answered when its seat may act again', async () => {
    const { url, opened } = await openGame('kuhn-poker')
    const [first, second] = await Promise.all([connect(url('first')), connect(url('second'))])
    expect((await second.listTools()).tools.map((tool) => tool.name)).toEqual(['act', 'wait'])
    expect(first.getInstructions()).toContain('You play the seat first.')
    const [passed, waited] = await Promise.all([
      act(first, 'pass').then(async (answer) => ({ answer, last: await act(first, 'bet') })),
      wait(second).then(async (answer) => ({ answer, last: await act(second, 'bet') })),
    ])
    expect(textOf(waited.answer)).toContain('Moves so far: p.')
    expect(textOf(passed.answer)).toBe(`You pass.\nYou hold ${cardOf(opened, 'first')}. Moves so far: pb.`)
    expect(passed.last.structuredContent).toMatchObject({ episode_over: true, moves: 'pbb' })
    expect(waited.last.structuredContent).toMatchObject({ episode_over: true, moves: 'pbb' })
    expect(textOf(passed.last)).toContain('The episode is over.')
  })

  it('read that the episode is over if a refused call was the last one', async () => {
    const { url } = await openGame('kuhn-poker', { limits: { steps: 1 } })
    const first = await connect(url('first'))
    const answer = await act(first, 'fold')
    expect(answer.isError).toBe(true)
    expect(textOf(answer)).toContain('Invalid arguments for act')
    expect(textOf(answer)).toContain('The episode is over.')
  })

  it('are notified at once and every 5 seconds that a call waits, if they ask for progress', async () => {
    const { url, clock } = await openGame('kuhn-poker')
    const [first, second] = await Promise.all([connect(url('first')), connect(url('second'))])
    const reported: string[] = []
    let notified = Promise.withResolvers<void>()
    const onprogress = ({ message = '' }: { message?: string }) => {
      reported.push(message)
      notified.resolve()
    }
    const options = name === 'SDK 1' ? [undefined, { onprogress }] : [{ onprogress }]
    const call = { name: 'act', arguments: { move: 'bet' } }
    const held = (first as unknown as { callTool(...args: unknown[]): Promise<ToolAnswer> }).callTool(call, ...options)
    await notified.promise
    notified = Promise.withResolvers()
    clock.advance(5_000)
    await notified.promise
    await act(second, 'pass')
    expect((await held).structuredContent).toMatchObject({ episode_over: true })
    expect(reported).toEqual(['Waiting for your turn.', 'Waiting for your turn.'])
  })

  it('play a round at once: nobody is answered before both have moved', async () => {
    const { url } = await openGame('rock-paper-scissors', { params: { rounds: 2 } })
    const [one, two] = await Promise.all([connect(url('player_0')), connect(url('player_1'))])
    const [first, second] = await Promise.all([throws(one, 'rock'), throws(two, 'paper')])
    for (const answer of [first, second]) expect(textOf(answer)).toContain('Rounds: rock-paper.')
  })
})

function cardOf({ seats }: OpenResult, seat: string): string {
  const { observation } = seats[seat] as OpenResult['seats'][string]
  return (observation.structured as { own: { card: string } }).own.card
}

describe('a call of a seat', () => {
  it('out of turn is answered at once, costs nothing and says what to do', async () => {
    const { host, url, opened } = await openGame('kuhn-poker')
    const second = await OFFICIAL_CLIENTS['SDK 1'](url('second'))
    const early = await act(second, 'bet')
    expect(early.isError).toBe(true)
    expect(textOf(early)).toBe('It is not your turn, so nothing was played. Call wait, which answers when it is.')
    const session = await host.resolve(null, { by: 'control', token: opened.session })
    expect((await session.state()).seats).toEqual({ first: { seq: 0 }, second: { seq: 0 } })
  })

  it('is answered after a while even if its turn does not come, and the move stays', async () => {
    const { host, url, opened } = await openGame('kuhn-poker', { waitSeconds: 0.05 })
    const first = await OFFICIAL_CLIENTS['SDK 1'](url('first'))
    expect(textOf(await act(first, 'bet'))).toBe(
      'You bet.\nIt is not your turn yet. Call wait, which answers when it is.',
    )
    expect(textOf(await wait(first))).toBe('It is not your turn yet. Call wait, which answers when it is.')
    const session = await host.resolve(null, { by: 'control', token: opened.session })
    expect((await session.state()).seats.first).toEqual({ seq: 1 })
  })

  it('is held as long as its URL says', async () => {
    const { url, clock, opened, host } = await openGame('kuhn-poker')
    const [patient, hasty] = [`${url('first')}?hold=60`, `${url('second')}?hold=0`]
    const [first, second] = await Promise.all([patient, hasty].map(OFFICIAL_CLIENTS['SDK 1']))
    const held = act(first as OfficialClient, 'pass')
    const session = await host.resolve(null, { by: 'control', token: opened.session })
    await session.turn({ seat: 'second', wait: 60 })
    clock.advance(59_000)
    expect(textOf(await act(second as OfficialClient, 'bet'))).toContain('It is not your turn yet.')
    expect(textOf(await held)).toContain('Moves so far: pb.')
  })

  it.each(['301', '-1', '1.5', '', 'long', '5&hold=6'])('is rejected at a URL with hold=%s', async (hold) => {
    const { url } = await openGame('kuhn-poker')
    const { status, text } = await rpc(`${url('first')}?hold=${hold}`, 'ping')
    expect(status).toBe(400)
    expect(text).toContain('has to be one whole number of seconds from 0 to 300, as in ?hold=60.')
  })

  it('is held on half of the connections for one caller: its further ones are answered at once', async () => {
    const agentTokens = { ['a'.repeat(22)]: 'anna', ['b'.repeat(22)]: 'ben' }
    const options = { auth: { agentTokens }, limits: { connections: 6 } }
    const { host, server } = await serveTestHost(options, { environments: [kuhn] })
    const [anna, ben] = Object.keys(agentTokens).map((token) => ({ authorization: `Bearer ${token}` }))
    const callOf = async (headers = {}) => {
      const { seats } = await host.open(null, asking({ environment: 'kuhn-poker', seed: 'cards' }))
      const url = (seat: string) => `${server.sessionUrl(seats[seat]?.capability as string)}?hold=`
      const act = { name: 'act', arguments: { move: 'pass' } }
      const play = () => rpc(`${url('first')}0`, 'tools/call', act, headers)
      const answer = rpc(`${url('second')}300`, 'tools/call', { name: 'wait', arguments: {} }, headers)
      return { play, text: answer.then(({ text }) => text) }
    }
    const calls = await Promise.all([anna, anna, anna, anna].map(callOf))
    expect(await Promise.race(calls.map(({ text }) => text))).toContain('It is not your turn yet.')
    const other = await callOf(ben)
    for (const { play } of [...calls, other]) await play()
    const answers = await Promise.all(calls.map(({ text }) => text))
    expect(answers.filter((text) => text.includes('Moves so far: p.'))).toHaveLength(3)
    expect(await other.text).toContain('Moves so far: p.')
    const again = await callOf(anna)
    await again.play()
    expect(await again.text).toContain('Moves so far: p.')
  })

  it('is released when the server drains', async () => {
    const { host, server, url, opened } = await openGame('kuhn-poker')
    const first = await OFFICIAL_CLIENTS['SDK 1'](url('first'))
    const held = act(first, 'bet')
    const session = await host.resolve(null, { by: 'control', token: opened.session })
    await session.turn({ seat: 'second', wait: 60 })
    await server.drain()
    expect(textOf(await held)).toContain('It is not your turn yet.')
  })

  it('shows a seat its own state alone, also as a resource', async () => {
    const { url, opened } = await openGame('kuhn-poker')
    const second = await OFFICIAL_CLIENTS['SDK 1'](url('second'))
    const read = (await second.readResource({ uri: 'episodic://session/state' })) as { contents: [{ text: string }] }
    expect(JSON.parse(read.contents[0].text)).toEqual({
      seat: 'second',
      turn: ['first'],
      moves: '',
      own: { card: cardOf(opened, 'second') },
    })
  })
})
