import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readComparedRun } from '@episodic/analysis/compare/read-compared-run'
import type { EpisodeRecord } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'
import type { RunManifest } from '@episodic/run/folder/record/run-folder'
import { afterAll, describe, expect, it } from 'vitest'
import { lacksBrowser, usePages } from './browser.fixture.ts'
import { renderComparedRuns } from './compare-page.ts'

const open = usePages()
const root = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => rmSync(root, { recursive: true }))

/** Writes runs to folders, and renders the page that compares them with the first. */
async function pageOf(runs: readonly (readonly EpisodeRecord[])[]): Promise<string> {
  const folders = runs.map((records, i) => {
    const name = `run-${i}`
    const configuration: RunManifest['configuration'] = {
      environment: { name: 'number-guessing', version: '1.0.0' },
      tasks: { from: 'generator', count: 20, difficulty: [0, 1], split: null },
      policy: { name: 'run', sha256: null },
      sampling: null,
      rollouts: 2,
      branch: [],
      maxSteps: null,
      weights: {},
      shaping: false,
      discount: 1,
      seed: '0',
    }
    const manifest: RunManifest = {
      format: 1,
      name,
      createdAt: '2026-01-01T00:00:00.000Z',
      scheduled: records.length,
      configuration,
      versions: {},
      played: { transport: 'in-process', concurrency: 1, processes: 1 },
    }
    const folder = join(root, name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'run.json'), JSON.stringify(manifest))
    writeFileSync(join(folder, 'episodes.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''))
    return folder
  })
  return renderComparedRuns([{ folders, runs: await Promise.all(folders.map((folder) => readComparedRun(folder))) }])
}

/** The page without its data and its script, which may contain any text. */
function figuresOf(page: string): string {
  return page.replaceAll(/<script.*?<\/script>/gs, '')
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

describe('renderComparedRuns', () => {
  it('contains only finite figures, for any runs', async () => {
    const [first] = a as [EpisodeRecord]
    const failed = { ...first, outcome: { kind: 'failed', error: { code: 'x', message: 'y' } }, returns: null } as const
    for (const [one, other] of [
      [a, b],
      [b, b],
      [[first], [first]],
      [[first], [failed]],
      [a.slice(0, 4), b],
    ] as const)
      expect(figuresOf(await pageOf([one, other]))).not.toMatch(/NaN|Infinity|undefined|\[object/)
  })

  it('is self-contained, and is deterministic', async () => {
    const page = await pageOf([a, b])
    expect(figuresOf(page)).not.toMatch(/https?:|\burl\(|@import|\bsrc=|\bstyle=/i)
    expect(page).toContain("default-src 'none'")
    expect(figuresOf(page)).toContain('Solved only by B')
    expect(await pageOf([a.toReversed(), b.toReversed()])).toBe(page)
  })
})

describe.skipIf(lacksBrowser)(
  'a comparison in a browser (needs Chromium: apt-get install chromium, or CHROMIUM_PATH)',
  () => {
    it('shows both plays of an episode that flipped', async () => {
      const { page, faults } = await open(await pageOf([a, b]))
      await page.locator('.chooser').waitFor()
      const flip = page.locator('details.flip').first()
      expect(await flip.locator('.pair').count()).toBe(0)
      await flip.locator('summary').click()
      await flip.locator('.beside-step').first().waitFor()
      expect(await flip.locator('.pair-head > div').count()).toBe(2)
      expect(await flip.locator('.beside-step').count()).toBeGreaterThan(4)
      expect(await page.locator('svg[role=img]').count()).toBe(1)
      expect(faults).toEqual([])
      await page.close()
    })
  },
)
