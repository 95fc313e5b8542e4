import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runAiSdkAgent } from './agents/ai-sdk-agent.ts'
import { runLangchainAgent } from './agents/langchain-agent.ts'
import { createOpenAiAgent } from './agents/openai-agent.ts'
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

  it('plays with a real model, over HTTP', async () => {
    await using api = await openModelApi(think)
    const runAgent = createOpenAiAgent({ baseURL: api.url, apiKey: 'none', model: 'scripted' })
    const rows = await play(thinkingScene, { runAgent, scripted: false })
    expect(rows).toMatchObject([
      { outcome: 'history 1, 1, 1', works: false, asExpected: true },
      { outcome: 'history 1, 2, 3', works: true, asExpected: true },
    ])
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
