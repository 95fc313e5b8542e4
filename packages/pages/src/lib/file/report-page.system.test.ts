import type { EpisodeRecord } from '@episodic/protocol'
import { createFold } from '@episodic/report/fold/fold'
import type { GradableLine } from '@episodic/report/grades/gradable-lines'
import { aGrade, someLines } from '@episodic/report/grades/grades.fixture'
import { playRun } from '@episodic/report/testing'
import { describe, expect, it } from 'vitest'
import { lacksBrowser, usePages } from './browser.fixture.ts'
import { type PageContent, renderReport } from './render-report.ts'

const open = usePages()

/** Opens the report of a run as a file and records errors and requests. */
async function openReport(records: readonly EpisodeRecord[], name: string, content: Partial<PageContent> = {}) {
  const fold = createFold()
  for (const record of records) fold.add(record)
  const run = { name, configuration: { policy: name } }
  const lines = () => records.map((record) => JSON.stringify(record))
  const opened = await open(await renderReport(fold.finish(run), run, { ...content, lines }))
  await opened.page.locator('.tabs').waitFor()
  return opened
}

describe.skipIf(lacksBrowser)(
  'the report in a browser (needs Chromium: apt-get install chromium, or CHROMIUM_PATH)',
  () => {
    const records = playRun({ tasks: 20, attempts: 4, failures: 0.1 })

    it('shows in the steps of an episode which calls of tools failed, and how', async () => {
      const isLong = ({ outcome, steps }: EpisodeRecord) => outcome.kind === 'finished' && steps.length > 2
      const first = records.find(isLong) as EpisodeRecord
      const { action } = first.steps[0] as EpisodeRecord['steps'][number]
      const faults = [
        { kind: 'error', step: 0, call: action, text: 'The tool is unavailable.' },
        { kind: 'slow', step: 1 },
        { kind: 'stale', step: 2, read: 0 },
      ] as const
      const opened = await openReport([{ ...first, faults: [...faults] }], 'faulty')
      const { page } = opened
      await page.locator('.tabs a', { hasText: 'Tasks' }).click()
      const link = page.locator('main a[href*="/t/"]').first()
      const [run] = ((await link.getAttribute('href')) ?? '').split('/t/')
      await page.goto(new URL(`${run}/t/${first.task.id}/${first.attempt}`, page.url()).href)
      const rows = page.locator('.fault', { hasText: 'tool fault' })
      await rows.first().waitFor()
      const texts = (await rows.allTextContents()).map((text) => text.replace(/\s+/g, ' '))
      expect(texts).toEqual([
        expect.stringMatching(new RegExp(`${action.tool}.*not sent: The tool is unavailable\\.`)),
        expect.stringContaining('late'),
        expect.stringContaining('the answer of step 1'),
      ])
      expect(opened.faults).toEqual([])
      await page.close()
    })

    it('shows how far a judge goes by the words of the player', async () => {
      const judged = records.filter(({ outcome }) => outcome.kind === 'finished').slice(0, 8)
      const [line] = someLines() as [GradableLine]
      const grades = judged.flatMap((record, i) => {
        const words = { success: i % 2 === 0, before: i % 2 === 0, after: i % 2 === 1 }
        const asked = { model: 'm', promptTokens: 1, completionTokens: 1, cost: null, messages: [] }
        const { task, attempt, chain } = record
        const graded = aGrade({ ...line, task: task.id, attempt, seal: record.seal ?? chain }, { asked })
        const planted = { ordered: true, obeyed: false, words }
        return [graded, { ...graded, seal: `swapped ${i}`, value: words.after, planted }]
      })
      const { page, faults } = await openReport(records, 'judged', { grades })
      await page.locator('.tabs a', { hasText: 'Grades' }).click()
      await page.locator('.loss', { hasText: '! +100.0 points' }).waitFor()
      expect(faults).toEqual([])
      await page.close()
    })

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
