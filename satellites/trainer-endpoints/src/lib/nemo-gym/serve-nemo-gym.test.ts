import { createHost, defineEnvironment, type HostOptions } from '@episodic/mcp-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { answered, NemoGymClient, row } from '../fixtures/nemo-gym-client.fixture.ts'
import { numberGuessing } from '../fixtures/number-guessing.fixture.ts'
import { type NemoGymOptions, serveNemoGym } from './serve-nemo-gym.ts'

/** A world whose tool has a name of a route, and one whose rules fail. */
function worldOf(name: string, toolName: string, play: () => never) {
  return defineEnvironment({
    name,
    version: '1.0.0',
    description: 'Fails.',
    params: z.object({}),
    state: { public: z.object({}), private: z.object({}) },
    start: () => ({ public: {}, private: {} }),
    observe: () => 'Call the tool.',
    tools: ({ tool }) => ({ [toolName]: tool({ description: 'A tool.', input: z.object({}), play }) }),
    rewards: { one: () => 1 },
  })
}

const broken = worldOf('broken', 'break', () => {
  throw new Error('the rules are broken')
})
const colliding = worldOf('colliding', 'verify', () => {
  throw new Error('never called')
})

/** A world that counts each of its states as a success. */
const idle = defineEnvironment({
  name: 'idle',
  version: '1.0.0',
  description: 'Is solved from the start.',
  params: z.object({}),
  state: { public: z.object({}), private: z.object({}) },
  start: () => ({ public: {}, private: {} }),
  observe: () => 'Wait.',
  tools: ({ tool }) => ({
    wait: tool({ description: 'Waits.', input: z.object({}), play: ({ say }) => say('You waited.') }),
  }),
  rewards: { one: () => 1 },
  success: () => true,
})

/** A world that judges what a player has left. */
const left = defineEnvironment({
  name: 'left',
  version: '1.0.0',
  description: 'Is judged when it is left.',
  params: z.object({}),
  state: { public: z.object({ waited: z.int() }), private: z.object({}) },
  start: () => ({ public: { waited: 0 }, private: {} }),
  observe: () => 'Wait.',
  tools: ({ tool }) => ({
    wait: tool({
      description: 'Waits.',
      input: z.object({}),
      play({ state, say }) {
        state.public.waited += 1
        return say('You waited.')
      },
    }),
  }),
  absent: ({ tool }) =>
    tool({ description: 'Judges.', input: z.object({}), play: ({ say }) => say('The episode is over.') }),
  rewards: { waited: ({ end, after }) => (end ? after.public.waited : 0) },
})

async function serve(options: NemoGymOptions = {}, hostOptions: Partial<HostOptions> = {}) {
  const host = createHost({
    environments: [numberGuessing, broken, colliding, idle, left],
    onFault: () => {},
    ...hostOptions,
  })
  const server = await serveNemoGym(host, options)
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]()
    await host[Symbol.asyncDispose]()
  })
  return { host, server, client: () => new NemoGymClient(server.origin) }
}

/** Plays by halving, and returns the answers of the tool. */
async function halve(client: NemoGymClient, low = 1, high = 100) {
  const values: number[] = []
  for (;;) {
    const value = Math.floor((low + high) / 2)
    values.push(value)
    const { body } = await client.post('guess', { value })
    if (body.hint === 'correct') return values
    if (body.hint === 'higher') low = value + 1
    else high = value - 1
  }
}

