import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createRollouts, type PlayedStep } from '@episodic/env'
import { advantages } from '@episodic/env/advantages'
import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import { createEngine } from '@episodic/models/gateway/engine'
import { openGateway } from '@episodic/models/gateway/gateway-server'
import { openGatewaySessions } from '@episodic/models/gateway/gateway-sessions'
import { type Action, createRng, type Rng, WireError } from '@episodic/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { startTokenEngine, thinkingGuess } from '../../../../../../interop/gateway/token-engine.ts'

let cleanUp = new AsyncDisposableStack()
afterEach(async () => {
  await cleanUp.disposeAsync()
  cleanUp = new AsyncDisposableStack()
})

// biome-ignore lint/suspicious/noExplicitAny: the tests read JSON of the gateway.
type Body = any

interface Step {
  readonly tool: string
  readonly arguments: { readonly value: number }
  readonly text: string
}

async function serve(splices = true) {
  const folder = await mkdtemp(join(tmpdir(), 'episodic-forks-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  const engine = cleanUp.use(
    await startTokenEngine(
      (_, number) => {
        const [one, two] = [number, 1_000 + number].map((value) => thinkingGuess(value, `call_${value}`)) as Body[]
        return number % 3 === 1 ? { ...one, tool_calls: [...one.tool_calls, ...two.tool_calls] } : one
      },
      { splices },
    ),
  )
  const start = async () => {
    const own = new AsyncDisposableStack()
    cleanUp.use(own)
    const asked = own.use(createEngine({ baseUrl: engine.url }))
    const sessions = own.use(await openGatewaySessions(folder, asked))
    const { url, controlToken } = own.use(await openGateway({ sessions, port: 0 }))
    const ask = async (method: string, path: string, body?: object, key = controlToken): Promise<Body> => {
      const headers = { authorization: `Bearer ${key}` }
      const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      return { status: answer.status, ...((await answer.json()) as object) }
    }
    return { ask, rollouts: createRollouts(url, controlToken), stop: () => own.disposeAsync() }
  }
  return { folder, engine, start, ...(await start()) }
}

const tools = [{ type: 'function', function: { name: 'guess', description: 'Guess.', parameters: { type: 'object' } } }]

async function play(
  { ask }: Pick<Awaited<ReturnType<typeof serve>>, 'ask'>,
  session: Body,
  { world, messages, steps }: { readonly world: string; readonly messages: Body[]; readonly steps: Step[] },
  answers: number,
) {
  for (let i = 0; i < answers; i++) {
    const body = { model: 'm', messages, tools }
    const { choices } = await ask('POST', '/v1/chat/completions', body, session.api_key)
    messages.push(choices[0].message)
    for (const { id, function: called } of choices[0].message.tool_calls) {
      const args = JSON.parse(called.arguments)
      const text = `In ${world}: ${args.value} is too\n  low.`
      messages.push({ role: 'tool', tool_call_id: id, content: text })
      steps.push({ tool: 'guess', arguments: args, text })
    }
  }
}

const begin = (world: string) => ({
  world,
  messages: [{ role: 'user', content: `Find it in ${world}.` }] as Body[],
  steps: [] as Step[],
})
const learnedOf = ({ sequences }: Body): number[] =>
  sequences.flatMap(({ response_ids: ids, response_mask: mask }: Body) =>
    ids.filter((_: number, at: number) => mask[at] === 1),
  )

describe('POST /sessions/<id>/fork', () => {
  it('goes on from the tokens of the answers that led to a step, after a restart too, and learns each token once', async () => {
    const gateway = await serve()
    const { engine } = gateway
    const parent = await gateway.ask('POST', '/sessions', { metadata: { group: 'g' } })
    const episode = begin('wales')
    await play(gateway, parent, episode, 4)
    const steps = episode.steps.slice(0, 3)
    const path = `/sessions/${parent.session_id}/fork`
    const first = await gateway.ask('POST', path, { n: 2, steps })
    expect(first).toMatchObject({
      status: 200,
      sessions: [{ fork: { answers: 2, branch: [1] } }, { fork: { branch: [2] } }],
    })
    await gateway.stop()
    const again = await gateway.start()
    const second = await again.ask('POST', path, { n: 1, steps })
    expect(second.sessions).toMatchObject([{ fork: { of: parent.session_id, answers: 2, branch: [3] } }])
    const forks = [...first.sessions, ...second.sessions]
    for (const fork of forks) {
      const { requests, sampled } = engine
      const own = { world: 'wales', messages: episode.messages.slice(0, 6), steps: [...steps] }
      expect(own.messages.at(-1)).toMatchObject({ role: 'tool', content: steps[2]?.text })
      const before = requests.length
      await play(again, fork, own, 2)
      const kept = sampled[1]!
      expect(sampled[before]?.prompt.slice(0, kept.prompt.length + kept.ids.length)).toEqual([
        ...kept.prompt,
        ...kept.ids,
      ])
    }
    const [rerun] = (await again.ask('POST', path, { steps })).sessions
    const asked = engine.requests.length
    const anew = begin('wales')
    await play(again, rerun, anew, 2)
    expect([anew.steps, engine.requests.length]).toEqual([steps, asked])
    const deeper = await again.ask('POST', `/sessions/${forks[1].session_id}/fork`, { steps })
    expect(deeper.sessions[0].fork).toMatchObject({ answers: 2, branch: [2, 1] })

    const all = [parent, ...forks, rerun].map(({ session_id: id }) => again.ask('GET', `/sessions/${id}/sequences`))
    const read = await Promise.all(all)
    expect(read.flatMap(learnedOf).toSorted()).toEqual(engine.sampled.flatMap(({ ids }) => ids).toSorted())
    expect(read[2]).toMatchObject({
      metadata: { group: 'g' },
      drifted: 0,
      sequences: [{ branch: [2], answers: [0, 1, 2, 3] }],
    })
  })

  it('says beside the tokens what each answer was worth by the states that the forks share', async () => {
    const gateway = await serve()
    const parent = await gateway.ask('POST', '/sessions', {})
    const episode = begin('wales')
    await play(gateway, parent, episode, 4)
    const reported = (steps: readonly Step[], own: string, last: number) =>
      steps.map((step, at) => ({
        ...step,
        reward: at === steps.length - 1 ? last : -0.25,
        state_hash: at === 3 ? 'met' : `${at < 3 ? 'shared' : own} ${at}`,
      }))
    const path = `/sessions/${parent.session_id}`
    const forked = reported(episode.steps, 'parent', 1).slice(0, 3)
    const { sessions } = await gateway.ask('POST', `${path}/fork`, { n: 2, steps: forked })
    const played = [
      { session: parent, messages: episode.messages, steps: reported(episode.steps, 'parent', 1), after: 0 },
    ]
    for (const [i, fork] of sessions.entries()) {
      const own = { world: 'wales', messages: episode.messages.slice(0, 6), steps: [] as Step[] }
      await play(gateway, fork, own, 2)
      const steps = reported([...episode.steps.slice(0, 3), ...own.steps], `fork ${i}`, 2 * i)
      played.push({ session: fork, messages: own.messages, steps, after: 3 })
    }
    for (const { session, steps, after } of played) {
      const asked = { reward: 0.5, steps: steps.slice(after), after }
      const route = `/sessions/${session.session_id}/reward`
      const wrong = { ...asked, steps: asked.steps.map((step) => ({ ...step, arguments: { value: 1 } })) }
      expect(await gateway.ask('PUT', route, wrong)).toMatchObject({ status: 409, error: { code: 'differs' } })
      expect(await gateway.ask('PUT', route, asked)).toMatchObject({ status: 200, reward: 0.5 })
    }
    await gateway.stop()
    const again = await gateway.start()
    const read: Body[] = await Promise.all(
      played.map(({ session }) => again.ask('GET', `/sessions/${session.session_id}/sequences`)),
    )
    const expected = advantages(
      played.map(({ messages, steps }, rollout) => {
        const counts = messages.flatMap(({ tool_calls: calls }) => (calls ? [calls.length as number] : []))
        const answers = counts.map((count, at) => {
          const from = counts.slice(0, at).reduce((sum, each) => sum + each, 0)
          return steps.slice(from, from + count)
        })
        return {
          steps: answers.map((own, at) => ({
            action: [],
            calls: own.length,
            reward: own.reduce((sum, step) => sum + step.reward, 0),
            stateHash: own.at(-1)?.state_hash ?? null,
            sample: at < 2 ? `shared ${at}` : `${rollout} ${at}`,
          })),
        }
      }),
    )
    for (const [i, { sequences }] of read.entries()) {
      const [{ segments, response_advantages: given }] = sequences
      const worth = expected.rollouts[i]?.steps ?? []
      expect(segments.map(({ node, visits, value, advantage }: Body) => ({ node, visits, value, advantage }))).toEqual(
        worth.map(({ node, visits, value, advantage }) => ({ node, visits, value, advantage })),
      )
      const branch = i === 0 ? [] : [i]
      expect(segments.map(({ branch, learned }: Body) => [branch, learned])).toEqual(
        worth.map((_, at) => [at < 2 ? [] : branch, at >= 2 || i === 0]),
      )
      for (const { from, to, advantage } of segments) {
        expect(given.slice(from, to)).toEqual(Array(to - from).fill(advantage))
      }
    }
    expect(expected.shared).toBeGreaterThan(2)
  })

  it('finishes a rollout whose world ended at the first of two calls, and hands it out with the same credit again', async () => {
    const { ask, rollouts, ...gateway } = await serve()
    const played: { id: string; episode: ReturnType<typeof begin> }[] = []
    await rollouts.call('POST /groups', { group_id: 'g', attempts: 2 })
    for (const whole of [true, false]) {
      const rollout = (await rollouts.lease())!
      const episode = begin('wales')
      await play({ ask }, rollout, episode, gateway.engine.requests.length % 3 === 0 ? 2 : 3)
      const steps = episode.steps.slice(0, -1).map((step) => ({ ...step, reward: 1, state_hash: null }))
      const route = `/sessions/${rollout.session_id}/finish`
      const finish = (changed: object, lease = rollout.lease) => ask('POST', route, { lease, reward: 1, ...changed })
      const wrong = steps.map((step) => ({ ...step, text: 'Another one.' }))
      expect(await finish({ steps: wrong }, 9)).toMatchObject({ status: 409, error: { code: 'fenced' } })
      expect(await finish({ steps: wrong })).toMatchObject({ status: 409, error: { code: 'differs' } })
      expect(await finish({ steps: episode.steps })).toMatchObject({ status: 400 })
      expect(await finish({ steps: steps.map((step) => ({ ...step, reward: 1e308 })) })).toMatchObject({ status: 400 })
      expect(await finish(whole ? { steps } : {})).toMatchObject({ status: 200 })
      played.push({ id: rollout.session_id, episode })
    }
    const { id, episode } = played[0]!
    const addFork = async (): Promise<string> => {
      const [child] = (await ask('POST', `/sessions/${id}/fork`, { steps: episode.steps.slice(0, 1) })).sessions
      const own = { ...begin('wales'), messages: episode.messages.slice(0, 3) }
      await play({ ask }, child, own, 1)
      const steps = own.steps.map((step) => ({ ...step, reward: 9, state_hash: null }))
      await ask('PUT', `/sessions/${child.session_id}/reward`, { reward: 9, steps, after: 1 })
      return child.session_id
    }
    const earlier = await addFork()
    const batch = (served = rollouts) => served.call<{ groups: Body[] }>('POST /batches', { batch_id: 'b', groups: 1 })
    const { groups } = await batch()
    const credited = groups[0].rollouts.map(({ sequences: [{ segments }] }: Body) =>
      segments.map(({ value }: Body) => value ?? null),
    )
    expect(credited[0].every((value: unknown) => typeof value === 'number')).toBe(true)
    expect(credited[1].every((value: unknown) => value === null)).toBe(true)
    const read = async () => (await ask('GET', `/sessions/${id}/sequences`)).sequences[0].segments
    const before = await read()
    await addFork()
    expect(await read()).not.toEqual(before)
    await ask('DELETE', `/sessions/${earlier}`)
    expect((await batch()).groups).toEqual(groups)
    await gateway.stop()
    expect((await batch((await gateway.start()).rollouts)).groups).toEqual(groups)
  })

  it('keeps the credit of forks apart that begin earlier than the fork they were forked from', async () => {
    const gateway = await serve()
    const parent = await gateway.ask('POST', '/sessions', {})
    const episode = begin('wales')
    await play(gateway, parent, episode, 3)
    const fork = async (of: Body, body: object) =>
      (await gateway.ask('POST', `/sessions/${of.session_id}/fork`, body)).sessions as Body[]
    const [child] = await fork(parent, { steps: episode.steps })
    const [first = episode.steps[0]] = episode.steps
    const grandchildren = await fork(child, { n: 2, steps: [first] })
    for (const grandchild of grandchildren) {
      const own = { world: 'wales', messages: episode.messages.slice(0, 3), steps: [] as Step[] }
      await play(gateway, grandchild, own, 1)
      const { sequences } = await gateway.ask('GET', `/sessions/${grandchild.session_id}/sequences`)
      expect(sequences[0].segments.map(({ branch }: Body) => branch)).toEqual([[], grandchild.fork.branch])
    }
    expect(grandchildren.map((each) => each.fork.branch)).toEqual([
      [1, 1],
      [1, 2],
    ])
    // Older lines do not say where each fork is.
    const file = join(gateway.folder, 'sessions.jsonl')
    const older = (await readFile(file, 'utf8')).replaceAll(/"at":\[[\d,]*\],"root":"[^"]*",/g, '')
    await gateway.stop()
    await writeFile(file, older)
    const again = await gateway.start()
    const read = await again.ask('GET', `/sessions/${child.session_id}/sequences`)
    expect(read.fork).toMatchObject({ of: parent.session_id, answers: 3, branch: [1] })
  })

  it('refuses 200 of 200 prefixes that do not fit their world, and opens nothing', async () => {
    const [gateway, drifting] = [await serve(), await serve(false)]
    const opened = async (at: typeof gateway, world: string) => {
      const session = await at.ask('POST', '/sessions')
      const episode = begin(world)
      await play(at, session, episode, 8)
      return { path: `/sessions/${session.session_id}/fork`, steps: episode.steps }
    }
    const one = await opened(gateway, 'wales')
    const other = await opened(gateway, 'kent')
    const drifted = await opened(drifting, 'wales')
    const rng = createRng('mismatches')
    const folder = await readFile(join(gateway.folder, 'sessions.jsonl'), 'utf8')
    const refused: string[] = []
    for (let i = 0; i < 200; i++) {
      const kind = KINDS[i % KINDS.length] as (typeof KINDS)[number]
      const steps = kind(one.steps, other.steps, rng)
      const answer = await gateway.ask('POST', one.path, { n: 2, steps })
      expect(answer, JSON.stringify(steps)).toMatchObject({
        status: 409,
        error: { message: expect.stringContaining('do not fit the world') },
      })
      refused.push(answer.error.message)
    }
    expect(await readFile(join(gateway.folder, 'sessions.jsonl'), 'utf8')).toBe(folder)
    // An engine that tokenises again has no tokens that a fork could go on from.
    expect(await drifting.ask('POST', drifted.path, { steps: drifted.steps.slice(0, 3) })).toMatchObject({
      status: 409,
    })
    expect(await drifting.ask('POST', drifted.path, { steps: drifted.steps.slice(0, 1) })).toMatchObject({
      status: 200,
    })
    // Every prefix between two answers fits.
    for (const [at, fits] of [true, true, false, true, true, true, false, true].entries())
      expect((await gateway.ask('POST', one.path, { steps: one.steps.slice(0, at) })).status).toBe(fits ? 200 : 409)
    expect(refused).toContain(
      `The answers of ${one.path.split('/')[2]} do not fit the world. An answer goes on after step 2 with a further call. Fork before or after it.`,
    )
    expect(await gateway.ask('POST', one.path, { n: 0, steps: [] })).toMatchObject({ status: 400 })
  })
})

/** Ways in which steps are not those of the answers. */
const KINDS: readonly ((steps: readonly Step[], other: readonly Step[], rng: Rng) => Step[])[] = [
  // Another argument, tool or text.
  (steps, _, rng) => changed(steps, rng, (step) => ({ ...step, arguments: { value: step.arguments.value + 1 } })),
  (steps, _, rng) => changed(steps, rng, (step) => ({ ...step, tool: `${step.tool}s` })),
  (steps, _, rng) => changed(steps.slice(0, 7), rng, (step) => ({ ...step, text: `${step.text}.` })),
  // One step less, one twice, two in another order, one that nobody took.
  (steps, _, rng) => steps.filter((_, i) => i !== rng.int(0, steps.length - 3)).concat(steps[0] as Step),
  (steps, _, rng) => changed(steps, rng, (step) => step).flatMap((step, i) => (i === 2 ? [step, step] : [step])),
  (steps, _, rng) => {
    const at = rng.int(0, steps.length - 2)
    return steps.with(at, steps[at + 1] as Step).with(at + 1, steps[at] as Step)
  },
  (steps, _, rng) => [...steps, { ...(steps[0] as Step), arguments: { value: rng.int(5_000, 9_000) } }],
  // Between two calls of one answer.
  (steps) => steps.slice(0, 2),
  (steps) => steps.slice(0, 6),
  // Those of another episode, or of two.
  (_, other, rng) => other.slice(0, rng.int(1, other.length)),
  (steps, other, rng) => {
    const at = rng.int(1, steps.length - 1)
    return [...steps.slice(0, at), ...other.slice(at)]
  },
]

function changed(steps: readonly Step[], rng: Rng, change: (step: Step) => Step): Step[] {
  const at = rng.int(0, steps.length - 1)
  return steps.map((step, i) => (i === at ? change(step) : step))
}

const low = defineEnvironment({
  name: 'low',
  version: '1.0.0',
  description: 'Guess.',
  state: { public: z.object({ last: z.int() }), private: z.object({}) },
  start: () => ({ public: { last: 0 }, private: {} }),
  observe: () => 'Guess.',
  tools: ({ tool }) => ({
    guess: tool({
      description: 'Guess.',
      input: z.object({ value: z.int() }),
      play({ state, input, say }) {
        state.public.last = input.value
        return say(`${input.value} is too low.`)
      },
    }),
  }),
  rewards: { guess: () => -1 },
})

describe('createRollouts', () => {
  it('leases, parks, resumes, finishes and abandons rollouts, and forks a world with its answers', async () => {
    const gateway = await serve()
    const { rollouts } = gateway
    await using host = createHost({ environments: [low] })
    await using connection = await connect(inProcess(host))
    const goOn = async (own: { api_key: string }, environment: Body, messages: Body[], steps: PlayedStep[]) => {
      const body = { model: 'm', messages, tools }
      const { choices } = await gateway.ask('POST', '/v1/chat/completions', body, own.api_key)
      messages.push(choices[0].message)
      for (const { id, function: called } of choices[0].message.tool_calls) {
        const action: Action = { tool: called.name, arguments: JSON.parse(called.arguments) }
        const step = await environment.step(action)
        steps.push({ ...step, action, completions: [], milliseconds: 0 })
        messages.push({ role: 'tool', tool_call_id: id, content: step.observation.text })
      }
    }
    await rollouts.call('POST /groups', { group_id: 'g', attempts: 3 })
    const [environment, messages, steps] = [connection.environment('low'), [] as Body[], [] as PlayedStep[]]
    const { observation } = await environment.reset()
    messages.push({ role: 'user', content: observation.text })
    const first = (await rollouts.lease({ key: 'one' }))!
    await goOn(first, environment, messages, steps)
    await first.park({ messages, world: (await environment.snapshot()) as Body })
    await expect(first.renew(60)).rejects.toSatisfy((error) => WireError.is(error, 'fenced'))
    const second = (await rollouts.lease())!
    expect(second.session_id).toBe('g.1')
    await second.abandon('Its machine is gone.')

    const resumed = (await rollouts.resume(first.session_id))!
    const goesOn = connection.environment('low')
    await goesOn.restore(resumed.note?.world as Body)
    await goOn(resumed, goesOn, messages, steps)
    const children = await rollouts.fork(resumed.session_id, goesOn, steps)
    expect(children).toMatchObject([{ fork: { answers: 2, branch: [1] } }])
    expect(children[0]?.environment.start.observation.structured).toEqual({ last: steps[2]?.action.arguments.value })
    await expect(rollouts.fork(resumed.session_id, goesOn, [])).rejects.toThrow('no state after 0 steps')
    const wrong = [{ ...(steps[0] as PlayedStep), action: { tool: 'guess', arguments: { value: 999 } } }]
    await expect(rollouts.fork(resumed.session_id, goesOn, wrong, 2)).rejects.toThrow('do not fit the world')
    await resumed.finish(steps.length, steps)
    const third = (await rollouts.lease())!
    await expect(third.finish(0, wrong)).rejects.toSatisfy((error) => WireError.is(error, 'invalid-params'))
    await third.finish(0)
    const { groups } = await rollouts.call<{ groups: Body[] }>('POST /batches', { batch_id: 'b', groups: 1 })
    const [{ rollouts: played, void: lost, rewards }] = groups
    expect([rewards, lost]).toMatchObject([[3, 0], [{ reason: 'Its machine is gone.' }]])
    const [{ segments }] = played[0].sequences
    expect(segments.map(({ value, advantage }: Body) => [value, advantage])).toEqual([
      [-3, 0],
      [-2, 0],
    ])
    await environment.close()
    for (const child of children) await child.environment.close()
    await goesOn.close()
    await rollouts.call('POST /sessions', { session_id: 'silent' })
    for (const [route, code] of [
      ['GET /sessions/none/trace', 'session-not-found'],
      ['GET /sessions/silent/trace', 'invalid-params'],
      ['POST /sessions/silent/fork', 'invalid-params'],
    ] as const)
      await expect(rollouts.call(route)).rejects.toSatisfy((error) => WireError.is(error, code))
    const away = createRollouts('http://127.0.0.1:1', 'none', { seconds: 0 })
    await expect(away.lease()).rejects.toThrow('did not answer')
  })
  it('takes over a lease whose answer was lost, asks again where none comes, and refuses what is no URL', async () => {
    const { rollouts } = await serve()
    await rollouts.call('POST /groups', { group_id: 'g', attempts: 2 })
    const answer = globalThis.fetch
    for (const ask of [() => rollouts.lease(), () => rollouts.resume('g.1')]) {
      const lost = vi.spyOn(globalThis, 'fetch').mockImplementationOnce(async (...asked) => {
        await answer(...asked)
        throw new TypeError('terminated')
      })
      expect(await ask()).toMatchObject({ lease: 2 })
      lost.mockRestore()
    }
    expect(await rollouts.lease()).toBeNull()
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    cleanUp.defer(() => {
      silent.close()
      silent.closeAllConnections()
    })
    await once(silent, 'listening')
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort(new Error('late')))
    const { port } = silent.address() as AddressInfo
    const mute = createRollouts(`http://127.0.0.1:${port}`, 'none', { attempts: 2 })
    await expect(mute.lease()).rejects.toThrow('did not answer')
    expect(timeout.mock.calls).toEqual([[120_000], [120_000]])
    timeout.mockRestore()
    expect(() => createRollouts('127.0.0.1:7338', 'none')).toThrow('names no gateway')
  })
})
