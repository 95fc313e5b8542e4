import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type connect, PlayerStop, runEpisode, scriptedPolicy } from '@episodic/env'
import {
  createHost,
  defineEnvironment,
  type EnvironmentDefinition,
  type HostOptions,
  rehearse,
} from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { createManualClock } from '@episodic/state'
import { openSqliteStore } from '@episodic/state/sqlite'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { episodeFolders, isAlive, NOTES, openWorld, useOwnTemporaryFolder } from '../fixtures/notes.fixture.ts'
import { defineMcpEnvironment } from './define-mcp-environment.ts'

afterAll(useOwnTemporaryFolder())

const call = (tool: string, args = {}) => ({ tool, arguments: args })
const add = (text: string) => call('add', { text })
const done = (answer?: string) => call('done', answer === undefined ? {} : { answer })

/** Wants one note, with the text of the task. */
const noting = await defineMcpEnvironment({
  server: NOTES,
  name: 'noting',
  params: z.object({ prompt: z.string().default('Note: milk.'), note: z.string().default('milk') }),
  observe: ({ prompt }) => prompt,
  limits: { steps: 4 },
  async score({ call, params, answer, transcript, folder }) {
    const { structured } = await call('list')
    const file = existsSync(join(folder, 'notes.txt')) ? await readFile(join(folder, 'notes.txt'), 'utf8') : ''
    const said = `${(structured as { notes: string[] }).notes.join()}|${file.trim()}|${answer}|${transcript.length}`
    return said === `${params.note}|${params.note}|${answer}|${transcript.length}` ? 1 : 0.25
  },
})

