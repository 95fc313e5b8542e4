import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bisecting, type ChatServer, calling, startChatServer } from '@episodic/models/chat-server.fixture'
import { lacksBrowser, useBrowser } from '@episodic/pages/file/browser.fixture'
import { AXE_VIOLATIONS, LAYOUT_FAULTS } from '@episodic/pages/server/page-checks.fixture'
import type { RunEntry } from '@episodic/report/view/run-entry'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../../fixtures/episodic.fixture.ts'
import { openWindow, startViewing, type Viewing } from './view.fixture.ts'

const workshop = openWorkshop()
const at = (...path: string[]) => join(workshop.folder, ...path)
const browser = useBrowser()
const HOSTILE = '<img src=x onerror="document.title=1">'
let server: ChatServer
let viewing: Viewing

/** A set of two worlds: one player's key is refused, so it has no episode and does not begin the second world. */
beforeAll(async () => {
  server = await startChatServer((request, _, response) => {
    if (request.model !== 'refused') {
      const [tool] = request.tools
      return tool?.function.name === 'guess' ? bisecting(request) : calling('move', { direction: 'down' })
    }
    response.writeHead(401).end('{"error":{"message":"Incorrect API key"}}')
    return null
  })
  const model = (name: string, rest: object) => ({ name, policy: `llm:${name}`, baseUrl: server.url, ...rest })
  const players = [
    { policy: 'random' },
    { policy: 'solver' },
    { name: HOSTILE, policy: 'random' },
    model('dear', { prices: [20, 10] }),
    model('cheap', { prices: [2, 10] }),
    model('refused', {}),
  ]
  writeFileSync(at('players.json'), JSON.stringify(players))
  const worlds = ['number-guessing', 'frozen-lake'].map(exampleWorld)
  await workshop.main([
    'run',
    ...worlds,
    '--policies',
    'players.json',
    '--tasks',
    '12',
    '--baseline',
    'solver',
    '--set',
    'zoo',
  ])
  viewing = await startViewing(workshop)
})
afterAll(async () => {
  viewing?.interrupt()
  await viewing?.ended
  await server?.[Symbol.asyncDispose]()
  workshop[Symbol.dispose]()
})

/** The cells of the table, by player. */
async function readCells(page: Page): Promise<Record<string, string[]>> {
  await page.locator('.set-cell .why').first().waitFor()
  const rows = await page.locator('table tbody tr', { has: page.locator('td') }).all()
  const cells = await Promise.all(rows.map((row) => row.locator('td').allInnerTexts()))
  return Object.fromEntries(
    cells
      .filter(([, first]) => first?.includes('%') || first?.includes('not'))
      .map(([player = '', ...rest]) => [player, rest.map((text) => text.replace(/\s+/g, ' '))]),
  )
}

