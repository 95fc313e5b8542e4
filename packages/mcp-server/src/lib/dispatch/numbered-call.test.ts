import { DEFAULT_SEAT, META } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { kuhn } from '../fixtures/kuhn.fixture.ts'
import { asking, controlHeaders, openOverHttp, rpc, serveTestHost } from '../fixtures/testbed.fixture.ts'

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
