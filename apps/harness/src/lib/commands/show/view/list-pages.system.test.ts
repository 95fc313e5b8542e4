import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lacksBrowser, useBrowser } from '@episodic/pages/file/browser.fixture'
import { isSuccess, type RunEntry } from '@episodic/report'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../../fixtures/episodic.fixture.ts'
import { gatedPolicy } from '../../../fixtures/gated-policy.fixture.ts'
import { startViewing, type Viewing } from './view.fixture.ts'

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
  const [name, value] = viewing.cookie.split('=') as [string, string]
  const context = await browser().newContext({ viewport: { width, height: 800 } })
  await context.addCookies([{ name, value, url: viewing.origin }])
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

  it('compares the runs that are ticked', async () => {
    const page = await open('')
    await page.getByRole('checkbox', { name: 'Compare solver' }).check()
    const button = page.getByRole('button', { name: /^Compare/ })
    expect(await button.isDisabled()).toBe(true)
    await page.getByRole('checkbox', { name: 'Compare random' }).check()
    await button.click()
    await page.waitForURL(/#\/compare\?runs=[0-9a-f]{10}%2C[0-9a-f]{10}$/)
  })

  it('shows what a run added while the page is open', async () => {
    const page = await open('')
    await page.getByRole('link', { name: 'careless' }).waitFor()
    await play('runs/later', '--policy', 'solver', '--tasks', '5')
    await page.getByRole('link', { name: 'later' }).waitFor()
  })

  it('says which currency costs have, if there are any', async () => {
    const page = await open('')
    await page.getByRole('link', { name: 'careless' }).waitFor()
    const currency = page.getByText('Costs are in the currency of the prices.')
    expect(await currency.count()).toBe(0)
    await page.route('**/api/runs', async (route) => {
      const runs = (await (await route.fetch()).json()) as object[]
      await route.fulfill({ json: runs.map((run) => ({ ...run, cost: 1.5 })) })
    })
    await page.reload()
    await currency.waitFor()
    // The page asks again and again. A handler that is at work when the page is closed would fail.
    await page.unrouteAll({ behavior: 'wait' })
  })

  it('has no sideways scroll of the page in a small window', async () => {
    const page = await open('', { width: 400 })
    await page.getByRole('link', { name: 'careless' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(400)
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

  it('says what is wrong in a query, and leaves the rows as they were', async () => {
    const { id } = await viewing.runNamed('careless')
    const page = await open(`#/r/${id}/episodes`)
    await page.locator('.row-link').first().waitFor()
    await page.getByLabel('Query').fill('stpes>3')
    await page.getByText('There is no field "stpes". Did you mean "steps"?', { exact: false }).waitFor()
    expect(await texts(page, '.query-marks mark')).toEqual(['stpes'])
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('121')
  })

  it('names the reasons and codes of a run where no episode meets a query', async () => {
    const { id } = await viewing.runNamed('careless')
    const page = await open(`#/r/${id}/episodes?q=ending%3Ano-such-reason`)
    const reasons = new Set(
      readEpisodes(`${workshop.folder}/runs/careless`).map(({ outcome }) =>
        outcome.kind === 'failed' ? outcome.error.code : outcome.end.reason,
      ),
    )
    const note = page.getByText('Episodes of this run ended or failed as')
    const named = ((await note.textContent()) ?? '').replace(/^.* as |\.$/g, '').split(', ')
    expect(new Set(named)).toEqual(reasons)
  })

  it('finds episodes by words that stand in them', async () => {
    const { id } = await viewing.runNamed('careless')
    const page = await open(`#/r/${id}/episodes?q=${encodeURIComponent('"9 guesses left"')}`)
    const lines = readFileSync(`${workshop.folder}/runs/careless/episodes.jsonl`, 'utf8').trim().split('\n')
    const expected = lines.filter((line) => line.includes('9 guesses left')).length
    expect(expected).toBeGreaterThan(0)
    await page.locator(`table[aria-rowcount="${expected + 1}"]`).waitFor()
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

describe.skipIf(lacksBrowser)('the search', () => {
  it('lists the places of a text by run, with links to their steps', async () => {
    const page = await open('')
    await page.getByRole('link', { name: 'careless' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('guesses left')
    await page.keyboard.press('Enter')
    await page.locator('.hit mark').first().waitFor()
    expect(new Set(await texts(page, '.hit mark'))).toEqual(new Set(['guesses left']))
    // Places are listed as they are found, one run after the other.
    await expect.poll(() => texts(page, '.hits h2 a')).toEqual(expect.arrayContaining(['careless']))
    await page.locator('.hit').last().click()
    await page.waitForURL(/\/t\/[^/]+\/\d+\?step=\d+$/)
  })
})
