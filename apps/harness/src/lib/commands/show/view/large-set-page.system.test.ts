import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bisecting, type ChatServer, calling, startChatServer } from '@episodic/models/chat-server.fixture'
import { lacksBrowser, useBrowser } from '@episodic/pages/file/browser.fixture'
import { AXE_VIOLATIONS, LAYOUT_FAULTS } from '@episodic/pages/server/page-checks.fixture'
import type { ComparedRuns, RunEntry } from '@episodic/report'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../../fixtures/episodic.fixture.ts'
import { startViewing, type Viewing } from './view.fixture.ts'

const workshop = openWorkshop()
const at = (...path: string[]) => join(workshop.folder, ...path)
const browser = useBrowser()
const WORLDS = ['number-guessing', 'frozen-lake', 'warehouse', 'courier']
let server: ChatServer
let viewing: Viewing

/** Twelve models, each with two prompts: 24 players in four worlds, of which some models have no cost that is known. */
beforeAll(async () => {
  server = await startChatServer((request) => {
    const names = request.tools.map((tool) => tool.function.name)
    const model = Number(request.model.slice(1))
    // The better a model, the more often it halves the range; the prompt to think helps each.
    const isSlow = request.messages.some(({ content }) => content?.includes('Think first'))
    const halves = names.includes('guess') && (model + request.messages.length) % 12 < (isSlow ? 11 : 7)
    const answer = halves ? bisecting(request) : calling(names[0] ?? '', { direction: 'down', value: model })
    const usage = { prompt_tokens: 100 + 40 * model, completion_tokens: 10, total_tokens: 110 + 40 * model }
    return { ...answer, usage: model === 11 ? undefined : usage }
  })
  const players = Array.from({ length: 12 }, (_, model) =>
    ['Answer at once.', 'Think first, and then answer.'].map((systemPrompt, i) => ({
      name: `model-${model} ${i === 0 ? 'fast' : 'slow'}`,
      policy: `llm:m${model}`,
      baseUrl: server.url,
      prices: [2, 10],
      systemPrompt,
    })),
  ).flat()
  writeFileSync(at('players.json'), JSON.stringify(players))
  const warnings: string[] = []
  const note = ({ message }: Error) => void warnings.push(message)
  process.on('warning', note)
  const played = await workshop.main(
    [
      'run',
      ...WORLDS.map(exampleWorld),
      '--policies',
      'players.json',
      '--tasks',
      '3',
      '--max-steps',
      '8',
      '--set',
      'many',
    ],
    { env: { OPENAI_API_KEY: 'none' } },
  )
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', note)
  expect([played.status, warnings]).toEqual([0, []])
  // Nothing is a terminal here: a line of progress names the slowest and the fastest of so many players.
  expect(
    Math.max(
      ...played.err
        .split('\n')
        .filter((line) => line.includes('%'))
        .map(({ length }) => length),
    ),
  ).toBeLessThan(200)
  viewing = await startViewing(workshop)
}, 240_000)
afterAll(async () => {
  viewing?.interrupt()
  await viewing?.ended
  await server?.[Symbol.asyncDispose]()
  workshop[Symbol.dispose]()
})

describe('a set of 24 players in four worlds', () => {
  it('is compared in one request for each world, with each player', async () => {
    const runs = await viewing.json<RunEntry[]>('/api/runs')
    expect(runs).toHaveLength(24 * WORLDS.length)
    const ids = runs.filter(({ environments: [world] }) => world?.startsWith('frozen-lake')).map(({ id }) => id)
    const compared = await viewing.json<ComparedRuns>(`/api/compare?runs=${ids.join()}&base=${ids[0]}`)
    expect([compared.contrasts?.contrasts.length, compared.leftOut]).toEqual([23, []])
  })

  it.skipIf(lacksBrowser)('is shown and shared with each player, at any width', { timeout: 120_000 }, async () => {
    const [name, value] = viewing.cookie.split('=') as [string, string]
    const context = await browser().newContext({ viewport: { width: 1_440, height: 900 } })
    await context.addCookies([{ name, value, url: viewing.origin }])
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    const written = await workshop.main(['bundle', 'runs/many', '--compare', '--out', 'many.html', '--yes'])
    expect(written).toMatchObject({ status: 0 })
    for (const address of [`${viewing.origin}/#/set/many`, `${pathToFileURL(at('many.html'))}#/set/many`]) {
      await page.goto('about:blank')
      await page.goto(address)
      await page.locator('.set-cell').first().waitFor()
      await page.getByRole('img', { name: 'Success over cost of an episode' }).waitFor()
      await expect.poll(() => page.locator('.set-cell small').count()).toBeGreaterThanOrEqual(24 * WORLDS.length)
      expect(await page.locator('.set-cell').count()).toBe(24 * WORLDS.length)
      expect(await page.getByText('not comparable').count()).toBe(0)
      expect(await page.getByText('3 tasks can show nothing among 24 players').count()).toBe(WORLDS.length)
      const prompts = page.getByText('Success by model and prompt')
      expect(await prompts.count()).toBe(WORLDS.length)
      const effect = page.getByRole('row', { name: /“Think first, and then answer.” “Answer at once.” .*points/ })
      expect(await effect.count()).toBe(WORLDS.length)
      expect(await page.getByText('Not in the plot, for lack of a known cost: model-11').count()).toBe(1)
      for (const width of [1_440, 400]) {
        await page.setViewportSize({ width, height: 900 })
        expect([width, await page.evaluate(LAYOUT_FAULTS)]).toEqual([width, []])
        expect([width, await page.evaluate(AXE_VIOLATIONS)]).toEqual([width, []])
      }
      await page.setViewportSize({ width: 1_440, height: 900 })
    }
    expect(problems).toEqual([])
    await context.close()
  })
})
