import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lacksBrowser, useBrowser } from '@episodic/pages/file/browser.fixture'
import { AXE_VIOLATIONS, LAYOUT_FAULTS } from '@episodic/pages/server/page-checks.fixture'
import type { EpisodeInFlight } from '@episodic/report'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { exampleWorld, openWorkshop } from '../../../fixtures/episodic.fixture.ts'
import { gatedPolicy } from '../../../fixtures/gated-policy.fixture.ts'
import { startViewing } from './view.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const browser = useBrowser()

describe.skipIf(lacksBrowser)('the page of an episode that is being played', () => {
  it('shows what was seen and called so far, in lines as wide as the page', async () => {
    writeFileSync(join(workshop.folder, 'gated.ts'), gatedPolicy(0))
    // A folder of runs has to have one.
    await workshop.main(['run', exampleWorld('number-guessing'), '--tasks', '1', '--out', 'runs/earlier'])
    const policy = ['--policy', './gated.ts', '--tasks', '2', '--concurrency', '2']
    const run = workshop.start(['run', exampleWorld('number-guessing'), ...policy, '--out', 'runs/held'])
    const viewing = await startViewing(workshop)
    const { id } = await vi.waitFor(() => viewing.runNamed('held'), { timeout: 120_000, interval: 100 })
    const { inFlight } = await viewing.detailOnce(id, (detail) => detail.inFlight.some(({ steps }) => steps === 1))
    const { task, attempt } = inFlight.find(({ steps }) => steps === 1) as EpisodeInFlight
    const [name = '', value = ''] = viewing.cookie.split('=')
    for (const [width, colorScheme] of [
      [1_280, 'light'],
      [400, 'dark'],
    ] as const) {
      const context = await browser().newContext({ viewport: { width, height: 900 }, colorScheme })
      await context.addCookies([{ name, value, url: viewing.origin }])
      const page = await context.newPage()
      await page.goto(`${viewing.origin}/#/r/${id}/t/${encodeURIComponent(task)}/${attempt}`)
      await page.getByText(/^Being played: 1 step/).waitFor()
      await page.getByText(/^The number is/).waitFor()
      const widths = await page.locator('main .row-content').evaluateAll((rows) => rows.map((row) => row.clientWidth))
      expect(Math.min(...widths)).toBeGreaterThan(width / 2)
      expect(await page.evaluate(LAYOUT_FAULTS)).toEqual([])
      expect(await page.evaluate(AXE_VIOLATIONS)).toEqual([])
      await context.close()
    }
    run.kill('SIGKILL')
    await run.ended
  })
})
