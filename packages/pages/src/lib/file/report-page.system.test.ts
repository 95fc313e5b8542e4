import type { Completion, EpisodeRecord } from '@episodic/protocol'
import { createFold } from '@episodic/report'
import { playRun } from '@episodic/report/testing'
import type { Page } from 'playwright-core'
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

const figureOf = (page: Page, name: string) =>
  page
    .locator('.figure-strip > div', { has: page.getByText(name, { exact: true }) })
    .locator('.figure')
    .textContent()

/** How much wider the page is than its window. */
const past = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

describe.skipIf(lacksBrowser)(
  'the report in a browser (needs Chromium: apt-get install chromium, or CHROMIUM_PATH)',
  () => {
    const records = playRun({ tasks: 20, attempts: 4, failures: 0.1 })

    it('opens at its run without an error and without a request, and every tab shows its figures', async () => {
      const { page, faults } = await openReport(records, 'baseline')
      expect(await page.title()).toBe('baseline · Episodic run report')
      expect(await page.locator('h1').textContent()).toBe('baseline')
      for (const [tab, heading] of [
        ['Tasks', 'Success of each task'],
        ['Rewards', 'Reward by step'],
        ['Time and cost', 'World step'],
        ['Failures', 'failed'],
        ['Configuration', 'Settings of the run'],
        ['Overview', 'Success by difficulty'],
      ] as const) {
        await page.locator('.tabs a', { hasText: tab }).click()
        await page.locator('h3', { hasText: heading }).first().waitFor()
        expect(await page.locator('.tabs a[aria-current=page]').textContent()).toContain(tab)
      }
      await page.goBack()
      expect(await page.locator('.tabs a[aria-current=page]').textContent()).toBe('Configuration')
      expect(faults).toEqual([])
      await page.close()
    })

    it('shows a table behind every drawing', async () => {
      const { page } = await openReport(records, 'tables')
      const drawings = await page.locator('svg[role=img]').count()
      expect(drawings).toBeGreaterThanOrEqual(4)
      expect(await page.locator('details.behind').count()).toBe(drawings)
      await page.locator('details.behind summary').first().click()
      expect(await page.locator('details.behind table').first().isVisible()).toBe(true)
      await page.close()
    })

    it('lists the tasks with the figures of their attempts, in any order', async () => {
      const { page } = await openReport(records, 'tasks')
      await page.locator('.tabs a', { hasText: 'Tasks' }).click()
      const rows = page.locator('table.tasks tbody tr')
      await rows.first().locator('a').waitFor()
      expect(await rows.count()).toBe(20)
      const shares = async () => {
        const texts = await rows.locator('td:nth-child(2)').allTextContents()
        return texts.map((text) => {
          const [successes, finished] = text.match(/\d+/g) as [string, string]
          return Number(successes) / Number(finished)
        })
      }
      await page.getByRole('button', { name: 'Success' }).click()
      const descending = await shares()
      expect(descending).toEqual(descending.toSorted((a, b) => b - a))
      expect(await page.locator('th[aria-sort=descending]').textContent()).toContain('Success')
      await page.getByRole('button', { name: 'Success' }).click()
      expect(await shares()).toEqual(descending.toSorted((a, b) => a - b))
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

    it('does not scroll sideways at 320 pixels', async () => {
      const { page } = await openReport(records, 'narrow', 320)
      expect(await past(page)).toBe(0)
      for (const tab of ['Tasks', 'Rewards', 'Failures', 'Configuration']) {
        await page.locator('.tabs a', { hasText: tab }).click()
        expect(await past(page)).toBe(0)
      }
      await page.close()
    })

    it('shows what models took', async () => {
      const asked = playRun({ tasks: 4, attempts: 1, failures: 0 }).map((record) => ({
        ...record,
        // Each prompt but the first goes on from the one before with another token than was sampled.
        steps: record.steps.map((step, at) => ({
          ...step,
          completions: [{ ...answer, promptTokenIds: new Array(at + 1).fill(1), tokenIds: [2] }],
        })),
      }))
      const steps = asked.reduce((sum, record) => sum + record.steps.length, 0)
      const { page } = await openReport(asked, 'model')
      expect(await figureOf(page, 'Tokens')).toBe(`${((steps * (412 + 61)) / 1_000).toFixed(1)} k`)
      expect(await page.locator('.figure-strip').textContent()).toContain(`${steps - asked.length} answers drifted`)
      await page.locator('.tabs a', { hasText: 'Time and cost' }).click()
      const row = page.locator('tr', { hasText: 'Tokens written' })
      expect(await row.locator('td').nth(1).textContent()).toBe((steps * 61).toLocaleString('en-US'))
      const drifted = page.locator('tr', { hasText: 'Answers that drifted' })
      expect(await drifted.locator('td').nth(1).textContent()).toBe((steps - asked.length).toLocaleString('en-US'))
      expect(await page.locator('tr', { hasText: 'Cost, in the currency of the prices' }).count()).toBe(1)
      await page.close()
    })

    it('shows the versions of the weights with their episodes, and which one wrote each answer', async () => {
      const answered = playRun({ tasks: 6, attempts: 2, failures: 0 }).map((record, i) => ({
        ...record,
        steps: record.steps.map((step, at) => {
          const policyVersion = `step-${9 + (i % 3) + (i % 3 === 1 && at > 0 ? 4 : 0)}`
          return { ...step, completions: [{ ...answer, policyVersion }] }
        }),
      }))
      const { page, faults } = await openReport(answered, 'trained')
      const rows = page.locator('section', { hasText: 'Policy versions' }).locator('tbody tr')
      await rows.first().waitFor()
      const cells = await rows.evaluateAll((all) =>
        all.map((row) => [...row.querySelectorAll('td')].slice(0, 4).map(({ textContent }) => textContent)),
      )
      const longer = answered.filter(({ steps }, i) => i % 3 === 1 && steps.length > 1).length
      expect(cells).toEqual([
        ['step-9', '2', '4', '0'],
        ['step-10', '1', '4', String(longer)],
        ['step-11', '0', '4', '0'],
      ])
      await rows.nth(1).locator('a').click()
      await page.locator('.list-figures').waitFor()
      expect(await page.locator('.list-figures dd').first().textContent()).toMatch(/^4 of 12/)
      const shown = answered.find(({ steps }, i) => i % 3 === 1 && steps.length > 1) as EpisodeRecord
      await page.evaluate(`location.hash = location.hash.replace(/episodes.*/, 't/${shown.task.id}/${shown.attempt}')`)
      await page.locator('.entry.step').first().waitFor()
      const figure = page.locator('.figure-list > div', { has: page.getByText('policy version', { exact: true }) })
      expect(await figure.locator('dd').textContent()).toBe('step-10 to step-14, 4 updates later')
      const versions = await page.locator('.entry.step .answer-figures').allTextContents()
      expect(versions.slice(0, 2).map((text) => /version step-\d\d/.exec(text)?.[0])).toEqual([
        'version step-10',
        'version step-14',
      ])
      expect(faults).toEqual([])
      const { page: plain } = await openReport(records, 'baseline')
      expect(await plain.getByText('Policy versions').count()).toBe(0)
      await page.close()
      await plain.close()
    })

    it('shows what the steps of a leaf were worth between its forks', async () => {
      const leaves = playRun({ tasks: 1, attempts: 9, failures: 0 }).map((record, i): EpisodeRecord => {
        const path = [Math.floor(i / 3), i % 3]
        const step = { ...(record.steps[0] as EpisodeRecord['steps'][number]), stateHash: 'forked' }
        const earning = (total: number) => ({ ...step, reward: { total, terms: {}, shaping: 0 } })
        const steps = [earning(0), { ...earning(path[0] as number), stateHash: `${path[0]}` }, earning(i % 3)]
        const branch = { rollout: 0, leaves: 9, copies: 1, path, at: [1, 2], seeds: [null, null] }
        return { ...record, steps, branch }
      })
      const { page, faults } = await openReport(leaves, 'tree')
      const place = `t/${leaves[0]?.task.id}/8?tab=rewards`
      await page.evaluate(`location.hash = location.hash.replace(/(r\\/[^/?]+).*/, '$1/${place}')`)
      const rows = page.locator('section', { hasText: 'Advantages from forks' }).locator('tbody tr')
      await rows.first().waitFor()
      const cells = await rows.evaluateAll((all) =>
        all.map((row) => [...row.querySelectorAll('td')].map(({ textContent }) => textContent)),
      )
      expect(cells).toEqual([
        // Lines of 2, 3 and 4, siblings of 1 and 2 on average: 1.5 ± 4.303 · √(1 / 3 + 1 / 4), with two degrees of
        // freedom.
        ['2', '+1.50', '−1.79 to 4.79', '3.00', '3', '1.50', '2'],
        ['3', '+1.50', '–', '2.00', '1', '0.500', '2'],
      ])
      expect(faults).toEqual([])
      await page.close()
    })
  },
)
