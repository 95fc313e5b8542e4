import type { Channel, JsonObject } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { connect } from '../connect.ts'
import type { Target } from '../transport/target.ts'
import { openDefinedConnection } from './defined-connection.ts'
import { defineExternalEnvironment } from './external-environment.ts'

describe('an external environment whose server misbehaves', () => {
  /** A server in this process that lists one tool, and whose answers are given. */
  function answering(call: (count: number) => unknown): Channel & { calls: number } {
    return {
      calls: 0,
      async request(method) {
        if (method === 'tools/list') return { tools: [{ name: 'act', inputSchema: { type: 'object' } }] }
        this.calls += 1
        return call(this.calls)
      },
      async close() {},
    }
  }
  const world = (target: Target, rules: { reward?: () => number; read?: () => Promise<JsonObject> } = {}) =>
    defineExternalEnvironment({
      name: 'world',
      version: '1.0.0',
      description: 'A world.',
      params: z.object({}),
      target,
      read: rules.read ?? (async () => ({})),
      observe: () => 'Act.',
      rewards: { reward: rules.reward ?? (() => 1) },
    })
  const act = { tool: 'act', arguments: {} }
  const said = { content: [{ type: 'text', text: 'Done.' }] }

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'Done.'],
    ['no content', { isError: false }],
    ['content that is no list', { content: 'Done.' }],
    ['content without a type', { content: [{ text: 'Done.' }] }],
    ['a number as text', { content: [{ type: 'text', text: 7 }] }],
    ['a list as data', { ...said, structuredContent: [] }],
    ['a word for a truth value', { ...said, isError: 'no' }],
    ['more than the limit', { content: [{ type: 'text', text: 'x'.repeat(200) }] }],
  ])('fails where it is answered %s', async (_, reply) => {
    const channel = answering(() => reply)
    await using connection = await connect(world(channel))
    await using environment = connection.environment()
    await environment.reset({ limits: { bytes: 100 } })
    await expect(environment.step(act)).rejects.toMatchObject({ code: 'reply-malformed' })
    await expect(environment.step(act)).rejects.toMatchObject({ code: 'not-playing' })
    expect(channel.calls).toBe(1)
  })

  it.each([
    ['a text that says no data, unchanged', said.content, 'Done.'],
    ['no text, as JSON', [], '{"left":3,"won":null}'],
    ['an empty text, as JSON', [{ type: 'text', text: '' }], '{"left":3,"won":null}'],
  ])('shows an answer with %s', async (_, content, text) => {
    const structured = { left: 3, won: null }
    await using connection = await connect(world(answering(() => ({ content, structuredContent: structured }))))
    await using environment = connection.environment()
    await environment.reset()
    expect((await environment.step(act)).observation).toEqual({ text, structured })
  })

  it('never asks twice, whatever went wrong', async () => {
    const channel = answering(() => Promise.reject(new Error('The line is dead.')))
    await using connection = await connect(world(channel))
    await using environment = connection.environment()
    await environment.reset()
    await expect(environment.step(act)).rejects.toMatchObject({
      code: 'outcome-unknown',
      message: expect.stringContaining('The line is dead.'),
    })
    await expect(environment.step(act)).rejects.toMatchObject({ code: 'not-playing' })
    expect(channel.calls).toBe(1)
  })

  it('is unusable after an abort in the middle of a call, because its outcome is unknown', async () => {
    const abort = new AbortController()
    const channel = answering(() => {
      abort.abort(new Error('Enough.'))
      return Promise.reject(abort.signal.reason)
    })
    await using connection = await connect(world(channel))
    await using environment = connection.environment()
    await environment.reset()
    await expect(environment.step(act, { signal: abort.signal })).rejects.toThrow('Enough.')
    await expect(environment.step(act)).rejects.toMatchObject({ code: 'not-playing' })
  })

  it('plays on after an abort that came before the call', async () => {
    const channel = answering(() => said)
    await using connection = await connect(world(channel))
    await using environment = connection.environment()
    await environment.reset()
    await expect(environment.step(act, { signal: AbortSignal.abort(new Error('Enough.')) })).rejects.toThrow('Enough.')
    expect((await environment.step(act)).info.seq).toBe(1)
  })

  it('fails where the tools are not listed as they should be', async () => {
    for (const reply of [{}, { tools: [{}] }, { tools: [{ name: 'act' }] }, { tools: [], nextCursor: 'again' }]) {
      const channel: Channel = { request: async () => reply, close: async () => {} }
      await expect(connect(world(channel))).rejects.toMatchObject({ code: 'reply-malformed' })
    }
  })

  it('reads the tools of every page', async () => {
    const channel: Channel = {
      async request(_, { cursor }) {
        const page = Number(cursor ?? 0)
        const tools = [{ name: `tool-${page}`, inputSchema: { type: 'object' } }]
        return page < 2 ? { tools, nextCursor: String(page + 1) } : { tools }
      },
      async close() {},
    }
    await using connection = await connect(world(channel))
    expect(connection.environments[0]?.tools.map(({ name }) => name)).toEqual(['tool-0', 'tool-1', 'tool-2'])
  })

  it.each([
    ['a reward that is no number', { reward: () => Number.NaN }],
    [
      'a reward that throws',
      {
        reward: () => {
          throw new Error('Broken.')
        },
      },
    ],
  ])('fails for %s', async (_, rules) => {
    const server = answering(() => said)
    await using connection = await connect(world(server, rules))
    await using environment = connection.environment()
    await environment.reset()
    await expect(environment.step(act)).rejects.toMatchObject({ code: 'rules-failed' })
    await expect(environment.step(act)).rejects.toMatchObject({ code: 'not-playing' })
  })

  it('fails where its state cannot be read after a step', async () => {
    let reads = 0
    const read = async () => {
      if (reads++ > 0) throw new Error('Unreadable.')
      return {}
    }
    const server = answering(() => said)
    await using connection = await connect(world(server, { read }))
    await using environment = connection.environment()
    await environment.reset()
    await expect(environment.step(act)).rejects.toMatchObject({
      code: 'rules-failed',
      cause: { message: 'Unreadable.' },
    })
  })

  it('runs out of time without a call', async () => {
    let time = 0
    const channel = answering(() => said)
    const connection = await openDefinedConnection(world(channel), { now: () => time })
    const environment = connection.environment()
    await environment.reset({ limits: { seconds: 5 } })
    time = 4_999
    expect((await environment.step(act)).end).toBeNull()
    time = 5_000
    expect(await environment.step(act)).toMatchObject({
      end: { kind: 'truncated', reason: 'time-limit' },
      info: { seq: 2, refused: 'time' },
    })
    expect(channel.calls).toBe(1)
  })

  it('stops what it has started where it cannot be set up', async () => {
    const undone: string[] = []
    const refusing = defineExternalEnvironment({
      name: 'refusing',
      version: '1.0.0',
      description: 'Cannot be set up.',
      params: z.object({}),
      target({ defer }) {
        defer(() => void undone.push('first'))
        defer(() => void undone.push('second'))
        return answering(() => ({ ...said, isError: true }))
      },
      prepare: async (server) => void (await server.call('act')),
      observe: () => 'Act.',
      rewards: {},
    })
    await using connection = await connect(refusing)
    const environment = connection.environment()
    undone.length = 0
    await expect(environment.reset()).rejects.toMatchObject({ code: 'rules-failed' })
    expect(undone).toEqual(['second', 'first'])
    await expect(environment.step(act)).rejects.toMatchObject({ code: 'not-playing' })
  })
})
