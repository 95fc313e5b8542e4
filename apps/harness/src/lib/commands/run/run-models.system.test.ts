import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Answering,
  bisecting,
  type ChatServer,
  saying,
  startChatServer,
} from '@episodic/models/chat-server.fixture'
import type { EpisodeRecord } from '@episodic/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, type Workshop } from '../../fixtures/episodic.fixture.ts'

const WORLD = exampleWorld('number-guessing')

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
})
afterAll(() => workshop[Symbol.dispose]())

let server: ChatServer
afterEach(() => server[Symbol.asyncDispose]())

/** Plays with a model that answers so. */
async function run(answer: Answering, out: string, ...options: string[]) {
  server = await startChatServer(answer)
  const args = ['run', WORLD, '--base-url', server.url, '--tasks', '4', '--out', out, ...options]
  return workshop.main(args, { env: { OPENAI_API_KEY: 'none', TEAM_SECRET: 'a-secret-of-sixteen' } })
}

const episodesOf = (out: string) => readEpisodes(join(workshop.folder, out)) as EpisodeRecord[]

interface Bisecting {
  readonly choices: readonly [{ readonly message: { readonly tool_calls: readonly [object] } }]
}

/** Calls as bisection does, and two neighbours of it, in one answer. */
const threeCalls: Answering = (request) => {
  const [call] = (bisecting(request) as Bisecting).choices[0].message.tool_calls
  const { value } = JSON.parse((call as { function: { arguments: string } }).function.arguments)
  const made = [value, value + 1, value - 1].map((guess, i) => ({
    id: `call_${i}`,
    type: 'function',
    function: { name: 'guess', arguments: JSON.stringify({ value: guess }) },
  }))
  return saying({ role: 'assistant', content: 'Three at once.', tool_calls: made }, 'tool_calls')
}

describe('a model that makes several calls in an answer', () => {
  beforeAll(async () => {
    const played = await run(threeCalls, 'several', '--policy', 'llm:three')
    await server[Symbol.asyncDispose]()
    expect(played.status).toBe(0)
  })

  it('is exported as turns with several calls, and their results after them', async () => {
    server = await startChatServer(threeCalls)
    const [first] = episodesOf('several')
    const count = first!.steps.length
    const exported = async (format: string) => {
      const { status } = await workshop.main(['export', 'several', '--format', format, '--out', `several.${format}`])
      expect(status).toBe(0)
      const lines = readFileSync(join(workshop.folder, `several.${format}`), 'utf8')
        .trim()
        .split('\n')
      return lines.map((line) => JSON.parse(line)).find((line) => JSON.stringify(line).includes(first!.chain))
    }
    const turns = Math.ceil(count / 3)
    const trl = await exported('trl')
    const roles = trl.completion.map(({ role }: { role: string }) => role)
    expect(roles.slice(0, 4)).toEqual(['assistant', 'tool', 'tool', 'tool'])
    expect(roles.filter((role: string) => role === 'assistant')).toHaveLength(turns)
    expect(trl.completion.flatMap((message: { tool_calls?: object[] }) => message.tool_calls ?? [])).toHaveLength(count)
    const atif = await exported('atif')
    expect(atif.steps).toHaveLength(1 + turns)
    expect(atif.steps[1]).toMatchObject({ tool_calls: [{}, {}, {}], observation: { results: [{}, {}, {}] } })
    expect(atif.steps[1].extra.calls).toHaveLength(3)
  })
})

describe('what a model is asked for', () => {
  it('is a part of the configuration, and of each request', async () => {
    writeFileSync(join(workshop.folder, 'brief.md'), 'Guess well.\n')
    const asked = {
      systemPrompt: '@brief.md',
      parallelToolCalls: false,
      modelOption: { reasoning_effort: 'low', seed: null, top_p: 0.9 },
      modelHeader: { 'x-team': 'env:TEAM_SECRET' },
    }
    writeFileSync(join(workshop.folder, 'asked.json'), JSON.stringify(asked))
    const headers: unknown[] = []
    const answer: Answering = (request, number, response, incoming) => {
      headers.push(incoming.headers['x-team'])
      return threeCalls(request, number, response, incoming)
    }
    expect(await run(answer, 'asked', '--policy', 'llm:m', '--file', 'asked.json')).toMatchObject({ status: 0 })
    const folder = join(workshop.folder, 'asked')
    const text = readFileSync(join(folder, 'run.json'), 'utf8')
    expect(JSON.parse(text).configuration.sampling).toMatchObject({
      systemPrompt: 'Guess well.',
      parallelToolCalls: false,
      modelOption: { reasoning_effort: 'low', seed: null, top_p: 0.9 },
      modelHeader: { 'x-team': 'env:TEAM_SECRET' },
    })
    expect(new Set(headers)).toEqual(new Set(['a-secret-of-sixteen']))
    for (const file of ['run.json', 'episodes.jsonl', 'report.html'])
      expect(readFileSync(join(folder, file), 'utf8')).not.toContain('a-secret-of-sixteen')
    for (const request of server.requests) {
      expect(request).toMatchObject({ reasoning_effort: 'low', top_p: 0.9, parallel_tool_calls: false })
      expect(request).not.toHaveProperty('seed')
      expect(request.messages[0]).toEqual({ role: 'system', content: 'Guess well.' })
    }
    // The first call of each answer was played, and the others are answered too.
    const [first] = episodesOf('asked')
    expect(first!.steps.every(({ completions }) => completions?.length === 1)).toBe(true)
    const second = server.requests.find(({ messages }) => messages.length === 6)
    expect(second!.messages.slice(3).map(({ content }) => content?.slice(0, 25))).toEqual([
      expect.not.stringContaining('not played'),
      'This call was not played:',
      'This call was not played:',
    ])
    const resumed = await workshop.main(
      ['run', WORLD, '--base-url', server.url, '--tasks', '4', '--out', 'asked', '--policy', 'llm:m', '--resume'],
      { env: { OPENAI_API_KEY: 'none' } },
    )
    expect(resumed.err).toContain('sampling.systemPrompt: was "Guess well.", now not given')
  })

  it.each([
    [['--file', '{"modelOption":{"messages":[]}}'], 'are decided by the run'],
    [['--file', '{"modelHeader":{"x-team":"env:NOT_SET_AT_ALL"}}'], 'is to be in NOT_SET_AT_ALL, which is not set'],
    [['--file', '{"systemPrompt":"@nowhere.md"}'], 'Cannot read the file nowhere.md'],
  ])('is refused as %s with the reason', async (options, reason) => {
    const { status, err } = await run(bisecting, 'refused', '--policy', 'llm:m', ...options)
    expect([status, err]).toEqual([2, expect.stringContaining(reason)])
    expect(server.requests).toEqual([])
  })
})

