import type { EpisodeRecord } from '@episodic/protocol'
import type { Flip } from '@episodic/report'
import { showEpisode } from '@episodic/report'
import { playRun } from '@episodic/report/testing'
import { describe, expect, it } from 'vitest'
import { HOSTILE, lacksBrowser, usePages } from '../browser.fixture.ts'
import type { RunManifest } from '../run/record/run-folder.ts'
import { compareRuns } from './compare-runs.ts'
import { createPlayedTasks } from './played-tasks.ts'
import { renderComparison } from './render-comparison.ts'

const open = usePages()

/** The page of two runs, with every play of every flip. */
function pageOf(a: readonly EpisodeRecord[], b: readonly EpisodeRecord[], name = 'run'): string {
  const configuration: RunManifest['configuration'] = {
    environment: { name: 'number-guessing', version: '1.0.0' },
    tasks: { from: 'generator', count: 20, difficulty: [0, 1], split: null },
    policy: { name, sha256: null },
    sampling: null,
    rollouts: 2,
    branch: [],
    maxSteps: null,
    weights: {},
    shaping: false,
    discount: 1,
    seed: '0',
  }
  const [runA, runB] = [a, b].map((records) => {
    const { tasks, add } = createPlayedTasks()
    for (const record of records) add(record)
    return { manifest: { name, scheduled: records.length, configuration }, tasks }
  })
  const comparison = compareRuns(runA!, runB!)
  const shown = (flip: Flip) => {
    const play = (records: readonly EpisodeRecord[]) => {
      const record = records.find(({ task, attempt }) => task.id === flip.task && attempt === flip.attempt)
      return record && showEpisode(record)
    }
    return { ...flip, plays: { a: play(a), b: play(b) } }
  }
  const { gained, lost } = comparison.episodes
  return renderComparison(comparison, { gained: gained.flips.map(shown), lost: lost.flips.map(shown) })
}

const a = playRun({ tasks: 20, attempts: 2, failures: 0.1 })
/** The same tasks with other results, so that some episodes flip in each direction. */
const b = a.map(
  (record, i): EpisodeRecord => ({
    ...record,
    outcome: { kind: 'finished', end: { kind: 'terminated', reason: i % 3 ? 'solved' : 'out-of-guesses' } },
    returns: { total: 0, unshaped: i % 3 ? 1 : -0.1, discounted: 0 },
  }),
)

describe('renderComparison', () => {
  it('contains only finite figures, for any runs', () => {
    const [first] = a as [EpisodeRecord]
    const failed = { ...first, outcome: { kind: 'failed', error: { code: 'x', message: 'y' } }, returns: null } as const
    for (const [one, other] of [
      [a, b],
      [b, b],
      [[first], [first]],
      [[first], [failed]],
      [a.slice(0, 4), b],
    ] as const)
      expect(pageOf(one, other)).not.toMatch(/NaN|Infinity|undefined|\[object/)
  })

  it('is self-contained, has no script, and is deterministic', () => {
    const page = pageOf(a, b)
    expect(page).not.toMatch(/https?:|\burl\(|@import|\b(src|href)=|<script/i)
    expect(page).toContain("default-src 'none'")
    expect(pageOf(a.toReversed(), b.toReversed())).toBe(page)
  })
})

describe.skipIf(lacksBrowser)(
  'a comparison in a browser (needs Chromium: apt-get install chromium, or CHROMIUM_PATH)',
  () => {
    it('shows both plays of an episode that flipped', async () => {
      const { page, faults } = await open(pageOf(a, b))
      const flip = page.locator('details').first()
      expect(await flip.locator('.sides').isVisible()).toBe(false)
      await flip.locator('summary').click()
      expect(await flip.locator('.sides > div').count()).toBe(2)
      expect(await flip.locator('.sides').isVisible()).toBe(true)
      expect(await flip.locator('.step').count()).toBeGreaterThan(4)
      expect(await page.locator('svg[role=img]').count()).toBe(2)
      expect(faults).toEqual([])
      await page.close()
    })

    it.each([320, 768])('does not scroll sideways at %i pixels', async (width) => {
      const { page } = await open(pageOf(a, b), width)
      await page.locator('details').first().locator('summary').click()
      const past = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      expect(past).toBe(0)
      await page.close()
    })

    it('shows hostile texts without running them', async () => {
      const hostile = (records: readonly EpisodeRecord[]) =>
        records.map((record): EpisodeRecord => {
          const reason = record.returns && record.returns.unshaped > 0 ? HOSTILE : `${HOSTILE} lost`
          return {
            ...record,
            task: { ...record.task, id: record.task.id + HOSTILE, prompt: HOSTILE },
            policy: { name: HOSTILE, seed: HOSTILE },
            steps: record.steps.map((step) => ({
              ...step,
              action: { tool: HOSTILE, arguments: { [HOSTILE]: HOSTILE } },
              observation: { text: HOSTILE, structured: { [HOSTILE]: HOSTILE } },
            })),
            outcome:
              record.outcome.kind === 'failed'
                ? record.outcome
                : { kind: 'finished', end: { kind: 'terminated', reason } },
          }
        })
      const { page, faults } = await open(pageOf(hostile(a), hostile(b), HOSTILE))
      await page.locator('details').first().locator('summary').click()
      expect(await page.locator('details .prompt').first().textContent()).toBe(HOSTILE)
      expect(await page.evaluate('window.hacked')).toBeUndefined()
      expect(await page.locator('img').count()).toBe(0)
      expect(faults).toEqual([])
      await page.close()
    })
  },
)
