import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '@episodic/models/gateway/engine'
import { openGateway } from '@episodic/models/gateway/gateway-server'
import { openGatewaySessions } from '@episodic/models/gateway/gateway-sessions'
import { openRolloutQueue } from '@episodic/models/rollouts/rollout-queue'
import { Weights } from '@episodic/models/rollouts/weights'
import { afterEach, describe, expect, it } from 'vitest'
import { startTokenEngine, type TokenEngine } from '../../../../../../interop/gateway/token-engine.ts'

let cleanUp = new AsyncDisposableStack()
afterEach(async () => {
  await cleanUp.disposeAsync()
  cleanUp = new AsyncDisposableStack()
})

// biome-ignore lint/suspicious/noExplicitAny: the tests read JSON of the gateway.
type Body = any

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'episodic-rollouts-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function serve(engine: TokenEngine, folder: string) {
  const own = new AsyncDisposableStack()
  cleanUp.use(own)
  const sessions = own.use(await openGatewaySessions(folder, own.use(createEngine({ baseUrl: engine.url }))))
  const { url, controlToken } = own.use(await openGateway({ sessions, port: 0 }))
  const request = async (method: string, path: string, body: object | undefined, authorization: string) => {
    const headers = { authorization: `Bearer ${authorization}` }
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: answer.status, ...((await answer.json()) as object) } as Body
  }
  return {
    trainer: (method: string, path: string, body?: object) => request(method, path, body, controlToken),
    ask: async (key: string, content: string, tools?: object[]) => {
      const body = { model: 'm', messages: [{ role: 'user', content }], ...(tools && { tools }) }
      return await request('POST', '/v1/chat/completions', body, key)
    },
    stop: () => own.disposeAsync(),
  }
}
type Served = Awaited<ReturnType<typeof serve>>

const leased = async ({ trainer }: Served) => (await trainer('POST', '/lease', {})).rollout
const add = ({ trainer }: Served, group: object) => trainer('POST', '/groups', { task: { seed: '7' }, ...group })
const tools = [{ type: 'function', function: { name: 'guess', parameters: {} } }]

describe('weights that change at a gateway', () => {
  it('hold calls back, and what was sampled before is gone on with: each token has the version that sampled it', async () => {
    const ending = Promise.withResolvers<void>()
    const engine = cleanUp.use(
      await startTokenEngine(
        async (_, number) => {
          if (number > 0) return { content: number === 1 ? 'and on.' : 'Another.' }
          await ending.promise
          return { content: 'So far ', isEnded: true }
        },
        { tokens: 3 },
      ),
    )
    const gateway = await serve(engine, await newFolder())
    expect(await gateway.trainer('PUT', '/weights', { version: 'step-1' })).toMatchObject({ version: 'step-1' })
    await add(gateway, { group_id: 'g', attempts: 1 })
    const { api_key: key, session_id: id, lease } = await leased(gateway)
    const answered = gateway.ask(key, 'Go.', tools)
    await expect.poll(() => engine.requests.length).toBe(1)
    const drained = gateway.trainer('PUT', '/weights', {})
    expect(await gateway.trainer('PUT', '/weights', { wait: 0 })).toMatchObject({ changing: true, in_flight: 1 })
    ending.resolve()
    expect(await drained).toMatchObject({ changing: true, in_flight: 0 })
    const held = gateway.ask(key, 'More.', tools)
    expect(engine.requests).toHaveLength(1)
    await gateway.trainer('PUT', '/weights', { version: 'step-2' })
    expect((await answered).choices[0].message.content).toBe('So far and on.')
    await held
    await gateway.trainer('POST', `/sessions/${id}/finish`, { lease, reward: 1 })
    const { groups } = await gateway.trainer('POST', '/batches', { batch_id: 'b', groups: 1 })
    const [sequence, other] = groups[0].rollouts[0].sequences
    expect(sequence).toMatchObject({
      response_ids: [...engine.sampled[0]!.ids, ...engine.sampled[1]!.ids],
      response_logprobs: [...engine.sampled[0]!.scores, ...engine.sampled[1]!.scores],
      response_versions: ['step-1', 'step-1', 'step-1', 'step-2', 'step-2', 'step-2'],
      policy_versions: ['step-1'],
    })
    expect(other.response_versions).toEqual(['step-2', 'step-2', 'step-2'])
  })

  it.each([
    ['goes on from other tokens', { splices: false }, 'Half.', ' On.'],
    ['may have been in the middle of a call', {}, '<call>gue', 'ss(1)</call>'],
  ])('have an answer sampled anew by an engine that %s', async (_, options, half, rest) => {
    const engine = cleanUp.use(
      await startTokenEngine(
        (__, number) => [{ content: half, isEnded: true }, { content: rest }, { content: 'New.' }][number]!,
        {
          ...options,
        },
      ),
    )
    const gateway = await serve(engine, await newFolder())
    const { api_key: key, session_id: id } = await gateway.trainer('POST', '/sessions')
    expect((await gateway.ask(key, 'Go.', tools)).choices[0].message.content).toBe('New.')
    const { sequences } = await gateway.trainer('GET', `/sessions/${id}/sequences`)
    expect(sequences.map(({ response_ids: ids }: Body) => ids)).toEqual([engine.sampled[2]!.ids])
  })
})

