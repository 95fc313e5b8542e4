import { DEFAULT_SEAT, META } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { kuhn } from '../fixtures/kuhn.fixture.ts'
import { asking, controlHeaders, initialize, openOverHttp, rpc, serveTestHost } from '../fixtures/testbed.fixture.ts'

/** Parameters of a guess that carries its number. */
const guess = (value: number, seq?: unknown) => ({
  name: 'guess',
  arguments: { value },
  ...(seq !== undefined && { _meta: { [META.seq]: seq } }),
})

/** A session of number-guessing, played by calls at its session URL. */
async function openSession() {
  const { server } = await serveTestHost()
  const { session, seats } = await openOverHttp(server, { params: { low: 1, high: 100 }, seed: 'numbered' })
  const url = server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
  return {
    play: async (params: object) => (await rpc(url, 'tools/call', params)).json,
    steps: async () => {
      const state = await rpc(server.trainerUrl, 'environment/state', { session }, controlHeaders(server))
      return (state.json.result as unknown as { seats: { agent: { seq: number } } }).seats.agent.seq
    },
  }
}

describe('a call at a session URL that carries its number', () => {
  it('is answered from the step log when it is repeated, and played once', async () => {
    const { play, steps } = await openSession()
    const first = await play(guess(1, 0))
    expect(await play(guess(1, 0))).toEqual(first)
    expect(await steps()).toBe(1)
    const second = await play(guess(1, 1))
    expect(second.result?.structuredContent).not.toEqual(first.result?.structuredContent)
    expect(await steps()).toBe(2)
  })

  it('gets the answer with the end of the episode again', async () => {
    const { server } = await serveTestHost()
    const { seats } = await openOverHttp(server, { params: { low: 5, high: 5 } })
    const url = server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
    const over = (await rpc(url, 'tools/call', guess(5, 0))).json
    expect(over.result?.structuredContent).toMatchObject({ episode_over: true })
    expect((await rpc(url, 'tools/call', guess(5, 0))).json).toEqual(over)
  })

  it.each([
    ['another call under an answered number', 2, 1, 'seq-reused'],
    ['a number that was answered before the last', 1, 0, 'seq-conflict'],
    ['a number that is not reached yet', 1, 7, 'state-lost'],
    ['a number below 0', 1, -1, 'invalid-params'],
    ['a text', 1, '2', 'invalid-params'],
  ])('is refused for %s, and changes nothing', async (_, value, seq, code) => {
    const { play, steps } = await openSession()
    await play(guess(1, 0))
    await play(guess(1, 1))
    expect((await play(guess(value, seq))).error?.data?.code).toBe(code)
    expect(await steps()).toBe(2)
    expect((await play(guess(1, 2))).result).toBeDefined()
  })

  it('may follow calls without one, which are played each time', async () => {
    const { play, steps } = await openSession()
    await play(guess(1))
    await play(guess(1))
    const third = await play(guess(1, 2))
    expect(await play(guess(1, 2))).toEqual(third)
    expect(await steps()).toBe(3)
  })

  it('is played once in an MCP session, too', async () => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    const first = (await rpc(server.agentUrl, 'tools/call', guess(1, 0), headers)).json
    expect(first.result).toBeDefined()
    expect((await rpc(server.agentUrl, 'tools/call', guess(1, 0), headers)).json).toEqual(first)
  })

  it('counts the steps of its own seat, where there are several', async () => {
    const { host, server } = await serveTestHost({}, { environments: [kuhn] })
    const { seats } = await host.open(null, asking({ environment: 'kuhn-poker', seed: 'cards' }))
    const ask = async (seat: string, move: string) => {
      const params = { name: 'act', arguments: { move }, _meta: { [META.seq]: 0 } }
      return (await rpc(server.sessionUrl(seats[seat]?.capability as string), 'tools/call', params)).json
    }
    const [passed, answered] = await Promise.all([
      ask('first', 'pass'),
      rpc(server.sessionUrl(seats.second?.capability as string), 'tools/call', { name: 'wait', arguments: {} }).then(
        () => ask('second', 'pass'),
      ),
    ])
    expect(passed.result?.structuredContent).toMatchObject({ episode_over: true })
    expect(await ask('first', 'pass')).toMatchObject({ result: { structuredContent: { episode_over: true } } })
    expect(await ask('second', 'pass')).toEqual(answered)
  })
})
