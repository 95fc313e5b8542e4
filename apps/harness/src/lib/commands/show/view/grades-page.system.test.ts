import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lacksBrowser, useBrowser } from '@episodic/pages/file/browser.fixture'
import { embedRun } from '@episodic/pages/file/embed-run'
import { reportContent } from '@episodic/pages/file/render-report'
import { AXE_VIOLATIONS, LAYOUT_FAULTS } from '@episodic/pages/server/page-checks.fixture'
import { summarySchema } from '@episodic/report/fold/summary'
import { createGradableLines, sealNameOf } from '@episodic/report/grades/gradable-lines'
import type { GradeRecord } from '@episodic/report/grades/grade-record'
import type { GradeSummary } from '@episodic/report/grades/grade-summary'
import { personRef, personVerdictOf } from '@episodic/report/grades/labels'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../../fixtures/episodic.fixture.ts'
import { openWindow, startViewing, type Viewing } from './view.fixture.ts'

const GRADERS = `
import { defineGrader } from '${import.meta.resolve('@episodic/report/grades/grader')}'
export const graders = [defineGrader({
  name: 'brief', version: '1', scale: 'boolean',
  grade: ({ steps }) => ({ value: steps.length < 8, why: steps.length + ' steps' }),
})]
`

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const browser = useBrowser()
let viewing: Viewing
const folder = join(workshop.folder, 'runs/graded')
const gradesFile = join(folder, 'grades.jsonl')

/** All lines of the run, in the order of their draw. */
function linesOf() {
  const lines = createGradableLines()
  for (const record of readEpisodes(folder)) lines.add(record)
  return lines.list()
}

/** Verdicts of a person on the first lines: those of the grader, but for every fifth. */
function labels(who: string, count: number): GradeRecord[] {
  const person = personRef(who, { name: 'brief', version: '1', scale: 'boolean' })
  const steps = new Map(readEpisodes(folder).map((record) => [sealNameOf(record), record.steps.length]))
  return linesOf()
    .slice(0, count)
    .map((line, i) => {
      const value = (steps.get(line.seal) as number) < 8 !== (i % 5 === 0)
      const at = '2026-01-01T00:00:00.000Z'
      return personVerdictOf({ person, run: 'graded', line, value, drawn: true, earlier: [], at })
    })
}

function append(grades: readonly GradeRecord[]): void {
  appendFileSync(gradesFile, grades.map((grade) => `${JSON.stringify(grade)}\n`).join(''))
}

beforeAll(async () => {
  writeFileSync(join(workshop.folder, 'graders.ts'), GRADERS)
  const world = exampleWorld('number-guessing')
  const play = ['run', world, '--policy', 'careless', '--tasks', '20', '--rollouts', '2', '--out', 'runs/graded']
  expect(await workshop.main(play)).toMatchObject({ status: 0 })
  expect(await workshop.main(['grade', 'runs/graded', '--grader', './graders.ts'])).toMatchObject({ status: 0 })
  append(labels('ada', 10))
  expect(await workshop.main(['grade', 'runs/graded'])).toMatchObject({ status: 0 })
  const plain = ['run', world, '--policy', 'solver', '--tasks', '5', '--out', 'runs/plain']
  expect(await workshop.main(plain)).toMatchObject({ status: 0 })
  viewing = await startViewing(workshop)
})

async function open(address: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await openWindow(browser(), viewing, { viewport: { width: 1_280, height: 800 }, ...options })
  const page = await context.newPage()
  page.on('pageerror', (error) => {
    throw error
  })
  await page.goto(`${viewing.origin}/${address}`)
  return page
}

describe('the figures of verdicts', () => {
  it('are those that the command writes, from a server and in a file', async () => {
    const written: GradeSummary = JSON.parse(readFileSync(join(folder, 'grades.json'), 'utf8'))
    expect(written.graders).toHaveLength(2)
    const { id } = await viewing.runNamed('graded')
    expect(await viewing.json(`/api/r/${id}/grade-summary`)).toEqual(written)

    const summary = summarySchema.parse(JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')))
    const grades: GradeRecord[] = readFileSync(gradesFile, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const lines = () => readFileSync(join(folder, 'episodes.jsonl'), 'utf8').trim().split('\n')
    const run = { name: 'graded', scheduled: 40, configuration: {} }
    expect((await embedRun(reportContent(summary, run, { lines, grades }))).gradeSummary).toEqual(written)
  })
})

describe.skipIf(lacksBrowser)('the grades of a run', () => {
  it('shows rates, agreement and the labels that are missing, and opens the episodes of a pair of values', async () => {
    const { id } = await viewing.runNamed('graded')
    const { graders, agreements } = await viewing.json<GradeSummary>(`/api/r/${id}/grade-summary`)
    const page = await open(`#/r/${id}?tab=grades`)
    const rate = graders.find(({ grader }) => grader.kind === 'function')?.rate
    const row = page.getByRole('row', { name: /^brief Label… function/ })
    expect(await row.textContent()).toContain(`${((rate?.rate ?? 0) * 100).toFixed(1)} %`)
    await page.getByText('20 labels missing').waitFor()
    const kappa = page.getByRole('row', { name: /^brief brief by ada/ })
    expect(await kappa.textContent()).toContain(agreements[0]?.kappa.value?.toFixed(3) as string)

    const apart = agreements[0]?.matrix[0]?.[1] ?? []
    const cell = page.getByRole('button', { name: /no by the first, yes by the second/ })
    expect(await cell.textContent()).toBe(String(apart.length))
    await cell.click()
    const links = page.locator('.figures .episode-links a')
    await links.first().waitFor()
    expect(await links.count()).toBe(apart.length)
    await links.first().click()
    await page.waitForURL(new RegExp(`/t/${apart[0]?.task}/${apart[0]?.attempt}`))
    await page.goBack()
    expect(await row.getByRole('link', { name: 'Label…' }).getAttribute('href')).toBe(`#/r/${id}/label/brief`)
  })

  it.each([
    { width: 1_280, colorScheme: 'light' },
    { width: 1_280, colorScheme: 'dark' },
    { width: 400, colorScheme: 'light' },
    { width: 400, colorScheme: 'dark' },
  ] as const)('are accessible, and nothing lies over another: $width pixels, $colorScheme', async (window) => {
    const { id } = await viewing.runNamed('graded')
    const viewport = { width: window.width, height: 1_600 }
    const page = await open(`#/r/${id}?tab=grades`, { viewport, colorScheme: window.colorScheme })
    await page.getByRole('button', { name: /no by the first, no by the second/ }).click()
    await page.locator('.figures .episode-links a').first().waitFor()
    expect(await page.evaluate(AXE_VIOLATIONS)).toEqual([])
    expect(await page.evaluate(LAYOUT_FAULTS)).toEqual([])
  })
})
