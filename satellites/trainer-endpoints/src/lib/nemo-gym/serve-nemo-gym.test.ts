import { createHost, defineEnvironment, type HostOptions } from '@episodic/mcp-server'
import { createManualClock } from '@episodic/state'
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

  it('that was not played to its end is truncated', async () => {
    const { client } = await serve()
    const agent = client()
    await agent.post('seed_session', row())
    await agent.post('guess', { value: 500 })
    const { body } = await agent.post('verify', answered([500]))
    const cut = { reward: -0.01, steps: 1, terminated: 0, truncated: 1, end_reason: 'closed', success: 0 }
    expect(body).toMatchObject({ ...cut, mask_sample: false })
  })

  it('without an action is named as such, and has not succeeded, whatever its world says', async () => {
    const { client } = await serve()
    const verdictOf = async (response: object) => {
      const agent = client()
      const asked = row({ environment: 'idle', params: {} })
      await agent.post('seed_session', asked)
      return (await agent.post('verify', { ...answered([]), ...asked, response })).body
    }
    const stopped = { reward: 0, steps: 0, terminated: 0, truncated: 1, success: 0, mask_sample: false }
    expect(await verdictOf({ output: [] })).toMatchObject({ ...stopped, end_reason: 'no-action' })
    const unplayable = { type: 'function_call', call_id: 'c', name: 'wait', arguments: '{' }
    expect(await verdictOf({ output: [unplayable] })).toMatchObject({ ...stopped, end_reason: 'invalid-action' })
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

  it('whose session is gone is masked', async () => {
    const clock = createManualClock(1_700_000_000_000)
    const { client, host } = await serve({}, { clock })
    const agent = client()
    await agent.post('seed_session', row())
    clock.advance(3_600_000)
    await host.sweep()
    expect(await agent.post('guess', { value: 1 })).toMatchObject({
      status: 500,
      body: { error: expect.stringMatching(/failed/) },
    })
    expect((await agent.post('verify', answered([1]))).body).toMatchObject({
      mask_sample: true,
      failure_kind: 'session_lost',
    })
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

  it('can be closed before it is seeded', async () => {
    const { client } = await serve()
    expect((await client().post('close_session', named('s-2'))).status).toBe(200)
    expect((await client().post('seed_session', seed('s-2'))).status).toBe(409)
  })

  it('is verified before it is closed', async () => {
    const { client } = await serve()
    const agent = client()
    await agent.post('seed_session', seed('s-3'))
    const values = await halve(agent)
    expect((await agent.post('verify', answered(values))).body).toMatchObject({ terminated: 1, mask_sample: false })
    expect((await agent.post('close_session', named('s-3'))).status).toBe(200)
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

  it('answers a repeated step id from the stored step', async () => {
    const { client } = await serve()
    const agent = client()
    await agent.post('reset', row())
    const turn = { ...answered([500, 501]), _ng_step_request_id: 'a'.repeat(32) }
    const first = await agent.post('step', turn, { keeps: false })
    expect(await agent.post('step', turn)).toEqual(first)
    expect(await agent.post('step', { ...turn, ...answered([502]) })).toMatchObject({ status: 409 })
    // The same call in a new turn is a new step.
    const next = await agent.post('step', { ...turn, _ng_step_request_id: 'b'.repeat(32) })
    expect(next.body.reward).toBeCloseTo(-0.02)
    expect(agent.cookie).toMatch(/\.4$/)
  })

  it('reports the return with the last step alone, if that is wanted', async () => {
    const { client } = await serve({ rewards: 'return' })
    const agent = client()
    await agent.post('reset', row({ params: { low: 1, high: 1 } }))
    expect((await agent.post('step', answered([500]))).body.reward).toBe(0)
    expect((await agent.post('step', answered([1]))).body.reward).toBeCloseTo(0.98)
  })

  it('answers a failure with an error, and with no reward', async () => {
    const { client } = await serve()
    const agent = client()
    await agent.post('reset', row({ environment: 'broken', params: {} }))
    const turn = answered([])
    const call = { type: 'function_call', call_id: 'c', name: 'break', arguments: '{}' }
    const failed = await agent.post('step', { ...turn, response: { output: [call] } })
    expect(failed).toMatchObject({ status: 500, body: { code: 'environment-failed' } })
    expect(failed.body).not.toHaveProperty('reward')
  })

  it('closes the episode of a client that resets again', async () => {
    const { client, host } = await serve()
    const agent = client()
    for (const seed of [1, 2, 3]) await agent.post('reset', row({ seed }))
    expect((await host.list({ limit: 10 })).total).toBe(1)
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

  it('takes members that a client filled in with null as left out', async () => {
    const { client } = await serve()
    const seeding = row({ version: null, params: null, seed: null, limits: { steps: null, seconds: null } })
    expect((await client().post('seed_session', seeding)).status).toBe(200)
  })

  it('rejects a body over the limit', async () => {
    const { client } = await serve({ bodyBytes: 1_000 })
    const long = row({ note: 'x'.repeat(1_000) })
    expect(await client().post('seed_session', long)).toMatchObject({ status: 413, body: { code: 'too-large' } })
  })

  it('rejects answers of verify with too many names of numbers', async () => {
    const { client } = await serve()
    const named = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`n${i}`, i]))
    const answer = await client().post('aggregate_metrics', { verify_responses: [named] })
    expect(answer).toMatchObject({ status: 413, body: { code: 'too-large' } })
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

  it('strips the id that observability puts in front of a path', async () => {
    const { client } = await serve()
    const agent = client()
    await agent.post('ng-rollout/r1-a2/seed_session', row())
    expect((await agent.post('ng-rollout/r1-a2/guess', { value: 500 })).status).toBe(200)
    expect((await agent.post('ng-rollout/r1-a2/verify', answered([500]))).body).toMatchObject({ steps: 1 })
  })

  it('answers what a client asks about the server itself', async () => {
    const { server } = await serve()
    expect(await (await fetch(`${server.origin}/`)).json()).toEqual({ status: 'ok' })
    expect(await (await fetch(`${server.origin}/reverify_mode`)).json()).toBe('unsupported')
    expect((await fetch(`${server.origin}/nothing/here`)).status).toBe(404)
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