describe('an environment of an MCP server', () => {
  it('has the tools of the server as it lists them, and one to finish', () => {
    expect(noting.toolInfos.map(({ name }) => name)).toEqual([
      ...['add', 'list', 'copy', 'random', 'fail', 'photo', 'resources', 'grow', 'silent', 'exit', 'processes', 'done'],
    ])
    expect(noting.toolInfos[0]).toMatchObject({
      description: 'add.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    })
    expect(noting).toMatchObject({ name: 'noting', version: '1.0.0', forkable: false, terms: ['score'] })
  })

  it('keeps the calls of its set-up and of its score with the steps', async () => {
    const environment = await defineMcpEnvironment({
      server: NOTES,
      setup: async ({ call }) => void (await call('add', { text: 'eggs' })),
      score: async ({ call }) => (await call('list')).text.length > 0,
    })
    await using world = await openWorld(environment)
    await using episode = world.connection.environment()
    await episode.reset()
    const eggs = { tool: 'add', arguments: { text: 'eggs' }, text: 'Noted: eggs' }
    const first = await episode.step(add('milk'))
    expect(first.info.prepared).toMatchObject({ text: 'Noted: milk', setup: [eggs], score: null })
    const last = await episode.step(done())
    const listed = { tool: 'list', arguments: {}, structured: { notes: ['eggs', 'milk'] } }
    expect(last.info.prepared).toEqual({ score: 1, judging: [expect.objectContaining(listed)] })
  })

  it('shows resources and links to trainers and agents as the server does, and in the text', async () => {
    await using world = await openWorld(noting)
    const environment = world.connection.environment()
    const { info } = await environment.reset({}, { seed: 'seed' })
    await using server = await serveHttp(world.host)
    const step = await environment.step(call('resources'))
    const uri = 'file://{folder}/notes.txt'
    expect(step.observation).toMatchObject({
      text: 'All of {folder}/notes.txt:\nmilk\n[resource_link second notes:second]',
      resources: [
        { type: 'resource', uri, mimeType: 'text/plain', from: 27, to: 31 },
        { type: 'resource_link', uri: 'notes:second', name: 'second', description: 'More.', from: 32, to: 67 },
      ],
      attachments: [{ type: 'file', mimeType: 'application/zip', uri: 'notes:zip', data: 'UEsDBA==' }],
    })
    const seat = await connectAgent(`${server.agentUrl}/s/${info.capability}`)
    const { result } = JSON.parse((await seat('resources')) as string)
    expect(result.content).toEqual([
      { type: 'text', text: 'All of {folder}/notes.txt:' },
      { type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'milk' } },
      { type: 'resource_link', uri: 'notes:second', name: 'second', description: 'More.' },
      { type: 'resource', resource: { uri: 'notes:zip', mimeType: 'application/zip', blob: 'UEsDBA==' } },
    ])
    const { prepared } = step.info
    const again = rehearse(noting, { seed: 'seed', strict: true }).play('resources', {}, { prepared })
    expect([again.observation, again.stateHash]).toEqual([step.observation, step.info.stateHash])
  })

  it('has a folder that players name {folder}, so that equal episodes are equal', async () => {
    await using world = await openWorld(noting)
    const play = async () => {
      await using environment = world.connection.environment()
      await environment.reset({ params: { note: 'milk' } })
      await environment.step(add('milk'))
      const { observation, info } = await environment.step(call('copy', { text: '{folder}/copy.txt' }))
      return [observation.text, info.prepared]
    }
    const files = ['{folder}/notes.txt', '{folder}/copy.txt']
    const text = `Copied ${files[0]} to ${files[1]}.`
    expect(await play()).toEqual([text, expect.objectContaining({ text, structured: { files } })])
    expect(await play()).toEqual(await play())
  })

  it('keeps episodes of one seed apart, and leaves nothing of them', async () => {
    await using world = await openWorld(noting)
    const play = async (text: string) => {
      await using environment = world.connection.environment()
      await environment.reset({ params: { note: text } }, { seed: 'same' })
      await environment.step(add(text))
      const { observation } = await environment.step(call('list'))
      return observation.text
    }
    const texts = ['a', 'b', 'c', 'd']
    expect(await Promise.all(texts.map(play))).toEqual(texts.map((text) => `{"notes":["${text}"]}`))
  })

  it('answers with an error of a tool, and goes on', async () => {
    await using world = await openWorld(noting)
    await using environment = world.connection.environment()
    await environment.reset()
    expect(await environment.step(call('fail'))).toMatchObject({
      observation: { text: 'No such note.' },
      info: { refused: null, prepared: { isError: true } },
    })
    expect(await environment.step(call('no-such-tool'))).toMatchObject({ info: { refused: 'tool' } })
    expect((await environment.step(add('milk'))).observation.text).toBe('Noted: milk')
  })

  it('is scored at the last step of its limit, too', async () => {
    await using world = await openWorld(noting)
    const policy = scriptedPolicy([add('milk'), call('list'), call('list'), call('list')])
    const episode = await runEpisode({ createEnvironment: () => world.connection.environment(), policy })
    expect(episode).toMatchObject({ end: { kind: 'truncated', reason: 'step-limit' }, success: true })
    expect(episode.steps.map(({ reward }) => reward.total)).toEqual([0, 0, 0, 1])
  })

  it('is scored when its player has left, and succeeds by no word of a player that stopped', async () => {
    await using world = await openWorld(noting)
    const play = scriptedPolicy([add('milk')])
    const leaving = (code: 'closed' | 'no-action') => ({
      name: code,
      start: async (context: Parameters<typeof play.start>[0]) => {
        const player = await play.start(context)
        let played = 0
        return async (...given: Parameters<typeof player>) => {
          if (played++ === 1) throw new PlayerStop(code, 'I am off.')
          return player(...given)
        }
      },
    })
    const episode = await runEpisode({
      createEnvironment: () => world.connection.environment(),
      policy: leaving('no-action'),
      seed: 'seed',
    })
    expect(episode).toMatchObject({
      kind: 'finished',
      end: { kind: 'truncated', reason: 'no-action' },
      success: false,
      steps: [
        { reward: { total: 0 } },
        {
          action: { tool: 'absent', arguments: { cause: 'left' } },
          reward: { total: 1 },
          end: { kind: 'truncated', reason: 'closed' },
          info: { success: true, prepared: { score: 1, judging: [{ tool: 'list' }] } },
        },
      ],
    })
    const rehearsal = rehearse<EnvironmentDefinition>(noting, { seed: 'seed', strict: true })
    for (const { action, info } of episode.steps)
      expect(rehearsal.play(action.tool, action.arguments, { prepared: info.prepared })).toMatchObject({
        stateHash: info.stateHash,
      })
    const { session } = await world.host.open(null, {
      environment: 'noting',
      requestKey: 'a-key-of-a-player-that-left',
    })
    const ref = await world.host.resolve(null, { by: 'control', token: session })
    await ref.step({ action: add('milk') })
    // A player has no such tool.
    expect((await ref.step({ action: call('absent', { cause: 'left' }) })).step.report.refused).toBe('tool')
    expect(await ref.close(true)).toMatchObject({ success: true, step: { report: { terms: { score: 1 } } } })
  })

  it('is scored when its time is over, by the call that comes too late', async () => {
    const clock = createManualClock()
    await using world = await openWorld(noting, { clock })
    await using environment = world.connection.environment()
    await environment.reset({ limits: { seconds: 60 } }, { seed: 'seed' })
    const first = await environment.step(add('milk'))
    clock.advance(60_000)
    const late = await environment.step(add('eggs'))
    expect(late).toMatchObject({
      observation: { text: expect.stringMatching(/time of this session has run out/) },
      end: { kind: 'truncated', reason: 'time-limit' },
      reward: { total: 1 },
      info: { refused: 'time', success: true, prepared: { judging: [{ structured: { notes: ['milk'] } }] } },
    })
    const rehearsal = rehearse(noting, { seed: 'seed', strict: true })
    rehearsal.play('add', { text: 'milk' }, { prepared: first.info.prepared })
    const truncation = 'time-limit'
    const again = rehearsal.play('add', { text: 'eggs' }, { prepared: late.info.prepared, truncation })
    expect([again.observation, again.stateHash, again.terms]).toEqual([
      late.observation,
      late.info.stateHash,
      { score: 1 },
    ])
  })

  it('is scored when its session expires, by its server, which then ends', async () => {
    const clock = createManualClock()
    const left: unknown[] = []
    const onLeft: HostOptions['onLeft'] = ({ step }) => left.push(step.report.terms)
    await using world = await openWorld(noting, { clock, onLeft, bounds: { idleSeconds: 60 } })
    const environment = world.connection.environment()
    await environment.reset()
    await environment.step(add('milk'))
    const pids = JSON.parse((await environment.step(call('processes'))).observation.text) as number[]
    clock.advance(61_000)
    await world.host.sweep()
    await expect.poll(() => left).toEqual([{ score: 1 }])
    await expect.poll(() => pids.some(isAlive)).toBe(false)
    expect(world.faults).toEqual([])
  })

  it('is scored once when its session expires in the process that comes after the one that played it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kept-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const environment = await defineMcpEnvironment({
      server: NOTES,
      name: 'kept',
      stateInFolder: true,
      score: async ({ call }) => ((await call('list')).structured as { notes: string[] }).notes.length,
    })
    const clock = createManualClock()
    await using store = await openSqliteStore(join(folder, 'sessions.db'))
    const left: unknown[] = []
    const onLeft: HostOptions['onLeft'] = ({ step }) => left.push(step.report.terms)
    const bounds = { idleSeconds: 60 }
    {
      await using world = await openWorld(environment, { clock, store, bounds, onLeft })
      const { session } = await world.host.open(null, { environment: 'kept', requestKey: 'a-key-of-a-kept-session' })
      const ref = await world.host.resolve(null, { by: 'control', token: session })
      await ref.step({ action: add('milk') })
      await ref.step({ action: add('eggs') })
    }
    await using world = await openWorld(environment, { clock, store, bounds, onLeft })
    const sweepUntil = (done: () => boolean | Promise<boolean>) =>
      expect
        .poll(async () => {
          clock.advance(30_000)
          await world.host.sweep()
          return done()
        })
        .toBe(true)
    await sweepUntil(() => left.length > 0)
    await sweepUntil(async () => (await store.count()) === 0)
    expect([left, world.faults]).toEqual([[{ score: 2 }], []])
  })

  it('has failed where its server is lost when its player has left', async () => {
    await using world = await openWorld(
      await defineMcpEnvironment({ server: NOTES, name: 'lost', score: async ({ call }) => (await call('exit')) && 1 }),
    )
    const policy = {
      name: 'leaving',
      start: () => () => {
        throw new PlayerStop('no-action', 'I am off.')
      },
    }
    const episode = await runEpisode({ createEnvironment: () => world.connection.environment(), policy })
    expect(episode).toMatchObject({ kind: 'failed', cause: { code: 'state-lost' } })
  })

  it('is set up before the first call, on a copy of a folder, with the chance of its seed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'notes-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'notes.txt'), 'eggs\n')
    const environment = await defineMcpEnvironment({
      server: NOTES,
      name: 'set-up',
      files: folder,
      setup: async ({ call, rng }) => void (await call('add', { text: `${rng.int(1, 1_000_000)}` })),
      tools: { only: ['add', 'list'], hide: ['add'], rename: { list: 'read' }, describe: { list: 'Reads all.' } },
    })
    expect(environment.toolInfos).toMatchObject([{ name: 'read', description: 'Reads all.' }, { name: 'done' }])
    await using world = await openWorld(environment)
    const read = async (seed: string) => {
      await using episode = world.connection.environment()
      await episode.reset({}, { seed })
      return (await episode.step(call('read'))).observation.text
    }
    const first = await read('one')
    expect(first).toMatch(/^\{"notes":\["eggs","\d+"\]\}$/)
    expect([await read('one'), (await read('two')) === first]).toEqual([first, false])
    expect(await readFile(join(folder, 'notes.txt'), 'utf8')).toBe('eggs\n')
  })

  it('shows resources and prompts by tools, if it is to, each call of which is a step', async () => {
    const environment = await defineMcpEnvironment({
      server: NOTES,
      name: 'reading',
      tools: { only: ['add', 'resources/list', 'resources/read', 'prompts/list', 'prompts/get'] },
      resources: true,
      prompts: true,
      async score({ call, transcript }) {
        const { text } = await call('resources/read', { uri: 'notes:first' })
        return text === 'milk\n' && transcript.length === 6
      },
    })
    const names = environment.toolInfos.map(({ name }) => name)
    expect(names).toEqual(['add', 'list_resources', 'read_resource', 'list_prompts', 'get_prompt', 'done'])
    await using world = await openWorld(environment)
    const uri = 'notes:first'
    const policy = scriptedPolicy([
      ...[call('read_resource', { uri }), add('milk'), call('list_resources'), call('read_resource', { uri })],
      ...[call('list_prompts'), call('get_prompt', { name: 'tidy' }), done()],
    ])
    const episode = await runEpisode({ createEnvironment: () => world.connection.environment(), policy })
    expect(episode).toMatchObject({ success: true })
    expect(episode.steps.map(({ observation }) => observation.text)).toEqual([
      'There is no method resources/read.',
      'Noted: milk',
      '{"resources":[{"uri":"notes:first","name":"first"},{"uri":"notes:second","name":"second"}],"templates":[]}',
      'milk\n',
      '{"prompts":[{"name":"tidy"}]}',
      'user:\nTidy {folder}/notes.txt.',
      'Done.',
    ])
  })

  it('begins with how its server says that it is to be used, unless the world says otherwise', async () => {
    const said = async (given: object) => {
      const server = `${NOTES} 'Be brief in'`
      await using world = await openWorld(await defineMcpEnvironment({ server, name: 'brief', ...given }))
      await using episode = world.connection.environment()
      return (await episode.reset({ params: { prompt: 'Note: milk.' } })).observation.text
    }
    const finish = 'Call done when you have finished.'
    const observe = ({ prompt }: { readonly prompt?: string | undefined }) => `${prompt}`
    expect(await said({})).toBe(`Be brief in {folder}/notes.txt.\n\n${finish}`)
    expect(await said({ observe })).toBe('Be brief in {folder}/notes.txt.\n\nNote: milk.')
    expect(await said({ observe, instructions: '' })).toBe('Note: milk.')
  })

  it('has tools that its server lists later by two tools of its own, and says when there are others', async () => {
    await using world = await openWorld(await defineMcpEnvironment({ server: NOTES, name: 'growing', toolList: true }))
    await using episode = world.connection.environment()
    await episode.reset()
    const texts: string[] = []
    const grown = call('call_tool', { name: 'grown', arguments: { text: 'milk' } })
    for (const action of [grown, call('grow'), call('list_tools'), grown, call('list')])
      texts.push((await episode.step(action)).observation.text)
    expect(texts[0]).not.toContain('Grown')
    // The server's word may come after its answer.
    expect(texts.join('\n')).toContain('[The list of tools has changed: list_tools shows it.]')
    expect(texts[2]).toContain('"name":"grown"')
    expect(texts[3]).toBe('Grown: milk')
  })

  it('passes on to an agent that asks how far a call of its server is', async () => {
    await using world = await openWorld(noting)
    await using server = await serveHttp(world.host)
    const opened = await world.host.open(null, { environment: 'noting', requestKey: 'a-key-of-an-agent-that-waits' })
    const seat = await connectAgent(`${server.agentUrl}/s/${opened.seats.agent?.capability}`)
    const sent = await seat('grow', 'a-token')
    expect(sent).toMatch(/"progressToken":"a-token".*Growing\. \(1 of 2\)/)
    expect(sent).toContain('Grew.')
  })

  it('answers what its server asks the user, and keeps both with the step', async () => {
    const ask = async (elicit: Parameters<typeof defineMcpEnvironment>[0]['elicit']) => {
      const environment = await defineMcpEnvironment({ server: NOTES, name: 'asking', ...(elicit && { elicit }) })
      await using world = await openWorld(environment)
      await using episode = world.connection.environment()
      await episode.reset({ params: { note: 'milk' } })
      const { observation, info } = await episode.step(call('ask'))
      return { text: observation.text, prepared: info.prepared, refused: info.refused }
    }
    const answer = { text: 'milk' }
    expect(
      await ask(({ message, schema, params }) =>
        message && schema.properties ? { text: `${(params as { note: string }).note}` } : null,
      ),
    ).toMatchObject({
      text: JSON.stringify({ action: 'accept', content: answer }),
      prepared: { asked: [{ message: 'Which note?', answer }] },
    })
    expect(await ask(() => null)).toMatchObject({
      text: '{"action":"decline"}',
      prepared: { asked: [{ message: 'Which note?', answer: null }] },
    })
    expect(await ask(undefined)).toMatchObject({ refused: 'tool' })
  })

  it('has failed where answering a question throws, and is played no further', async () => {
    const elicit = () => {
      throw new Error('Nobody is at home.')
    }
    await using world = await openWorld(await defineMcpEnvironment({ server: NOTES, name: 'asking', elicit }))
    const environment = world.connection.environment()
    await environment.reset()
    await expect(environment.step(call('ask'))).rejects.toThrow(/failed on the way/)
    expect(world.faults.map(({ cause }) => String(cause))).toEqual([expect.stringMatching(/Nobody is at home/)])
    await expect(environment.step(call('list'))).rejects.toMatchObject({ code: 'state-lost' })
  })

  it('plays each episode in an MCP session of its own at a URL', async () => {
    const counting = defineEnvironment({
      name: 'counting',
      version: '1.0.0',
      description: 'Counts.',
      handle: false,
      state: { public: z.object({ count: z.int() }), private: z.object({}) },
      start: () => ({ public: { count: 0 }, private: {} }),
      observe: ({ count }) => `${count}.`,
      tools: ({ tool }) => ({
        count: tool({
          description: 'Counts.',
          input: z.object({}),
          play({ state, say }) {
            state.public.count += 1
            return say('Counted.')
          },
        }),
      }),
      rewards: { none: () => 0 },
    })
    await using host = createHost({ environments: [counting] })
    await using server = await serveHttp(host)
    await using world = await openWorld(await defineMcpEnvironment({ server: server.agentUrl }))
    const play = async () => {
      await using environment = world.connection.environment()
      await environment.reset()
      await environment.step(call('count'))
      return (await environment.step(call('count'))).observation.text
    }
    expect(await Promise.all([play(), play()])).toEqual(['Counted.\n2.', 'Counted.\n2.'])
  })

  it.each([
    [{ tools: { only: ['lits'] } }, /names the tool "lits", and its server has: add, list/],
    [
      { tools: { rename: { list: 'done' } } },
      /calls the tool "list" of its server "done", but there is a tool "done" already/,
    ],
    [{ server: 'no-such-program --at all' }, /there is no command no-such-program/],
    [{ server: "node 'server.js" }, /A quote of .* does not end/],
    [{ server: 'DEBUG=1' }, /has no command to start/],
    [{ server: `'${process.execPath}' -e 'console.error("no key"); process.exit(1)'` }, /status 1.*no key/s],
  ])('is not made of %j', async (given, message) => {
    await expect(defineMcpEnvironment({ server: NOTES, ...given })).rejects.toThrow(message)
  })
})

