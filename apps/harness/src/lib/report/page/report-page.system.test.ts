import type { Completion, EpisodeRecord } from '@episodic/protocol'
import { createEpisodeSample, createFold } from '@episodic/report'
import { playRun } from '@episodic/report/testing'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { HOSTILE, lacksBrowser, usePages } from '../../browser.fixture.ts'
import { renderReport } from './render-report.ts'

const open = usePages()

/** Opens the report of a run as a file and records errors and requests. */
async function openReport(records: readonly EpisodeRecord[], name: string) {
  const [fold, sample] = [createFold(), createEpisodeSample()]
  for (const record of records) {
    fold.add(record)
    sample.add(record)
  }
  const run = { name, configuration: { policy: name } }
  return open(renderReport(fold.finish(run), run, sample.finish()))
}

/** An answer of a model that calls two tools, of which the first was played. */
const answer: Completion = {
  model: 'served',
  promptTokens: 412,
  completionTokens: 61,
  cost: 0.000_234_6,
  text: 'Halve what is left.',
  reasoning: 'Half of 100 is 50.',
  calls: [
    { id: 'a', name: 'guess', arguments: '{"value": 50}', played: true },
    { id: 'b', name: 'guess', arguments: '{"value": 51}', played: false },
  ],
  time: { milliseconds: 840, waited: 1_000 },
  tries: [{ status: 429, code: 'http', milliseconds: 3 }],
}

const textOf = (page: Page, selector: string) => page.locator(selector).textContent()

describe.skipIf(lacksBrowser)(
  'the report in a browser (needs Chromium: apt-get install chromium, or CHROMIUM_PATH)',
  () => {
    const records = playRun({ tasks: 20, attempts: 4, failures: 0.1 })

    it('renders without an error and without a request, and opens episodes', async () => {
      const { page, faults } = await openReport(records, 'baseline')
      expect(await page.title()).toBe('baseline · Episodic run report')
      const rows = page.locator('#list button')
      const first = await textOf(page, '#play')
      expect(first).toContain('Terminated: ')
      await rows.nth(3).click()
      expect(await textOf(page, '#play')).not.toBe(first)
      expect(await rows.nth(3).getAttribute('aria-current')).toBe('true')
      await page.locator('.chips button[data-outcome=failed]').click()
      await rows.first().click()
      expect(await textOf(page, '#play')).toMatch(/Failed: .*|not scored/)
      await page.locator('#search').fill('no such episode')
      expect(await textOf(page, '#list')).toBe('No sampled episode matches.')
      expect(faults).toEqual([])
      await page.close()
    })

    it('shows all episodes of a small run, each with its prompt', async () => {
      const small = playRun({ tasks: 3, attempts: 2, failures: 0 })
      const { page } = await openReport(small, 'small')
      expect(await page.locator('.caption', { hasText: 'sealed episode' }).textContent()).toBe('All 6 sealed episodes.')
      const titles = await page.locator('#list button .title').allTextContents()
      expect(titles.toSorted()).toEqual(small.map(({ task }) => task.prompt).toSorted())
      await page.close()
    })

    it.each([320, 768])('does not scroll sideways at %i pixels', async (width) => {
      const { page } = await openReport(records, 'narrow')
      await page.setViewportSize({ width, height: 800 })
      const past = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      expect(past).toBe(0)
      await page.close()
    })

    it('keeps table columns apart at 400 pixels', async () => {
      const { page } = await openReport(records, 'phone')
      await page.setViewportSize({ width: 400, height: 800 })
      const overflowing = await page.evaluate(
        `[...document.querySelectorAll('table.even th, table.even td')]
        .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)`,
      )
      expect(overflowing).toEqual([])
      await page.close()
    })

    it('shows what a model thought, said and spent at each step, and answers that led to none', async () => {
      const [first] = playRun({ tasks: 1, attempts: 1, failures: 0 })
      const steps = first!.steps.map((step, i) => ({
        ...step,
        completions: i === 0 ? [{ ...answer, text: 'I will guess.', calls: undefined }, answer] : [answer],
      }))
      const undecided = [{ ...answer, text: 'I give up.' }]
      const { page, faults } = await openReport([{ ...first!, steps, undecided }], 'model')
      const shown = page.locator('#play .step', { hasText: '#1' }).first()
      expect(await shown.locator('.answer').count()).toBe(2)
      expect(await shown.locator('.said').first().textContent()).toBe('I will guess.')
      const last = shown.locator('.answer').last()
      expect(await last.locator('.thought').isVisible()).toBe(false)
      await last.locator('summary').click()
      expect(await last.locator('.thought').textContent()).toBe('Half of 100 is 50.')
      expect(await last.locator('.thought').isVisible()).toBe(true)
      expect(await last.locator('.unplayed').textContent()).toBe('not played: guess({"value": 51})')
      expect(await last.locator('.spent span').allTextContents()).toEqual([
        '412 tokens read',
        '61 written',
        'cost 0.000235',
        'answered in 840 ms',
        'waited 1.00 s',
        '1 failed request before',
      ])
      expect(await textOf(page, '#play .step:last-child .said')).toBe('I give up.')
      expect(faults).toEqual([])
      await page.close()
    })

    it('shows hostile texts without running them', async () => {
      const hostile = records.map(
        (record): EpisodeRecord => ({
          ...record,
          task: { ...record.task, prompt: HOSTILE, tags: [HOSTILE] },
          policy: { name: HOSTILE, seed: HOSTILE },
          steps: record.steps.map((step) => ({
            ...step,
            action: { tool: HOSTILE, arguments: { [HOSTILE]: HOSTILE } },
            observation: { text: HOSTILE, structured: { [HOSTILE]: HOSTILE } },
            completions: [{ ...answer, text: HOSTILE, reasoning: HOSTILE }],
          })),
          outcome:
            record.outcome.kind === 'failed'
              ? { kind: 'failed', error: { code: HOSTILE, message: HOSTILE } }
              : { kind: 'finished', end: { kind: 'terminated', reason: HOSTILE } },
        }),
      )
      const { page, faults } = await openReport(hostile, HOSTILE)
      for (const row of (await page.locator('#list button').all()).slice(0, 5)) await row.click()
      expect(await textOf(page, '#play h3')).toBe(HOSTILE)
      expect(await textOf(page, 'h1')).toBe(HOSTILE)
      expect(await page.evaluate('window.hacked')).toBeUndefined()
      expect(await page.locator('img').count()).toBe(0)
      expect(faults).toEqual([])
      await page.close()
    })
  },
)
