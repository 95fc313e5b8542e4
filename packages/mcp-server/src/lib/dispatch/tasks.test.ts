import { DEFAULT_SEAT } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { atControl } from '../fixtures/addressed.fixture.ts'
import { auction } from '../fixtures/auction.fixture.ts'
import { createExchange, createMarket } from '../fixtures/market.fixture.ts'
import { MODERN_META } from '../fixtures/official-clients.fixture.ts'
import { askTask, connectTaskClient, TASKS_META } from '../fixtures/task-client.fixture.ts'
import { asking, createTestHost, rpc, serve } from '../fixtures/testbed.fixture.ts'
import type { HttpOptions } from '../http/serve-http.ts'

/** A server of a market whose exchange answers when the test says so, and of one that names its sessions. */
async function serveMarket(options: HttpOptions = {}, secrets: readonly string[] = []) {
  const exchange = createExchange()
  const answers: PromiseWithResolvers<number>[] = []
  let asked = Promise.withResolvers<void>()
  exchange.order = () => {
    const answer = Promise.withResolvers<number>()
    answers.push(answer)
    asked.resolve()
    asked = Promise.withResolvers<void>()
    return answer.promise
  }
  const market = { ...createMarket(exchange), secrets: () => secrets }
  const { host, clock, faults } = createTestHost({
    environments: [market, { ...market, name: 'fair', handle: 'fair' }, auction],
  })
  const server = await serve(host, options)
  const { session, seats } = await host.open(null, asking({ environment: 'market' }))
  const url = server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
  return {
    host,
    clock,
    faults,
    server,
    exchange,
    url,
    state: () => atControl(host, session).state(),
    /** Resolves with the answer to a call that waits, once it has become a task. */
    async waitFor<T>(calling: Promise<T>): Promise<T> {
      if (answers.length === 0) await asked.promise
      clock.advance(1_000)
      return calling
    },
    answer: (fee: number) => answers.shift()?.resolve(fee),
    fail: (error: Error) => answers.shift()?.reject(error),
  }
}

const quote = { name: 'quote', arguments: { shares: 3 } }
const order = { name: 'order', arguments: { shares: 3 } }
const idOf = ({ result }: { result?: object }) => (result as { taskId: string }).taskId