describe('an episode whose server is lost', () => {
  it('is void, says why to the trainer alone, and goes on nowhere', async () => {
    await using world = await openWorld(noting)
    const policy = scriptedPolicy([add('milk'), call('exit'), done()])
    const episode = await runEpisode({ createEnvironment: () => world.connection.environment(), policy })
    expect(episode).toMatchObject({
      kind: 'failed',
      steps: [{ observation: { text: 'Noted: milk' } }],
      cause: { code: 'state-lost', message: expect.stringMatching(/ended with status 3.*Out of paper/s) },
    })
    await using server = await serveHttp(world.host)
    const opened = await world.host.open(null, { environment: 'noting', requestKey: 'a-key-of-this-test-alone' })
    const seat = await connectAgent(`${server.agentUrl}/s/${opened.seats.agent?.capability}`)
    const lost = await seat('exit')
    expect(JSON.stringify(lost)).toMatch(/A part of this session is gone, so no further calls are played/)
    expect(JSON.stringify(lost)).not.toMatch(/paper|status 3|stack/)
    expect(JSON.stringify(await seat('list'))).toMatch(/no further calls are played/)
  })

  it('is void where the server does not answer in time', async () => {
    await using world = await openWorld(await defineMcpEnvironment({ server: NOTES, name: 'slow', callSeconds: 0.2 }))
    const environment = world.connection.environment()
    await environment.reset()
    await expect(environment.step(call('silent'))).rejects.toMatchObject({
      code: 'state-lost',
      message: expect.stringMatching(/did not answer within 0\.2 s/),
    })
  })

  it('is void where another process continues the session', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'notes-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'sessions.db')
    const opening = { environment: 'noting', requestKey: 'another-key-of-this-test' }
    const play = async (text: string) => {
      await using store = await openSqliteStore(file)
      await using host = createHost({ environments: [noting], store })
      const { session } = await host.open(null, opening)
      const ref = await host.resolve(null, { by: 'control', token: session })
      return await ref.step({ action: add(text) })
    }
    expect((await play('milk')).step.observation.text).toBe('Noted: milk')
    await expect(play('eggs')).rejects.toMatchObject({ code: 'state-lost' })
  })

  it('cannot be forked', async () => {
    await using world = await openWorld(noting)
    const { session } = await world.host.open(null, { environment: 'noting', requestKey: 'a-third-key-of-this-test' })
    const ref = await world.host.resolve(null, { by: 'control', token: session })
    await expect(ref.fork({ requestKey: 'a-fourth-key-of-this-test' })).rejects.toMatchObject({
      code: 'invalid-params',
      message: expect.stringMatching(/outside of its sessions/),
    })
  })
})