describe('a run with a limit', () => {
  const resume = (out: string, ...options: string[]) =>
    workshop.main(
      [
        'run',
        WORLD,
        '--policy',
        'llm:m',
        '--base-url',
        server.url,
        '--tasks',
        '4',
        '--out',
        out,
        '--resume',
        ...options,
      ],
      { env: { OPENAI_API_KEY: 'none' } },
    )
  const answersIn = (out: string) =>
    episodesOf(out).flatMap(({ steps }) => steps.flatMap(({ completions = [] }) => completions))

  it.each([
    [
      'cost',
      ['--file', '{"prices":{"prompt":2,"completion":10}}'],
      ['--cost-limit', '0.02'],
      /0\.02\d+ was spent, and --cost-limit is 0\.02/,
    ],
    ['tokens', [], ['--token-limit', '9000'], /9,\d+ tokens were used, and --token-limit is 9,000/],
  ])('of %s stops when it is reached, and goes on without paying twice', async (name, prices, limit, reason) => {
    const stopped = await run(bisecting, name, '--policy', 'llm:m', '--concurrency', '1', ...prices, ...limit)
    expect(stopped).toMatchObject({ status: 1, err: expect.stringMatching(reason) })
    // An answer has 1,010 tokens and costs 0.0021: the limit was reached with the ninth or tenth.
    expect(server.requests).toHaveLength(name === 'cost' ? 10 : 9)
    expect(answersIn(name).length).toBeLessThan(server.requests.length)
    expect(stopped.err).toContain(limit[0])
    // With the same limit nothing more is asked.
    expect(await resume(name, ...prices, ...limit)).toMatchObject({ status: 1 })
    expect(server.requests.length).toBeLessThanOrEqual(name === 'cost' ? 10 : 9)
    expect(await resume(name, ...prices)).toMatchObject({ status: 0 })
    expect(server.requests).toHaveLength(answersIn(name).length)
  })

  it('of tokens counts what its processes ask', async () => {
    const options = ['--policy', 'llm:m', '--processes', '2', '--concurrency', '2', '--token-limit', '6000']
    // What is asked while the run learns of the sixth answer is not answered.
    const answer: Answering = (request, number) => (number < 6 ? bisecting(request) : new Promise(() => {}))
    const { status, err } = await run(answer, 'processes', ...options)
    expect([status, err]).toEqual([1, expect.stringContaining('--token-limit is 6,000')])
  })

  it.each([
    ['cost', '--cost-limit', '0.02', ['--file', '{"prices":{"prompt":2,"completion":10}}']],
    ['tokens', '--token-limit', '9000', []],
  ])('of %s goes on with the line that is printed, which raises it', async (name, option, limit, more) => {
    const options = ['--policy', 'llm:m', '--concurrency', '1', option, limit, ...more]
    const stopped = await run(bisecting, `raised-${name}`, ...options)
    const line = /with a higher limit:\n {2}episodic (.*)\n/.exec(stopped.err)?.[1] ?? ''
    expect(line).toContain(`${option} `)
    expect(line).not.toContain(`${option} ${limit} `)
    const resumed = await workshop.main(line.replaceAll("'", '').split(' '), { env: { OPENAI_API_KEY: 'none' } })
    expect(resumed).toMatchObject({ status: 0 })
    expect(server.requests).toHaveLength(answersIn(`raised-${name}`).length)
  })

  it('of cost stops if it is not known what an answer costs', async () => {
    const { err } = await run(bisecting, 'unpriced', '--policy', 'llm:m', '--cost-limit', '1', '--concurrency', '1')
    expect(err).toContain('The answer chat_1 of llm:m has no usage.cost, and there are no prices')
    expect(server.requests).toHaveLength(1)
  })
})
