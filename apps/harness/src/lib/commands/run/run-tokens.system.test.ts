import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nextGuess } from '@episodic/models/bisect.fixture'
import type { EpisodeRecord } from '@episodic/protocol'
import { completionsOf } from '@episodic/report/fold/completions'
import { linkCalls } from '@episodic/report/fold/token-tree'
import { afterAll, describe, expect, it } from 'vitest'
import { type EngineRequest, startTokenEngine, thinkingGuess } from '../../../../../../interop/gateway/token-engine.ts'
import { exampleWorld, openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const AGENT = fileURLToPath(new URL('../../fixtures/agents/openai-agent.fixture.ts', import.meta.url))
const MESSAGES_AGENT = fileURLToPath(new URL('../../fixtures/agents/messages-agent.fixture.ts', import.meta.url))
const WORLD = exampleWorld('number-guessing')
const KEY = 'sk-nobody-may-read-this'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

/** Halves the range, by the text of the conversation alone. */
const halving = ({ messages }: EngineRequest) => {
  const value = nextGuess(messages.map(({ content }) => String(content ?? '')).join('\n'))
  return value === null ? { content: 'Found.' } : thinkingGuess(value)
}

describe('episodic run --record-models --token-ids', () => {
  const args = (engine: { readonly url: string }, agent: string, out: string) => [
    ...['run', WORLD, '--policy', `process:node ${agent}`, '--record-models', '--token-ids', '--tasks', '3'],
    ...[
      '--file',
      '{"modelOption":{"top_p":0.5}}',
      '--base-url',
      engine.url,
      '--seed',
      'tokens',
      '--concurrency',
      '1',
      '--out',
      out,
    ],
  ]

  it.each([
    ['chat completions', AGENT, ''],
    ['Messages', MESSAGES_AGENT, ''],
    ['Messages', MESSAGES_AGENT, 'yes'],
  ])('keeps the exact tokens of a program that speaks %s, as one sequence', async (_, agent, STREAM) => {
    await using engine = await startTokenEngine(halving)
    const out = `tokens-${engine.url.replaceAll(/\D/g, '')}`
    const { status, err } = await workshop.main(args(engine, agent, out), { env: { STREAM, OPENAI_API_KEY: KEY } })
    expect([status, err]).toEqual([0, expect.any(String)])
    const episodes = readEpisodes(join(workshop.folder, out)) as EpisodeRecord[]
    const answers = episodes.flatMap(completionsOf)
    const kept = answers.map(({ promptTokenIds, tokenIds, logProbabilities }) => ({
      prompt: promptTokenIds,
      ids: tokenIds,
      scores: logProbabilities,
    }))
    const inOrder = (list: readonly object[]) => list.map((each) => JSON.stringify(each)).toSorted()
    expect(inOrder(kept)).toEqual(inOrder(engine.sampled))
    for (const request of engine.requests) expect(request).toMatchObject({ top_p: 0.5 })
    expect(JSON.parse(readFileSync(join(workshop.folder, out, 'run.json'), 'utf8'))).toMatchObject({
      configuration: { sampling: { temperature: null, modelOption: { top_p: 0.5 } } },
    })
    for (const episode of episodes) {
      expect(episode.outcome).toMatchObject({ end: { reason: 'solved' } })
      expect(linkCalls(completionsOf(episode)).every(({ driftsFrom }) => driftsFrom === null)).toBe(true)
    }
    const { out: text } = await workshop.main(['export', out, '--format', 'sequences'])
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toHaveLength(3)
    const learned = lines.flatMap(({ response_mask: mask }) => mask.filter((each: number) => each === 1)).length
    expect(learned).toBe(engine.sampled.reduce((sum, { ids }) => sum + ids.length, 0))
    expect((await workshop.main(['report', out])).out).toMatch(/token drift +0 /)
  })
})