describe('an environment whose server keeps its state in its folder', () => {
  const opening = { environment: 'foldered', requestKey: 'a-key-of-the-foldered-test' }
  const define = () =>
    defineMcpEnvironment({
      server: NOTES,
      name: 'foldered',
      stateInFolder: true,
      setup: async ({ call }) => void (await call('add', { text: 'first' })),
      score: async ({ call, transcript }) =>
        (await call('list')).text === `{"notes":["first","milk","eggs"]}` && transcript.length === 2,
    })
  const text = (outcome: { readonly step: { readonly observation: { readonly text: string } } }) =>
    outcome.step.observation.text

  it('is forked at any step, with a new server over a copy of the folder', async () => {
    await using world = await openWorld(await define())
    await using episode = world.connection.environment()
    await episode.reset()
    await episode.step(add('milk'))
    await episode.step(add('tea'))
    const [now] = await episode.fork()
    const [earlier] = await episode.fork({ at: 1 })
    await earlier!.step(add('eggs'))
    expect((await earlier!.step(done())).reward.total).toBe(1)
    await now!.step(add('bread'))
    const listed = async (of: typeof now) => (await of!.step(call('list'))).observation.text
    expect(await listed(now)).toBe('{"notes":["first","milk","tea","bread"]}')
    expect((await episode.step(call('list'))).observation.text).toBe('{"notes":["first","milk","tea"]}')
    expect(world.faults).toEqual([])
  })

  it('goes on in another process, and is replayed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'notes-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const environment = await define()
    const played: { prepared: unknown; stateHash: string }[] = []
    for (const action of [add('milk'), add('eggs'), done()]) {
      await using store = await openSqliteStore(join(folder, 'sessions.db'))
      await using host = createHost({ environments: [environment], store })
      const { session } = await host.open(null, opening)
      const ref = await host.resolve(null, { by: 'control', token: session })
      const outcome = await ref.step({ action })
      const { prepared, stateHash } = outcome.step.report
      played.push({ prepared, stateHash: stateHash as string })
      expect(text(outcome)).toBe(
        action.tool === 'done' ? 'Done.' : `Noted: ${(action.arguments as { readonly text?: string }).text}`,
      )
      if (action.tool === 'done') expect(outcome.step.report.terms).toEqual({ score: 1 })
    }
    const rehearsal = rehearse(environment, { strict: true })
    for (const [i, action] of [add('milk'), add('eggs'), done()].entries()) {
      const { prepared, stateHash } = played[i]!
      const again = rehearsal.play(action.tool, action.arguments, { prepared: prepared as never })
      expect(again.stateHash).toBe(stateHash)
    }
  })

  it('is not restored with a path that leads out of the folder, and writes none', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'outside-'))
    onTestFinished(() => rm(outside, { recursive: true }))
    await using host = createHost({ environments: [await define()] })
    const { session } = await host.open(null, opening)
    await (await host.resolve(null, { by: 'control', token: session })).step({ action: add('milk') })
    const snapshot = await (await host.resolve(null, { by: 'control', token: session })).snapshot({})
    const restore = (forged: object) =>
      host.restore(null, { snapshot: { ...snapshot, ...forged }, requestKey: crypto.randomUUID() })
    const { state } = snapshot
    const withFile = (path: string) => {
      const { saved } = state.private as { readonly saved: { readonly files: object } }
      const files = { ...saved.files, [path]: btoa('escaped') }
      return { state: { ...state, private: { ...state.private, saved: { ...saved, files } } } }
    }
    const up = '../'.repeat(20)
    const paths = [
      ...[
        `${outside}/a`,
        `${up}${outside.slice(1)}/a`,
        `deep/${up}${outside.slice(1)}/a`,
        '..',
        '../',
        '../a',
        'b/../..',
      ],
      ...['', '/', '.', './a', 'b/./a', 'b//a', '//a', 'a\0b', '\0', 'b/..'],
    ]
    for (const path of paths)
      await expect(restore(withFile(path)), path).rejects.toMatchObject({
        code: 'invalid-params',
        message: expect.stringContaining('It leads out of the folder, or is no path in it'),
      })
    expect((await host.list({ limit: 9 })).total).toBe(1)
    expect(readdirSync(outside)).toEqual([])
    // Names that only look like it lead nowhere else.
    const { session: restored } = await restore(withFile('...'))
    const { step } = await (await host.resolve(null, { by: 'control', token: restored })).step({ action: call('list') })
    expect(step.observation.text).toBe('{"notes":["first","milk"]}')
  })

  it('is brought by no snapshot of an environment that saves none', async () => {
    await using host = createHost({ environments: [noting] })
    const { session } = await host.open(null, { ...opening, environment: 'noting' })
    const snapshot = await (await host.resolve(null, { by: 'control', token: session })).snapshot({})
    const saved = { files: { 'notes.txt': btoa('eggs') }, transcript: [] }
    const state = { public: { ...snapshot.state.public, calls: 1 }, private: { ...snapshot.state.private, saved } }
    const restored = host.restore(null, { snapshot: { ...snapshot, state }, requestKey: crypto.randomUUID() })
    await expect(restored).rejects.toMatchObject({ message: expect.stringContaining('does not declare') })
  })
})