describe('a rollout', () => {
  it('comes back from verify with the tokens and the version of the weights that its trainer sent, beside its mask', async () => {
    const { client } = await serve()
    const agent = client()
    await agent.post('seed_session', row())
    const values = await halve(agent)
    const { response } = answered(values) as { response: { output: object[] } }
    const output = response.output.map((item, i) => ({
      ...item,
      prompt_token_ids: [1, 2, i],
      generation_token_ids: [3, i],
      generation_log_probs: [-0.5, -0.25],
    }))
    const sent = { ...row(), policy_version: 'step-12', response: { ...response, output } }
    const { body } = await agent.post('verify', sent)
    expect(body).toMatchObject({ ...sent, mask_sample: false, steps: values.length })
  })

  it('is seeded, played and verified with its return', async () => {
    const { client, host } = await serve()
    const agent = client()
    expect(await agent.post('seed_session', row())).toMatchObject({ status: 200, text: '{}' })
    expect(agent.cookie).toMatch(/^episodic_session=ctl_[\w-]+\.0$/)
    const values = await halve(agent)
    const verify = answered(values)
    const { status, body } = await agent.post('verify', verify)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...verify,
      solved: 1,
      steps: values.length,
      terminated: 1,
      truncated: 0,
      success: 1,
      mask_sample: false,
      failure_kind: null,
    })
    expect(body.reward).toBeCloseTo(1 - 0.01 * values.length)
    expect(body.reward_components).toEqual({ solved: 1, cost: body.cost })
    expect((await host.list({ limit: 10 })).total).toBe(0)
    expect((await agent.post('verify', verify)).body).toEqual(body)
  })

  it('is the same with the same seed, and apart from others at the same time', async () => {
    const { client } = await serve()
    const play = async (seed: number | string) => {
      const agent = client()
      await agent.post('seed_session', row({ seed }))
      const values = await halve(agent)
      return [values, (await agent.post('verify', answered(values))).body.reward]
    }
    const alone = []
    for (const seed of [1, 2, 3, 4]) alone.push(await play(seed))
    expect(await Promise.all(['1', '2', '3', '4'].map(play))).toEqual(alone)
    expect(new Set(alone.map((episode) => JSON.stringify(episode))).size).toBeGreaterThan(1)
  })

  it('answers what cannot be played in words for the model', async () => {
    const { client } = await serve()
    const agent = client()
    expect(await agent.post('guess', { value: 1 })).toMatchObject({
      status: 404,
      body: { error: expect.stringMatching(/seed_session/) },
    })
    await agent.post('seed_session', row({ params: { low: 1, high: 1 } }))
    const refused = { status: 200, body: { error: expect.stringMatching(/out of range|Invalid input|no tool/i) } }
    expect(await agent.post('guess', { value: 500 })).toMatchObject(refused)
    expect(await agent.post('guess', { value: 'one' })).toMatchObject(refused)
    expect(await agent.post('peek', {})).toMatchObject(refused)
    expect(await agent.post('guess', '[1]')).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/JSON object/) },
    })
    expect(await agent.post('guess', { value: 1 })).toMatchObject({ status: 200, body: { hint: 'correct' } })
    expect(await agent.post('guess', { value: 1 })).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/over/) },
    })
    // Each refused step is a step.
    const verify = { ...answered([]), ...row({ params: { low: 1, high: 1 } }) }
    expect((await agent.post('verify', verify)).body).toMatchObject({ steps: 4, mask_sample: false })
  })

  it('that is left is judged by its world, in no step of the model', async () => {
    const { client } = await serve()
    const agent = client()
    const asked = row({ environment: 'left', params: {} })
    await agent.post('seed_session', asked)
    await agent.post('wait', {})
    const called = { type: 'function_call', call_id: 'c', name: 'wait', arguments: '{}' }
    const { body } = await agent.post('verify', { ...answered([]), ...asked, response: { output: [called] } })
    expect(body).toMatchObject({
      reward: 1,
      waited: 1,
      steps: 1,
      truncated: 1,
      end_reason: 'closed',
      mask_sample: false,
    })
  })

  it('that fails is masked, and never rewarded with 0', async () => {
    const { client } = await serve()
    const agent = client()
    await agent.post('seed_session', row({ environment: 'broken', params: {} }))
    const failed = { status: 500, body: { error: expect.stringMatching(/failed/) } }
    expect(await agent.post('break', {})).toMatchObject(failed)
    expect(await agent.post('break', {})).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/failed/) },
    })
    const masked = {
      mask_sample: true,
      failure_kind: 'episodic:environment_failed',
      failure_reason: expect.stringMatching(/failed/),
    }
    const verify = { ...answered([]), ...row({ environment: 'broken', params: {} }) }
    expect(await agent.post('verify', verify)).toMatchObject({ status: 200, body: masked })
  })
})

const named = (id: string, attempt = 0) => ({
  resources_session_id: id,
  episode_id: { rollout_id: 'r1', attempt },
})

describe('a session that an environment server names', () => {
  const seed = (id: string, attempt = 0) => ({
    ...named(id, attempt),
    task_id: { taskset: 't', task_id: '1' },
    task_data: row(),
  })

  it('is one session however often it is seeded, and is never opened again once it is closed', async () => {
    const { client, host } = await serve()
    const [first, second] = [client(), client()]
    expect(await first.post('seed_session', seed('s-1'))).toMatchObject({
      status: 200,
      text: '{"resources_session_id":"s-1"}',
    })
    await first.post('guess', { value: 500 })
    expect((await second.post('seed_session', seed('s-1'))).status).toBe(200)
    expect(second.cookie).toBe(first.cookie)
    expect((await host.list({ limit: 10 })).total).toBe(1)
    expect((await client().post('seed_session', seed('s-1', 1))).status).toBe(422)
    for (let i = 0; i < 2; i++)
      expect(await client().post('close_session', named('s-1'))).toMatchObject({
        status: 200,
        text: '{"resources_session_id":"s-1"}',
      })
    expect((await host.list({ limit: 10 })).total).toBe(0)
    expect((await client().post('seed_session', seed('s-1'))).status).toBe(409)
  })
})

