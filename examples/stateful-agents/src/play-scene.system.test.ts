import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runAiSdkAgent } from './agents/ai-sdk-agent.ts'
import { runLangchainAgent } from './agents/langchain-agent.ts'
import { createOpenAiAgent } from './agents/openai-agent.ts'
import { call } from './agents/script.ts'
import { openModelApi } from './model-api.fixture.ts'
import { type PlayOptions, playScene, type Row } from './play-scene.ts'
import type { Scene } from './scenes/scene.ts'
import { scenes } from './scenes/scenes.ts'
import { think, thinkingScene } from './scenes/thinking-scene.ts'

describe('playScene', () => {
  let kept: string
  beforeAll(async () => {
    kept = await mkdtemp(join(tmpdir(), 'stateful-agents-test-'))
  })
  afterAll(() => rm(kept, { recursive: true }))

  const play = async (scene: Scene, options: Partial<PlayOptions> = {}): Promise<Row[]> => {
    const stage = {
      runAgent: runLangchainAgent,
      scripted: true,
      keep: async () => kept,
      signal: new AbortController().signal,
    }
    const rows: Row[] = []
    for await (const row of playScene(scene, { ...stage, ...options })) rows.push(row)
    return rows
  }

  // `demo.ts`, which is a check of its own, plays all scenes with LangChain and fails where one is not as expected.
  it.for([
    ...scenes.slice(0, 2).map((scene) => [scene.name, 'LangChain', scene, runLangchainAgent] as const),
    ...scenes.slice(-2).map((scene) => [scene.name, 'the AI SDK', scene, runAiSdkAgent] as const),
  ])('plays %s as expected, with an agent of %s', async ([, , scene, runAgent], { skip }) => {
    const rows = await play(scene, { runAgent })
    for (const { kind, outcome } of rows) skip(kind === 'skipped' && !process.env.CI, outcome)
    for (const row of rows) expect(row).toMatchObject({ kind: 'played', asExpected: true })
    // One way works, and the others do not.
    expect(rows.map((row) => row.kind === 'played' && row.works)).toEqual(scene.plays.map(({ works }) => works))
    expect(rows.at(-1)).toMatchObject({ sessions: expect.stringMatching(/^one session/), works: true })
    const screenshot = /screenshot kept: (.*)$/.exec(rows.at(-1)?.outcome ?? '')?.[1]
    if (screenshot) expect((await readFile(screenshot)).toString('latin1', 1, 4)).toBe('PNG')
  })

  it('counts the sessions that were opened', async () => {
    // A session for each of three thoughts, and one to learn of the tools; or one for all.
    expect(await play(thinkingScene)).toMatchObject([{ opened: 4 }, { opened: 1 }])
  })

  it('plays with a real model, over HTTP', async () => {
    await using api = await openModelApi(think)
    const runAgent = createOpenAiAgent({ baseURL: api.url, apiKey: 'none', model: 'scripted' })
    const rows = await play(thinkingScene, { runAgent, scripted: false })
    expect(rows).toMatchObject([
      { outcome: 'history 1, 1, 1', works: false, asExpected: true },
      { outcome: 'history 1, 2, 3', works: true, asExpected: true },
    ])
  })

  it('reports a real model that misses the goal', async () => {
    await using api = await openModelApi(function* () {
      yield* call('sequentialthinking', { thought: '?', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false })
      return 'That is enough.'
    })
    const runAgent = createOpenAiAgent({ baseURL: api.url, apiKey: 'none', model: 'scripted' })
    const rows = await play(thinkingScene, { runAgent, scripted: false })
    expect(rows).toMatchObject([{ asExpected: true }, { outcome: 'history 1', works: false, asExpected: false }])
  })

  it('ends a model that repeats itself, and reports its mistakes to it', async () => {
    await using api = await openModelApi(function* () {
      for (;;) yield { tool: 'no_such_tool', input: {} }
    })
    const runAgent = createOpenAiAgent({ baseURL: api.url, apiKey: 'none', model: 'scripted' })
    const [, row] = await play(thinkingScene, { runAgent, scripted: false })
    expect(row).toMatchObject({ kind: 'failed', outcome: expect.stringContaining('after 24 turns') })
    expect(api.lastToolAnswer).toMatch(/^There is no tool no_such_tool/)
  })

  it.each(['{"thought": ', '[]', '"thought"', 'null'])('reports to a model that %s are not arguments', async (text) => {
    await using api = await openModelApi(think, () => text)
    const runAgent = createOpenAiAgent({ baseURL: api.url, apiKey: 'none', model: 'scripted' })
    const [, row] = await play(thinkingScene, { runAgent, scripted: false })
    expect(row).toMatchObject({ kind: 'played', asExpected: false })
    expect(api.lastToolAnswer).toContain('Invalid arguments')
  })

  it('stops when it is aborted', async () => {
    const stop = new AbortController()
    const playing = play(thinkingScene, {
      signal: stop.signal,
      runAgent: async (assignment) => {
        stop.abort()
        return runLangchainAgent(assignment)
      },
    })
    await expect(playing).rejects.toThrow(/abort/i)
  })

  it('skips a scene whose program is missing, and reports how to install it', async () => {
    const path = process.env.PATH
    process.env.PATH = '/nowhere'
    try {
      const browser = scenes.find(({ name }) => name === 'browser') as Scene
      const rows = await play(browser)
      for (const row of rows)
        expect(row).toMatchObject({ kind: 'skipped', outcome: expect.stringContaining('apt-get install chromium') })
    } finally {
      process.env.PATH = path
    }
  })
})