describe.skipIf(process.platform !== 'linux')('what an episode has started', () => {
  const started = async (host: Awaited<ReturnType<typeof openWorld>>) => {
    const environment = host.connection.environment()
    await environment.reset()
    const { observation } = await environment.step(call('processes'))
    const pids = JSON.parse(observation.text) as number[]
    expect(pids.map(isAlive)).toEqual([true, true, true])
    return { environment, pids }
  }

  it.each([
    ['has ended', async (environment: Playing) => void (await environment.step(done()))],
    ['is closed', (environment: Playing) => environment.close()],
    ['loses its server', (environment: Playing) => environment.step(call('exit')).then(fail, () => {})],
  ])('is gone once it %s', async (how, end) => {
    await using world = await openWorld(noting)
    const { environment, pids: all } = await started(world)
    // Where the server ends by itself, it leaves no trace of what has none of its own.
    const isLost = how === 'loses its server'
    const pids = isLost ? all.slice(0, 2) : all
    if (isLost) onTestFinished(() => killLeft(all[2] as number))
    await end(environment)
    await world[Symbol.asyncDispose]()
    // What has ended may be there until the system has noticed.
    await expect.poll(() => pids.some(isAlive)).toBe(false)
    expect(episodeFolders()).toEqual([])
  })
})

type Playing = ReturnType<Awaited<ReturnType<typeof connect>>['environment']>

/** Ends a process, if it is there. */
function killLeft(id: number): void {
  if (isAlive(id)) process.kill(id)
}

function fail(): never {
  throw new Error('It was answered.')
}

/** Returns a function that calls tools as an agent, over HTTP. */
async function connectAgent(url: string): Promise<(tool: string, progressToken?: string) => Promise<unknown>> {
  return async (tool, progressToken) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: tool, arguments: {}, ...(progressToken && { _meta: { progressToken } }) },
      }),
    })
    return response.text()
  }
}