describe('the page of a set', () => {
  it('knows who plays, and which player is the baseline', async () => {
    const runs = (await viewing.json<RunEntry[]>('/api/runs')).filter(({ set }) => set === 'zoo')
    expect(runs).toHaveLength(11)
    const baselines = runs.filter(({ member }) => member?.isBaseline)
    expect(baselines.map(({ member }) => member?.player)).toEqual(['solver', 'solver'])
    expect(runs.map(({ member }) => member?.player)).toContain(HOSTILE)
  })

  it.skipIf(lacksBrowser)('shows worlds × players with intervals, and why a cell cannot be compared', async () => {
    const context = await openWindow(browser(), viewing, { viewport: { width: 1_280, height: 900 } })
    const page = await context.newPage()
    await page.goto(`${viewing.origin}/`)
    await page.getByRole('link', { name: 'Worlds and players of the set zoo' }).click()
    const cells = await readCells(page)
    expect(Object.keys(cells)[0]).toBe('solver')
    expect(cells.solver?.[1]).toMatch(/^100\.0 % 75\.8 to 100\.0 % baseline$/)
    expect(cells.random?.[1]).toMatch(/^\d+\.\d % [\d.]+ to [\d.]+ % ✗ −\d+\.\d points$/)
    expect(cells.refused?.[0]).toBe('not played')
    expect(cells.refused?.[1]).toMatch(/^– stopped: model-refused not comparable: It has no sealed episode\./)
    expect(Object.keys(cells)).toContain(HOSTILE)
    expect([await page.locator('img').count(), await page.title()]).toEqual([0, 'zoo · Episodic'])
    const plot = page.getByRole('img', { name: 'Success over cost of an episode' })
    await plot.waitFor()
    for (const width of [1_280, 400])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        expect([width, colorScheme, await page.evaluate(LAYOUT_FAULTS)]).toEqual([width, colorScheme, []])
        expect([width, colorScheme, await page.evaluate(AXE_VIOLATIONS)]).toEqual([width, colorScheme, []])
      }
    await page.getByRole('link', { name: 'number-guessing@1.1.0' }).click()
    await page.getByRole('heading', { name: /4 runs against solver-/ }).waitFor()
    await context.close()
  })

  it.skipIf(lacksBrowser)('is the same in a shared file, and without comparisons has the rest', async () => {
    const context = await browser().newContext()
    const page = await context.newPage()
    const open = async (file: string) => {
      await page.goto('about:blank')
      await page.goto(`${pathToFileURL(at(file))}#/set/zoo`)
      await page.locator('.set-cell').first().waitFor()
    }
    const written = await workshop.main(['bundle', 'runs/zoo', '--compare', '--out', 'zoo.html'])
    expect(written.status).toBe(0)
    await open('zoo.html')
    const cells = await readCells(page)
    expect(cells.solver?.[1]).toContain('baseline')
    expect(cells.random?.[1]).toContain('✗ −')
    await workshop.main(['bundle', 'runs/zoo', '--out', 'plain.html'])
    await open('plain.html')
    await page.getByRole('img', { name: 'Success over cost of an episode' }).waitFor()
    expect(await page.locator('.set-cell').count()).toBe(11)
    expect(await page.locator('.why').count()).toBe(0)
    await context.close()
  })

  it.skipIf(lacksBrowser)(
    'has a cell for each of 24 players in four worlds, also in a shared file',
    { timeout: 240_000 },
    async () => {
      const prompts = ['Answer at once.', 'Think first.']
      const players = Array.from({ length: 12 }, (_, i) =>
        prompts.map((systemPrompt) => ({
          ...{ name: `m${i} ${systemPrompt}`, policy: `llm:m${i}`, baseUrl: server.url, systemPrompt, prices: [2, 10] },
        })),
      )
      writeFileSync(at('many.json'), JSON.stringify(players.flat()))
      const worlds = ['number-guessing', 'frozen-lake', 'warehouse', 'courier'].map(exampleWorld)
      const limits = ['--tasks', '3', '--max-steps', '4']
      const asked = ['run', ...worlds, '--policies', 'many.json', ...limits, '--set', 'many']
      const played = await workshop.main(asked, { env: { OPENAI_API_KEY: 'none' } })
      expect(played).toMatchObject({ status: 0 })
      expect(await workshop.main(['bundle', 'runs/many', '--compare', '--out', 'many.html'])).toMatchObject({
        status: 0,
      })
      const context = await openWindow(browser(), viewing, { viewport: { width: 1_440, height: 900 } })
      const page = await context.newPage()
      for (const address of [`${viewing.origin}/#/set/many`, `${pathToFileURL(at('many.html'))}#/set/many`]) {
        await page.goto('about:blank')
        await page.goto(address)
        await expect.poll(() => page.locator('.set-cell small').count(), { timeout: 60_000 }).toBeGreaterThanOrEqual(96)
        expect(await page.locator('.set-cell').count()).toBe(96)
        expect(await page.getByText('not comparable').count()).toBe(0)
        expect(await page.getByText('3 tasks can show nothing among 24 players').count()).toBe(4)
        expect(await page.getByText('Success by model and prompt').count()).toBe(4)
      }
      await context.close()
    },
  )
})
