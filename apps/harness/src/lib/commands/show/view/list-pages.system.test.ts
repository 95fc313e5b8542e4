import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lacksBrowser, useBrowser } from '@episodic/pages/file/browser.fixture'
import { isSuccess } from '@episodic/report/fold/scored-outcome'
import type { RunEntry } from '@episodic/report/view/run-entry'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../../fixtures/episodic.fixture.ts'
import { gatedPolicy } from '../../../fixtures/gated-policy.fixture.ts'
import { openWindow, startViewing, type Viewing } from './view.fixture.ts'

const workshop = openWorkshop()
let viewing: Viewing
const browser = useBrowser()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const play = async (out: string, ...more: string[]) => {
  const { status } = await workshop.main(['run', world, '--out', out, ...more])
  expect(status).toBe(0)
}

beforeAll(async () => {
  await play('runs/careless', '--policy', 'careless', '--tasks', '40', '--rollouts', '3')
  await play('runs/june/solver', '--policy', 'solver', '--tasks', '10')
  await play('runs/june/random', '--policy', 'random', '--tasks', '10')
  viewing = await startViewing(workshop)
})

/** Opens an address of the pages. A message of the page's console or an error of it fails the test. */
async function open(
  address: string,
  { width = 1_280, onRequest = () => {} }: { width?: number; onRequest?: (url: string) => void } = {},
): Promise<Page> {
  const context = await openWindow(browser(), viewing, { viewport: { width, height: 800 } })
  context.on('request', (request) => onRequest(request.url()))
  const page = await context.newPage()
  page.on('pageerror', (error) => {
    throw error
  })
  await page.goto(`${viewing.origin}/${address}`)
  return page
}

const texts = (page: Page, selector: string) => page.locator(selector).allTextContents()

describe.skipIf(lacksBrowser)('the list of runs', () => {
  it('shows runs with their figures, and opens one by keys', async () => {
    const page = await open('')
    await page.getByRole('link', { name: 'careless' }).waitFor()
    const { success } = await viewing.runNamed('careless')
    const row = page.getByRole('row', { name: /careless/ })
    expect(await row.textContent()).toContain(`${((success?.rate ?? 0) * 100).toFixed(1)} %`)
    expect(await texts(page, 'tbody a[data-row]')).toHaveLength(3)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#\/r\/[0-9a-f]{10}$/)
    // The key belongs to the screen that is shown, and not to the address.
    await page.getByRole('navigation', { name: 'Figures of the run' }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(/#\/$/)
  })
})

describe.skipIf(lacksBrowser)('the list of episodes', () => {
  it('filters by a query, with the figures of what it shows, and finds them again by its address', async () => {
    const { id } = await viewing.runNamed('careless')
    const page = await open(`#/r/${id}/episodes`)
    await page.locator('.row-link').first().waitFor()
    const episodes = readEpisodes(`${workshop.folder}/runs/careless`)
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(episodes.length + 1))
    await page.getByLabel('Query').fill('success:yes steps<=6')
    await page.waitForURL(/q=success/)
    const chosen = episodes.filter((episode) => isSuccess(episode) && episode.steps.length <= 6)
    expect(chosen.length).toBeGreaterThan(0)
    await page.locator('.list-figures').getByText(`${chosen.length} of 120`, { exact: false }).waitFor()
    const returns = chosen.map(({ returns }) => returns?.unshaped ?? 0)
    const mean = returns.reduce((sum, one) => sum + one, 0) / returns.length
    expect(await page.locator('.list-figures').textContent()).toContain(mean.toFixed(3))

    await page.getByRole('button', { name: 'Steps' }).click()
    await page.waitForURL(/sort=-steps/)
    await page.reload()
    await page.locator('.row-link').first().waitFor()
    const most = Math.max(...chosen.map(({ steps }) => steps.length))
    const cells = await page
      .locator('tbody tr')
      .filter({ has: page.locator('.row-link') })
      .first()
      .locator('td')
      .allTextContents()
    expect(cells).toContain(String(most))
  })

  it('opens episodes by keys, and is where it was when the reader comes back', async () => {
    const { id } = await viewing.runNamed('careless')
    const page = await open(`#/r/${id}/episodes`)
    await page.locator('.row-link').first().waitFor()
    for (const key of ['j', 'j', 'j']) await page.keyboard.press(key)
    await page.locator('.row-link[data-index="2"]:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/t\/[^/]+\/\d+$/)
    // The key belongs to the screen that is shown, and not to the address.
    await page.getByRole('navigation', { name: 'Parts of the episode' }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/episodes$/)
    await page.locator('.row-link[data-index="2"]:focus').waitFor()
  })
})

describe.skipIf(lacksBrowser)('a run that is being played', () => {
  it('says how many episodes are new, shows them when asked, and needs one stream of events for all tabs', async () => {
    writeFileSync(join(workshop.folder, 'gated.ts'), gatedPolicy(10))
    const out = ['--out', 'runs/gated', '--concurrency', '4']
    const running = workshop.start(['run', world, '--policy', './gated.ts', '--tasks', '40', ...out])
    const sealed = async () => (await viewing.json<RunEntry[]>('/api/runs')).find(({ name }) => name === 'gated')
    await expect.poll(async () => (await sealed())?.finished, { timeout: 120_000 }).toBe(10)
    const { id } = await viewing.runNamed('gated')

    let streams = 0
    const onRequest = (url: string) => {
      streams += Number(url.endsWith('/api/events'))
    }
    const page = await open(`#/r/${id}/episodes`, { onRequest })
    const other = await page.context().newPage()
    await other.goto(`${viewing.origin}/#/r/${id}/episodes`)
    for (const tab of [page, other]) {
      await tab.locator('table[aria-rowcount="11"] .row-link').first().waitFor()
      await tab.getByText('1 live').waitFor()
    }
    writeFileSync(join(workshop.folder, 'open'), '')
    for (const tab of [page, other]) {
      const fresh = tab.getByRole('button', { name: '10 → 40, show' })
      await fresh.waitFor()
      // No row moves before the reader asks for it.
      expect(await tab.getByRole('table').getAttribute('aria-rowcount')).toBe('11')
      await fresh.click()
      await tab.locator('table[aria-rowcount="41"]').waitFor()
    }
    await running.ended
    for (const tab of [page, other]) await tab.getByText('1 live').waitFor({ state: 'hidden' })
    expect(streams).toBe(1)
  })
})