describe('rollouts at a gateway', () => {
  it('are leased by the oldest, parked, resumed by another worker after a restart, and handed out once', async () => {
    const engine = cleanUp.use(await startTokenEngine((_, number) => ({ content: `Answer ${number}.` })))
    const folder = await newFolder()
    const first = await serve(engine, folder)
    await first.trainer('PUT', '/weights', { version: '1' })
    for (const id of ['old', 'new'])
      expect(await add(first, { group_id: id, attempts: 2 })).toMatchObject({ status: 200 })
    expect(await add(first, { group_id: 'old', attempts: 3 })).toMatchObject({
      status: 409,
      error: { code: 'differs' },
    })
    const one = await leased(first)
    expect(one).toMatchObject({
      session_id: 'old.0',
      group_id: 'old',
      attempt: 0,
      lease: 1,
      task: { seed: '7' },
      note: null,
    })
    expect(await leased(first)).toMatchObject({ session_id: 'old.1' })
    expect((await first.ask(one.api_key, 'Go.')).choices[0].message.content).toBe('Answer 0.')
    const park = () => first.trainer('POST', '/sessions/old.0/park', { lease: 1, note: { turn: 4 } })
    expect(await park()).toMatchObject({ status: 200 })
    expect(await park()).toMatchObject({ status: 200 })
    // It comes last until the weights change.
    expect(await leased(first)).toMatchObject({ session_id: 'new.0', lease: 1 })
    await first.trainer('POST', '/sessions/new.0/park', { lease: 1 })
    await first.trainer('PUT', '/weights', { version: '2' })
    await first.stop()

    const second = await serve(engine, folder)
    expect((await second.trainer('GET', '/weights')).version).toBe('2')
    const again = await leased(second)
    expect(again).toMatchObject({ session_id: 'old.0', lease: 2, note: { turn: 4 } })
    // The worker that had it before reaches neither the model nor its end.
    expect(await second.ask(one.api_key, 'Go.')).toMatchObject({ status: 401 })
    expect(await second.trainer('POST', '/sessions/old.0/finish', { lease: 1, reward: 0 })).toMatchObject({
      status: 409,
      error: {
        code: 'fenced',
        message: expect.stringMatching(/Lease 1 of old.0 is over: lease 2 is the last one, leased/),
      },
    })
    // What was answered is not sampled again.
    expect((await second.ask(again.api_key, 'Go.')).choices[0].message.content).toBe('Answer 0.')
    await second.trainer('POST', '/sessions/old.0/finish', { lease: 2, reward: 0.5 })
    expect((await second.trainer('POST', '/batches', { batch_id: 'b1', groups: 1 })).groups).toBeNull()
    await second.trainer('POST', '/sessions/old.1/abandon', { lease: 1, reason: 'the machine failed' })
    const batch = () => second.trainer('POST', '/batches', { batch_id: 'b1', groups: 1 })
    const handedOut = await batch()
    expect(handedOut.groups).toMatchObject([
      {
        ...{ group_id: 'old', task: { seed: '7' }, rewards: [0.5], left_out: null },
        rollouts: [
          { session_id: 'old.0', attempt: 0, reward: 0.5, sequences: [{ response_ids: engine.sampled[0]!.ids }] },
        ],
        void: [{ session_id: 'old.1', reason: 'the machine failed' }],
      },
    ])
    expect(await batch()).toEqual(handedOut)
    expect((await second.trainer('POST', '/batches', { batch_id: 'b2', groups: 1 })).groups).toBeNull()
    expect(await second.trainer('GET', '/groups')).toMatchObject({
      open_groups: 1,
      oldest: 'new',
      rollouts: { waiting: 1, parked: 1 },
    })
    expect(await second.trainer('DELETE', '/batches/b1')).toMatchObject({ deleted: 1 })
    expect(await second.trainer('GET', '/sessions/old.0')).toMatchObject({ status: 404 })
  })

  it('refuse what they do not know, and say what is wrong', async () => {
    const engine = cleanUp.use(await startTokenEngine(() => ({ content: 'Yes.' })))
    const gateway = await serve(engine, await newFolder())
    const refused: [method: string, path: string, body: object, status: number, code: string, words: RegExp][] = [
      ['POST', '/sessions/none/park', { lease: 1 }, 404, 'unknown', /no rollout none/],
      ['POST', '/sessions/none/resume', {}, 404, 'unknown', /none cannot be resumed/],
      ['POST', '/groups', { group_id: '../x', attempts: 1 }, 400, 'invalid', /letters/],
      ['POST', '/groups', { group_id: 'x', attempts: 1, close: { last: 2 } }, 400, 'invalid', /last/],
      ['POST', '/groups', { group_id: 'known', attempts: 1, staleness: 2 }, 409, 'differs', /another group/],
      ['POST', '/batches', { batch_id: 'a batch', groups: 1 }, 400, 'invalid', /letters/],
      ['POST', '/lease', [], 400, 'invalid', /JSON object/],
      ['GET', '/lease', {}, 404, 'unknown', /There are POST lease/],
    ]
    await add(gateway, { group_id: 'known', attempts: 1, staleness: 1 })
    for (const [method, path, body, status, code, words] of refused)
      expect(await gateway.trainer(method, path, method === 'GET' ? undefined : body)).toMatchObject({
        status,
        error: { code, message: expect.stringMatching(words) },
      })
  })

  it('know after a restart which keys, leases and batches are over', async () => {
    const engine = cleanUp.use(await startTokenEngine(() => ({ content: 'Yes.' })))
    const folder = await newFolder()
    const first = await serve(engine, folder)
    await add(first, { group_id: 'g', attempts: 1 })
    const keys: string[] = []
    for (const lease of [1, 2]) {
      keys.push((await leased(first)).api_key)
      await first.trainer('POST', '/sessions/g.0/park', { lease })
    }
    await first.stop()

    const second = await serve(engine, folder)
    expect(await Promise.all(keys.map(async (key) => (await second.ask(key, 'Go.')).status))).toEqual([401, 200])
    expect(await second.trainer('POST', '/sessions/g.0/renew', { lease: 2 })).toMatchObject({ status: 409 })
    const resume = () => second.trainer('POST', '/sessions/g.0/resume', { key: 'mine' })
    expect((await resume()).rollout).toMatchObject({ lease: 3 })
    expect((await resume()).rollout).toMatchObject({ lease: 4 })
    await second.trainer('POST', '/sessions/g.0/abandon', { lease: 4 })
    expect(await second.trainer('POST', '/sessions/g.0/finish', { lease: 4, reward: 1 })).toMatchObject({ status: 409 })
    await add(second, { group_id: 'good', attempts: 1 })
    await leased(second)
    await second.trainer('POST', '/sessions/good.0/finish', { lease: 1, reward: 1 })
    const batch = (served: Served) => served.trainer('POST', '/batches', { batch_id: 'b', groups: 1 })
    expect((await batch(second)).groups).toMatchObject([{ left_out: 'void' }, { rewards: [1] }])
    for (const [id, status] of Object.entries({ b: 200, none: 404 }).flatMap((each) => [each, each]))
      expect(await second.trainer('DELETE', `/batches/${id}`)).toMatchObject({ status })
    expect(await batch(second)).toMatchObject({ status: 409, error: { code: 'fenced' } })
    await second.stop()
    expect(await batch(await serve(engine, folder))).toMatchObject({
      status: 409,
      error: { message: 'The tokens of batch b are discarded. Name another batch.' },
    })
  })

  it('wait with a group of equal rewards for what is still played', async () => {
    const engine = cleanUp.use(await startTokenEngine(() => ({ content: 'Yes.' })))
    const gateway = await serve(engine, await newFolder())
    await add(gateway, { group_id: 'g', attempts: 3, close: { first: 2 } })
    const batch = () => gateway.trainer('POST', '/batches', { batch_id: 'b', groups: 1, leave_out_equal: true })
    for (const reward of [1, 1, 0]) {
      expect((await batch()).groups).toBeNull()
      const { session_id: id, lease } = await leased(gateway)
      await gateway.trainer('POST', `/sessions/${id}/finish`, { lease, reward })
    }
    const { groups } = await batch()
    expect(groups).toMatchObject([{ left_out: null, rewards: [1, 1, 0], rollouts: [{ reward: 1 }, { reward: 1 }] }])
  })

  it('are void where too many leases run out in a row', async () => {
    let time = 0
    const sessions = { renew: async () => {}, reward() {}, close() {}, isBusy: () => false, credited: () => [] }
    const file = join(await newFolder(), 'rollouts.jsonl')
    const queue = await openRolloutQueue({ sessions, weights: new Weights(), now: () => time, file })
    queue.add({ group_id: 'g', task: {}, attempts: 1, close: { others: 'park' } })
    const lose = async (times: number) => {
      for (let lost = 0; lost < times; lost++, time += 2_000) expect(await queue.lease(1)).toMatchObject({ id: 'g.0' })
    }
    await lose(2)
    queue.park('g.0', { lease: (await queue.lease(1))?.lease ?? 0 })
    await lose(3)
    expect(await queue.lease(1)).toBeNull()
    expect(queue.groups.rollouts.get('g.0')).toMatchObject({ reason: 'lost', note: null })
  })

  it('are not begun anew where their file cannot be read, and a session that is closed while it opens is closed', async () => {
    const engine = cleanUp.use(await startTokenEngine(() => ({ content: 'Yes.' })))
    const folder = await newFolder()
    const sessions = await openGatewaySessions(folder, cleanUp.use(createEngine({ baseUrl: engine.url })))
    await Promise.all([sessions.open('s'), sessions.close('s')])
    expect(sessions.find('s')).toBeUndefined()
    await mkdir(join(folder, 'rollouts.jsonl'))
    await expect(serve(engine, folder)).rejects.toThrow('Cannot read')
  })
})