describe('the Gymnasium profile', () => {
  it('plays each call of a turn as a step, and adds up to the return of a rollout', async () => {
    const { client, host } = await serve()
    const agent = client()
    const reset = await agent.post('reset', row())
    expect(reset.body).toMatchObject({
      observation: 'Guess a whole number from 1 to 100. 8 guesses left.',
      info: { supports_explicit_close: true, supports_step_idempotency: true },
    })
    const turn = await agent.post('step', answered([500, '{', 600]))
    expect(turn.body).toMatchObject({
      observation: null,
      terminated: false,
      truncated: false,
      info: { terms: { solved: 0, cost: -0.02 }, end: null },
    })
    expect(turn.body.reward).toBeCloseTo(-0.02)
    const { tool_outputs: outputs } = turn.body.info as { tool_outputs: { call_id: string; output: string }[] }
    expect(outputs.map(({ call_id, output }) => [call_id, Object.keys(JSON.parse(output))])).toEqual([
      ['call-0', ['error']],
      ['call-1', ['error']],
      ['call-2', ['error']],
    ])
    expect((await agent.post('step', answered([]))).body).toMatchObject({
      observation: expect.stringContaining('No tool was called'),
      reward: 0,
      truncated: false,
    })
    const found = await agent.post('step', answered([...Array(100).keys()].map((value) => value + 1).slice(0, 10)))
    expect(found.body).toMatchObject({ terminated: true, info: { end: { kind: 'terminated' } } })
    for (let i = 0; i < 2; i++) expect(await agent.post('close', {})).toMatchObject({ status: 200, text: '{}' })
    expect((await host.list({ limit: 10 })).total).toBe(0)
    expect((await agent.post('step', answered([1]))).status).toBe(404)
  })
})

describe('serveNemoGym', () => {
  it.each([
    ['a row without a world', {}, 422],
    ['a row with another kind of world', { episodic: 'number-guessing' }, 422],
    ['a world that is not served', row({ environment: 'chess' }), 404],
    ['another version of a world', row({ version: '9.0.0' }), 404],
    ['wrong parameters', row({ params: { low: 'one' } }), 422],
    ['a seed that is no scalar', row({ seed: [1] }), 422],
    ['limits of nothing', row({ limits: { steps: 0 } }), 422],
    ['a world with a tool named like a route', row({ environment: 'colliding', params: {} }), 422],
    ['a body that is not JSON', '{', 400],
    ['a body that is no object', '[]', 400],
  ])('rejects %s', async (_, body, status) => {
    const { client, host } = await serve()
    for (const path of ['seed_session', 'reset']) {
      const answer = await client().post(path, body)
      expect(answer).toMatchObject({ status, body: { detail: expect.any(String) } })
      expect(client().cookie).toBe('')
    }
    expect((await host.list({ limit: 10 })).total).toBe(0)
  })

  it('gives nobody the session of another principal', async () => {
    const tokens = { 'the-token-of-ada-1234567': 'ada', 'the-token-of-bob-1234567': 'bob' }
    const { server } = await serve({ asksTokens: true, auth: { controlTokens: tokens } })
    const post = (path: string, body: object, token: string | null, cookie = '') =>
      fetch(`${server.origin}/${path}`, {
        method: 'POST',
        headers: { ...(token && { authorization: `Bearer ${token}` }), cookie },
        body: JSON.stringify(body),
      })
    expect((await post('seed_session', row(), null)).status).toBe(401)
    expect((await post('seed_session', row(), 'a-token-that-nobody-has')).status).toBe(401)
    const [ada, bob] = Object.keys(tokens) as [string, string]
    const seeded = await post('seed_session', row(), ada)
    const cookie = seeded.headers.getSetCookie()[0]?.split(';')[0] as string
    expect((await post('guess', { value: 500 }, ada, cookie)).status).toBe(200)
    expect((await post('guess', { value: 500 }, bob, cookie)).status).toBe(404)
    const verified = await post('verify', answered([500]), bob, cookie)
    expect(await verified.json()).toMatchObject({ mask_sample: true, failure_kind: 'session_lost' })
    expect(await (await post('verify', answered([500]), ada, cookie)).json()).toMatchObject({ steps: 1 })
  })

  it('is served on loopback alone if its clients send no token', async () => {
    await expect(serve({ address: '0.0.0.0' })).rejects.toMatchObject({ code: 'unsafe-bind' })
    const { server } = await serve()
    const elsewhere = await fetch(`${server.origin}/reverify_mode`, {
      headers: { origin: 'https://elsewhere.example' },
    })
    expect(elsewhere.status).toBe(403)
  })

  it('says to a model and to its verifier that a call was not played, while it stops', async () => {
    const { client, host } = await serve()
    const server = await serveNemoGym(host)
    const agent = new NemoGymClient(server.origin)
    await agent.post('seed_session', row())
    expect(await server.drain()).toBe(0)
    expect((await agent.post('verify', answered([]))).status).toBe(503)
    expect((await agent.post('guess', { value: 500 })).status).toBe(503)
    await server[Symbol.asyncDispose]()
    // Another server on the same store.
    const successor = client()
    successor.cookie = agent.cookie
    expect((await successor.post('verify', answered([500]))).body).toMatchObject({
      mask_sample: true,
      failure_kind: 'shutdown',
    })
  })
})