describe('a call that waits for a preparation', () => {
  it('is a task to the official client, which gets its answer when it is there', async () => {
    const { url, exchange, waitFor, answer, state } = await serveMarket()
    const session = await connectTaskClient(url)
    const execution = await waitFor(session.callTool('order', order.arguments))
    expect(execution.kind).toBe('task')
    answer(2)
    const { outcome } = await execution.settle()
    expect(outcome).toMatchObject({
      result: {
        content: [{ text: expect.stringContaining('Ordered 3 for a fee of 2.') }],
        structuredContent: { fee: 2, episode_over: false },
      },
    })
    expect({ orders: exchange.orders, state: (await state()).state.public }).toMatchObject({
      orders: 1,
      state: { shares: 3 },
    })
  })

  it('stays as it was however often it is asked for, also after later steps', async () => {
    const { url, waitFor, answer, state } = await serveMarket()
    const created = await waitFor(askTask(url, 'tools/call', order))
    expect(created.result).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: 1_000 })
    const taskId = idOf(created)
    expect((await askTask(url, 'tasks/get', { taskId })).result).toMatchObject({
      resultType: 'complete',
      status: 'working',
    })
    answer(2)
    const poll = async () => (await askTask(url, 'tasks/get', { taskId })).result
    await expect.poll(poll).toMatchObject({ status: 'completed', result: { resultType: 'complete' } })
    const first = await poll()
    const { revision } = await state()
    expect((await poll())?.result).toEqual(first?.result)
    expect((await state()).revision).toBe(revision)
    for (let i = 0; i < 20; i++) await askTask(url, 'tools/call', { name: 'buy', arguments: { shares: 1 } })
    expect((await poll())?.result).toEqual(first?.result)
  })

  it('is answered at once if it does not take a second, and to a client that takes no tasks', async () => {
    const { url, exchange, clock } = await serveMarket()
    exchange.order = () => 4
    const quoted = { content: [{ text: expect.stringContaining('The fee is 4.') }] }
    expect((await askTask(url, 'tools/call', quote)).result).toMatchObject({ ...quoted, resultType: 'complete' })
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<number>()
    exchange.order = () => {
      asked.resolve()
      return answer.promise
    }
    const waiting = askTask(url, 'tools/call', quote, MODERN_META)
    await asked.promise
    clock.advance(1_000)
    answer.resolve(4)
    expect((await waiting).result).toMatchObject({ ...quoted, resultType: 'complete' })
  })

  it('goes on when its client has gone, and a call that comes meanwhile is answered after it', async () => {
    const { url, waitFor, answer } = await serveMarket()
    const taskId = idOf(await waitFor(askTask(url, 'tools/call', order)))
    const bought = askTask(url, 'tools/call', { name: 'buy', arguments: { shares: 1 } })
    answer(2)
    expect((await bought).result).toMatchObject({ content: [{ text: expect.stringContaining('You have 4 shares.') }] })
    expect((await askTask(url, 'tasks/get', { taskId })).result).toMatchObject({
      status: 'completed',
      result: { content: [{ text: expect.stringContaining('You have 3 shares.') }] },
    })
  })

  it('is cancelled while it waits, and what is committed stays', async () => {
    const { url, waitFor, answer, state } = await serveMarket()
    const waiting = idOf(await waitFor(askTask(url, 'tools/call', quote)))
    expect((await askTask(url, 'tasks/cancel', { taskId: waiting })).result).toMatchObject({ resultType: 'complete' })
    const poll = async (taskId: string) => (await askTask(url, 'tasks/get', { taskId })).result
    await expect.poll(() => poll(waiting)).toMatchObject({ status: 'cancelled' })
    expect((await state()).revision).toBe(0)
    answer(0)
    const ordered = idOf(await waitFor(askTask(url, 'tools/call', order)))
    answer(2)
    await expect.poll(() => poll(ordered)).toMatchObject({ status: 'completed' })
    await askTask(url, 'tasks/cancel', { taskId: ordered })
    expect(await poll(ordered)).toMatchObject({ status: 'completed' })
    expect((await askTask(url, 'tasks/update', { taskId: ordered, inputResponses: {} })).result).toMatchObject({
      resultType: 'complete',
    })
  })

  it('has failed if its answer has to be withheld, and says nothing of why', async () => {
    const { url, waitFor, answer } = await serveMarket({}, ['Ordered 3'])
    const taskId = idOf(await waitFor(askTask(url, 'tools/call', order)))
    answer(2)
    const poll = async () => (await askTask(url, 'tasks/get', { taskId })).result
    const message = expect.stringMatching(/^The server failed\. Reference: /)
    await expect.poll(poll).toMatchObject({ taskId, status: 'failed', error: { code: expect.any(Number), message } })
    expect(await poll()).not.toHaveProperty('result')
    expect(JSON.stringify(await poll())).not.toContain('Ordered')
  })

  it('has the answer of the call if it fails, with nothing of its cause', async () => {
    const { url, waitFor, fail, faults } = await serveMarket()
    for (const [call, said] of [
      [quote, /failed, and the call changed nothing\. Reference: /],
      [order, /whether it did what it does outside cannot be known/],
    ] as const) {
      const taskId = idOf(await waitFor(askTask(url, 'tools/call', call)))
      fail(new Error('the line is dead'))
      const poll = async () => (await askTask(url, 'tasks/get', { taskId })).result
      await expect.poll(poll).toMatchObject({ status: 'completed' })
      const text = JSON.stringify(await poll())
      expect(text).toMatch(said)
      expect(text).not.toContain('dead')
    }
    expect(faults).toHaveLength(2)
  })

  it('is found by its caller alone, at the address where it was called', async () => {
    const auth = { agentTokens: { ['a'.repeat(22)]: 'ada', ['b'.repeat(22)]: 'bob' } }
    const { server, waitFor, answer } = await serveMarket({ auth })
    const fair = `http://127.0.0.1:${server.port}/mcp/e/fair`
    const ask = async (token: string, method: string, params: { name?: string; taskId?: string }) => {
      const headers = {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': params.taskId ?? (params.name as string),
        authorization: `Bearer ${token.repeat(22)}`,
      }
      return (await rpc(fair, method, { ...params, _meta: TASKS_META }, headers)).json
    }
    const created = await ask('a', 'tools/call', { name: 'create_fair' })
    const named = created.result?.structuredContent as { fair_id?: string } | undefined
    const call = { name: 'order', arguments: { ...order.arguments, fair_id: named?.fair_id } }
    const taskId = idOf(await waitFor(ask('a', 'tools/call', call)))
    answer(2)
    await expect.poll(() => ask('a', 'tasks/get', { taskId })).toMatchObject({ result: { status: 'completed' } })
    const forged = [taskId.replace('tsk_1', 'tsk_2'), taskId.slice(0, -1), taskId.replace(/\.mcp_.*/, ''), 'tsk_', '']
    const refused = [await ask('b', 'tasks/get', { taskId })]
    for (const each of forged) refused.push(await ask('a', 'tasks/get', { taskId: each }))
    for (const { error } of refused) expect(error).toMatchObject({ code: -32602, message: refused[0]?.error?.message })
  })

  it('is for clients that declare tasks, which the server does', async () => {
    const { url, waitFor, answer } = await serveMarket()
    const taskId = idOf(await waitFor(askTask(url, 'tools/call', quote)))
    answer(1)
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect((await askTask(url, method, { taskId }, MODERN_META)).error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
      })
    const { result } = await askTask(url, 'server/discover', {}, MODERN_META)
    expect(result?.capabilities).toMatchObject({ extensions: { 'io.modelcontextprotocol/tasks': {} } })
    expect((await askTask(url, 'tasks/list', {})).error).toMatchObject({ code: -32601 })
  })
})

