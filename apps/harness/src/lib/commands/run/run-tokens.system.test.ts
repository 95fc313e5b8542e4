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

describe('episodic export --format sequences --advantages', () => {
  it('learns each sampled token of a tree once, with the branch, the state and the advantage of its answer', async () => {
    // Each line guesses on otherwise from its fork on, and lines meet again where their guesses are the same.
    await using engine = await startTokenEngine((request, number) => {
      const value = nextGuess(request.messages.map(({ content }) => String(content ?? '')).join('\n'))
      return value === null ? { content: 'Found.' } : thinkingGuess(value + (number % 3 === 0 ? 1 : 0))
    })
    const run = ['run', WORLD, '--policy', 'llm:served', '--base-url', engine.url, '--token-ids', '--concurrency', '6']
    const { status, err: said } = await workshop.main(
      [...run, '--tasks', '3', '--branch', '3@1,2@2', '--out', 'tree'],
      {
        env: { OPENAI_API_KEY: KEY },
      },
    )
    expect([status, said]).toEqual([0, expect.any(String)])
    const { out, err } = await workshop.main(['export', 'tree', '--format', 'sequences', '--advantages', 'state'])
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const learned = lines.flatMap(({ response_ids: ids, response_mask: mask }) =>
      ids.filter((_: number, at: number) => mask[at] === 1),
    )
    const sampled = engine.sampled.flatMap(({ ids }) => ids)
    expect(learned.toSorted()).toEqual(sampled.toSorted())
    const worths = new Map<string, Set<number>>()
    let shared = 0
    for (const { response_ids, response_mask, response_advantages, segments, group } of lines) {
      expect(segments.map((each: { learned: boolean }) => each.learned)).toContain(true)
      for (const { from, to, branch, node, visits, steps, advantage, learned: isOwn } of segments) {
        expect(node).toEqual(expect.any(String))
        for (let at = from; at < to; at++) {
          expect(sampled).toContain(response_ids[at])
          expect([response_mask[at], response_advantages[at]]).toEqual([isOwn ? 1 : 0, advantage])
        }
        const segment = `${group} ${branch} ${steps}`
        worths.set(segment, (worths.get(segment) ?? new Set()).add(advantage))
        if (visits > 1 && steps[0] > 0) shared += isOwn ? 1 : 0
      }
      // What was given has none.
      const own = segments.flatMap(({ from, to }: { from: number; to: number }) => response_ids.slice(from, to))
      expect(response_advantages.filter((each: number) => each !== 0).length).toBeLessThanOrEqual(own.length)
    }
    // Lines that share an answer agree on what it was worth.
    for (const each of worths.values()) expect(each.size).toBe(1)
    expect(err).toContain(`${shared} of `)
    const refused = await workshop.main(['export', 'tree', '--format', 'csv', '--advantages', 'state'])
    expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('This format has no advantages') })
  })
})
