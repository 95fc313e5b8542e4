import { bisecting, type ChatServer, calling, saying, startChatServer } from '@episodic/models/chat-server.fixture'
import type { SearchHit, SearchProgress } from '@episodic/report/view/search-hit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../../fixtures/episodic.fixture.ts'
import { startViewing, type Viewing } from './view.fixture.ts'

const workshop = openWorkshop()
let viewing: Viewing
let server: ChatServer
afterAll(async () => {
  workshop[Symbol.dispose]()
  await server?.[Symbol.asyncDispose]()
})

/** A call besides a text, a reasoning, and another call that is not played. */
function answering(request: Parameters<typeof bisecting>[0], number: number): object {
  const { choices } = bisecting(request) as { choices: [{ message: { tool_calls: object[] } }] }
  const { tool_calls } = choices[0].message
  const spare = {
    id: 'call_2',
    type: 'function',
    function: { name: 'guess', arguments: '{"value":"“spare \\"one\\""}' },
  }
  return saying(
    {
      role: 'assistant',
      content: `Let me try a "Middle" number, ${number}.`,
      reasoning: `Écoute:\nhalf of what is left (${number}).`,
      tool_calls: [...tool_calls, spare],
    },
    'tool_calls',
  )
}

async function search(query: Record<string, string>) {
  const response = await viewing.get(`/api/search?${new URLSearchParams(query)}`)
  const found = (await response.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as SearchHit | SearchProgress)
  return {
    status: response.status,
    hits: found.filter((one): one is SearchHit => 'row' in one),
    ends: found.filter((one): one is SearchProgress => 'done' in one && one.done),
  }
}

beforeAll(async () => {
  server = await startChatServer((request, number) =>
    number % 7 === 3 ? calling('guess', { value: `no ${number} number` }) : answering(request, number),
  )
  const world = exampleWorld('number-guessing')
  const model = ['--policy', 'llm:m', '--base-url', server.url, '--concurrency', '1']
  const env = { OPENAI_API_KEY: 'a-key-that-is-not-kept' }
  await workshop.main(['run', world, ...model, '--tasks', '6', '--out', 'runs/model'], { env })
  await workshop.main(['run', world, '--policy', 'random', '--tasks', '200', '--out', 'runs/random'])
  viewing = await startViewing(workshop)
})

describe('GET /api/search', () => {
  it('finds what a model said, thought and called, at its step', async () => {
    const episodes = readEpisodes(`${workshop.folder}/runs/model`)
    const { id } = await viewing.runNamed('model')
    const expected = episodes.flatMap(({ steps }, row) =>
      steps.flatMap(({ completions = [] }, step) =>
        completions.flatMap(({ text }) => (text === null ? [] : [{ run: id, row, step, field: 'text', text }])),
      ),
    )
    expect(expected.length).toBeGreaterThan(10)
    const { hits, ends } = await search({ q: 'TRY A "middle"', runs: id })
    expect(
      hits.map(({ run, row, step, field, before, match, after }) => ({
        run,
        row,
        step,
        field,
        text: `${before}${match}${after}`,
      })),
    ).toEqual(expected)
    expect(ends).toEqual([
      { run: id, hits: expected.length, bytes: expect.any(Number), totalBytes: ends[0]?.bytes, done: true },
    ])
    const thought = await search({ q: 'écoute:\nHALF', runs: id })
    expect(thought.hits.map(({ field }) => field)).toEqual(expected.map(() => 'reasoning'))
    const spare = await search({ q: '“spare \\"one', runs: id })
    expect(spare.hits.map(({ field }) => field)).toEqual(expected.map(() => 'call'))
    expect((await search({ q: 'try a', runs: id, fields: 'reasoning,failure' })).hits).toEqual([])
  })

  it('searches all runs, sends the first 500 hits and counts the others', async () => {
    const { hits, ends } = await search({ q: 'is lower', fields: 'answer' })
    const counted = ['model', 'random'].map(
      (name) =>
        readEpisodes(`${workshop.folder}/runs/${name}`)
          .flatMap(({ steps }) => steps)
          .filter(({ observation }) => /is lower/i.test(observation.text)).length,
    )
    expect(ends.map(({ hits }) => hits).sort((a, b) => a - b)).toEqual(counted.sort((a, b) => a - b))
    expect(hits.length).toBeGreaterThan(0)
    expect(hits).toHaveLength(Math.min(500, (counted[0] ?? 0) + (counted[1] ?? 0)))
  })
})