describe('a call that waits for other seats', () => {
  it('is a task until the seat may act again, after a step and without one', async () => {
    const { host, server } = await serveMarket()
    const { session, seats } = await host.open(null, asking({ environment: 'auction', params: { raises: 3 } }))
    const urlOf = (seat: string) => server.sessionUrl(seats[seat]?.capability as string)
    // Without a hold, nothing is waited for before the call becomes a task.
    const call = (seat: string, params: { name: string; arguments?: object }) =>
      askTask(`${urlOf(seat)}?hold=0`, 'tools/call', params)
    const raised = await call('ann', { name: 'raise', arguments: { by: 5 } })
    expect(raised.result).toMatchObject({ resultType: 'task', status: 'working' })
    const waited = await call('cleo', { name: 'wait' })
    expect(waited.result).toMatchObject({ resultType: 'task', status: 'working' })
    const poll = async (seat: string, created: { result?: object }) =>
      (await askTask(urlOf(seat), 'tasks/get', { taskId: idOf(created) })).result
    expect(await poll('ann', raised)).toMatchObject({ status: 'working' })
    // The name of a task of one seat is none of another.
    expect(await poll('bob', raised)).toBeUndefined()
    const { revision } = await atControl(host, session).state()
    await atControl(host, session).step({ action: { tool: 'raise', arguments: { by: 5 } }, seat: 'bob' })
    expect(await poll('cleo', waited)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: expect.stringContaining('The price is 20') }] },
    })
    expect(await poll('ann', raised)).toMatchObject({ status: 'working' })
    await atControl(host, session).step({ action: { tool: 'raise', arguments: { by: 5 } }, seat: 'cleo' })
    expect(await poll('ann', raised)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: expect.stringContaining('The price is 25') }], structuredContent: {} },
    })
    expect((await atControl(host, session).state()).revision).toBe(revision + 2)
  })
})
