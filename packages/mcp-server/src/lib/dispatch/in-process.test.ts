import { DEFAULT_SEAT, META, METHODS, type OpenResult } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { asking, controlHeaders, createTestHost, rpc, serve } from '../fixtures/testbed.fixture.ts'
import { inProcess } from './in-process.ts'

const guess = (value: number) => ({ name: 'guess', arguments: { value } })

describe('inProcess', () => {
  it('connects to the trainer endpoint by default', async () => {
    const { host } = createTestHost()
    const channel = inProcess(host)
    const opened = (await channel.request(METHODS.open, { ...asking({ params: { low: 5, high: 5 } }) })) as OpenResult
    const meta = { [META.session]: opened.session, [META.seq]: 0 }
    expect(await channel.request('tools/call', { ...guess(5), _meta: meta })).toMatchObject({
      structuredContent: { hint: 'correct' },
      _meta: { [META.step]: { terms: { jackpot: 1 }, end: { reason: 'solved' } } },
    })
    expect(await channel.request(METHODS.close, { session: opened.session })).toEqual({
      end: { kind: 'terminated', reason: 'solved' },
    })
  })

  it('answers as the same endpoint on a socket does', async () => {
    const { host } = createTestHost()
    const server = await serve(host)
    const channel = inProcess(host, { endpoint: 'trainer', principal: 'control' })
    const request = asking({ seed: 'seed' })
    const opened = (await channel.request(METHODS.open, { ...request })) as OpenResult
    const { session } = opened
    for (const [method, params] of [
      [METHODS.open, request],
      [METHODS.list, {}],
      [METHODS.state, { session }],
      ['tools/call', { ...guess(50), _meta: { [META.session]: session, [META.seq]: 0 } }],
      ['tools/call', { ...guess(50), _meta: { [META.session]: session, [META.seq]: 0 } }],
      ['tools/call', { name: 'peek', _meta: { [META.session]: session, [META.seq]: 0 } }],
      [METHODS.watch, { session }],
      [METHODS.state, { session: 'ctl_x' }],
      ['environment/nonsense', {}],
    ] as const) {
      const here = await channel.request(method, { ...params } as never).then(
        (result) => ({ result }),
        ({ code }) => ({ code }),
      )
      const { json } = await rpc(server.trainerUrl, method, params, controlHeaders(server))
      const there = json.error ? { code: json.error.data?.code ?? 'method-not-found' } : { result: json.result }
      if (method === 'tools/call' && 'result' in here)
        expect(stepOf(JSON.parse(JSON.stringify(here)))).toEqual(stepOf(there))
      else expect(JSON.parse(JSON.stringify(here))).toEqual(there)
    }
  })

  it('connects to an agent endpoint on request, and returns no more there than a socket does', async () => {
    const { host } = createTestHost()
    const trainer = inProcess(host)
    const { seats, session } = (await trainer.request(METHODS.open, { ...asking() })) as OpenResult
    const capability = seats[DEFAULT_SEAT]?.capability as string
    const agent = inProcess(host, {
      endpoint: 'agent',
      principal: null,
      address: { by: 'capability', token: capability },
    })
    expect(await agent.request('tools/call', guess(1))).toEqual({
      content: [{ type: 'text', text: expect.any(String) }],
      structuredContent: {
        value: 1,
        hint: expect.any(String),
        observation: expect.any(String),
        episode_over: false,
      },
    })
    for (const method of Object.values(METHODS))
      await expect(agent.request(method, { session })).rejects.toThrow(
        expect.objectContaining({ code: 'method-not-found' }),
      )
  })

  it('honours a signal, and closes without closing the host', async () => {
    const { host } = createTestHost()
    const channel = inProcess(host)
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(channel.request(METHODS.list, {}, { signal: aborted })).rejects.toThrow('enough')
    const { session } = (await channel.request(METHODS.open, { ...asking() })) as OpenResult
    const controller = new AbortController()
    const watching = channel.request(METHODS.watch, { session, wait: 60 }, { signal: controller.signal })
    controller.abort()
    expect(await watching).toEqual({ steps: [], end: null })
    await channel.close()
    await channel.close()
    await expect(channel.request(METHODS.list, {})).rejects.toThrow(/closed/)
    expect(await inProcess(host).request(METHODS.list, {})).toMatchObject({ environments: [{}, {}] })
  })
})

/** An answered step without the mark of a replay: the socket asks second. */
function stepOf(answer: { result?: unknown }): unknown {
  const { _meta, ...result } = answer.result as { _meta: object }
  return { ...result, _meta: { ..._meta, [META.replayed]: undefined } }
}
