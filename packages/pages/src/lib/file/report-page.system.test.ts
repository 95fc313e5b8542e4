import type { EpisodeRecord } from '@episodic/protocol'
import { createFold } from '@episodic/report/fold/fold'
import { playRun } from '@episodic/report/testing'
import { describe, expect, it } from 'vitest'
import { lacksBrowser, usePages } from './browser.fixture.ts'
import { renderReport } from './render-report.ts'

const open = usePages()

/** Opens the report of a run as a file and records errors and requests. */
async function openReport(records: readonly EpisodeRecord[], name: string, width?: number) {
  const fold = createFold()
  for (const record of records) fold.add(record)
  const run = { name, configuration: { policy: name } }
  const lines = () => records.map((record) => JSON.stringify(record))
  const opened = await open(await renderReport(fold.finish(run), run, { lines }), width)
  await opened.page.locator('.tabs').waitFor()
  return opened
}

describe.skipIf(lacksBrowser)(
  'the report in a browser (needs Chromium: apt-get install chromium, or CHROMIUM_PATH)',
  () => {
    const records = playRun({ tasks: 20, attempts: 4, failures: 0.1 })

    it('says what to look at first, and opens its episodes', async () => {
      const { page, faults } = await openReport(records, 'queue')
      const failed = records.filter(({ outcome }) => outcome.kind === 'failed')
      const chip = page.locator('.look-first button', { hasText: ' failed (' })
      expect(await chip.textContent()).toContain(`${failed.length} failed`)
      await chip.click()
      const links = page.locator('.episode-links a')
      await links.first().waitFor()
      expect(await links.count()).toBe(failed.length)
      const hrefs = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
      const places = failed.map(({ task, attempt }) => `/t/${task.id}/${attempt}`)
      expect(hrefs.map((href) => href.slice(href.indexOf('/t/'))).toSorted()).toEqual(places.toSorted())
      expect(faults).toEqual([])
      await page.close()
    })
  },
)
