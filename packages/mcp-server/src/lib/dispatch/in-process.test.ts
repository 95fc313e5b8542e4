import { DEFAULT_SEAT, type JsonObject, META, METHODS, type OpenResult } from '@episodic/protocol'
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

  it('hands out values that a caller may change, and takes what it was given as it was then', async () => {
    const play = async (use: <T>(value: T) => T) => {
      const channel = inProcess(createTestHost().host)
      const answers: string[] = []
      const ask = async (method: string, params: object) => {
        const answer = await channel.request(method, params as JsonObject)
        use(params)
        answers.push(JSON.stringify(answer))
        return use(answer)
      }
      const request = asking({ seed: 'seed', params: { low: 1, high: 60, maxGuesses: 3 } })
      const { session } = (await channel.request(METHODS.open, { ...request })) as OpenResult
      await ask(METHODS.open, structuredClone(request))
      for (const seq of [0, 1, 2])
        await ask('tools/call', { ...guess(seq + 1), _meta: { [META.session]: session, [META.seq]: seq } })
      await ask(METHODS.watch, { session })
      await ask(METHODS.state, { session })
      await ask(METHODS.snapshot, { session })
      await ask(METHODS.snapshot, { session, at: 1 })
      await ask(METHODS.close, { session })
      return answers
    }
    const changed = await play(overwrite)
    const kept = await play((value) => value)
    expect(changed).toHaveLength(9)
    expect(changed.map(withoutSecrets)).toEqual(kept.map(withoutSecrets))
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

/** Overwrites every bare value within a value, and adds to its lists. */
function overwrite<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === 'object' && inner !== null) overwrite(inner)
    else Reflect.set(value, key, typeof inner === 'number' ? 0.5 : 'overwritten')
  }
  if (Array.isArray(value)) value.push('added')
  return value
}

/** Leaves out what differs between two hosts: ids, handles and times. */
function withoutSecrets(text: string): string {
  return text.replace(/"(id|session|capability|createdAt|touchedAt)":("[^"]*"|\d+)/g, '"$1":""')
}
