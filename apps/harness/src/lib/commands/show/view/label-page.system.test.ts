import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bisecting, startChatServer } from '@episodic/models/chat-server.fixture'
import { lacksBrowser, useBrowser } from '@episodic/pages/file/browser.fixture'
import type { EpisodeRecord } from '@episodic/protocol'
import { createGradableLines, sealNameOf } from '@episodic/report/grades/gradable-lines'
import type { GradeRecord } from '@episodic/report/grades/grade-record'
import { personRef, personVerdictOf } from '@episodic/report/grades/labels'
import { formatNumber } from '@episodic/report/text/format'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../../fixtures/episodic.fixture.ts'
import { openWindow, startViewing, type Viewing } from './view.fixture.ts'

const MODEL = 'secret-model-7'
const RUN = `${MODEL}-run`
const OTHER = 'played-by-random'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const browser = useBrowser()
const folder = join(workshop.folder, 'runs', RUN)
const gradesFile = join(folder, 'grades.jsonl')
const gradesNow = (file = gradesFile): GradeRecord[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
const gradesOf = (who: string, file = gradesFile) => gradesNow(file).filter(({ grader }) => grader.who === who)
let viewing: Viewing
/** In the order in which people judge them. */
let episodes: readonly EpisodeRecord[]

beforeAll(async () => {
  await using server = await startChatServer((request) => ({ ...bisecting(request), model: `${MODEL}-served` }))
  const world = exampleWorld('number-guessing')
  const player = ['--policy', `llm:${MODEL}`, '--base-url', server.url]
  expect(
    await workshop.main(['run', world, ...player, '--tasks', '6', '--out', `runs/${RUN}`], {
      env: { OPENAI_API_KEY: 'sk-nobody-may-read-this' },
    }),
  ).toMatchObject({ status: 0 })
  const other = ['run', world, '--policy', 'random', '--tasks', '6', '--out', `runs/${OTHER}`]
  expect(await workshop.main(other)).toMatchObject({ status: 0 })
  const lines = createGradableLines()
  for (const record of readEpisodes(folder)) lines.add(record)
  const ordered = lines.list()
  episodes = ordered.map(({ seal }) => readEpisodes(folder).find((record) => sealNameOf(record) === seal)!)
  const bo = personRef('bobby', { name: 'clear', version: '1', scale: 'boolean' })
  const said = ordered.map((line) =>
    personVerdictOf({
      person: bo,
      run: RUN,
      line,
      value: false,
      why: 'what-bobby-wrote',
      drawn: true,
      earlier: [],
      at: '2026-01-01T00:00:00.000Z',
    }),
  )
  appendFileSync(gradesFile, said.map((grade) => `${JSON.stringify(grade)}\n`).join(''))
  viewing = await startViewing(workshop)
})

/** Opens an address as a person with a browser of its own, so tall that all of an episode is drawn. */
async function open(address: string): Promise<Page> {
  const context = await openWindow(browser(), viewing, { viewport: { width: 1_280, height: 6_000 } })
  const page = await context.newPage()
  page.on('pageerror', (error) => {
    throw error
  })
  await page.goto(`${viewing.origin}/${address}`)
  return page
}

/** Fills the form in, and waits for the first episode. */
async function begin(page: Page, who: string, episodes = 6): Promise<void> {
  await page.getByLabel('Your name').fill(who)
  await page.getByLabel('Name of the question').fill('clear')
  await page.getByRole('button', { name: 'Begin' }).click()
  await page.getByText(`1 of ${episodes}`).waitFor()
}

/** All that a page contains, texts and attributes, but for its code. */
const contentOf = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const copy = document.documentElement.cloneNode(true)
    for (const code of copy.querySelectorAll('script, style')) code.remove()
    return copy.innerHTML
  })()`)

/** The address of the form. */
const labelAddress = async () => `#/r/${(await viewing.runNamed(RUN)).id}/label`

describe.skipIf(lacksBrowser)('the label screen', () => {
  it('hides reward, end, player, model and other verdicts until they are asked for after a verdict', async () => {
    const page = await open(await labelAddress())
    await begin(page, 'ada')
    const [first] = episodes as [EpisodeRecord]
    await page.getByText(first.task.prompt, { exact: false }).first().waitFor()
    await page.getByRole('button', { name: `Choose step ${first.steps.length}` }).waitFor()
    const end = first.outcome.kind === 'finished' ? first.outcome.end.reason : ''
    const returned = formatNumber(first.returns?.unshaped ?? 0)
    const hidden = [MODEL, RUN, end, returned, 'bobby', 'what-bobby-wrote']
    expect(hidden.every((text) => text.length > 3)).toBe(true)
    const content = await contentOf(page)
    expect(hidden.filter((text) => content.includes(text))).toEqual([])

    await page.keyboard.press('1')
    const revealed = page.locator('.label-revealed')
    await revealed.getByText('You said yes').waitFor()
    await page.getByText('2 of 6').waitFor()
    const judged = await contentOf(page)
    expect(hidden.filter((text) => judged.includes(text))).toEqual([])
    await page.getByRole('button', { name: 'Show how it ended and who played' }).click()
    await revealed.getByText(MODEL).waitFor()
    const shown = (await revealed.textContent()) ?? ''
    expect(['You said yes', end, returned, `llm:${MODEL}`].filter((text) => !shown.includes(text))).toEqual([])
  })

  it('keeps verdicts by keys, with marked steps as evidence, and takes the last one back', async () => {
    const page = await open(await labelAddress())
    await begin(page, 'cleo')
    const [first, second] = episodes as [EpisodeRecord, EpisodeRecord]
    await page.getByRole('button', { name: 'Choose step 2' }).click()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('m')
    await page.getByText('marked: step 1, step 2').waitFor()
    await page.keyboard.press('w')
    // While a text is being written, its letters are no keys.
    await page.keyboard.type('u2z is a note')
    await page.getByLabel('Why').blur()
    await page.keyboard.press('2')
    await page.getByText('2 of 6').waitFor()
    await page.keyboard.press('u')
    await page.getByText('3 of 6').waitFor()
    const [one, two] = gradesOf('cleo')
    expect(one).toMatchObject({
      task: first.task.id,
      attempt: first.attempt,
      seal: sealNameOf(first),
      grader: { name: 'clear', kind: 'person', who: 'cleo' },
      value: false,
      why: 'u2z is a note',
      drawn: true,
      revision: 0,
    })
    expect(one?.evidence.map(({ step, found }) => [step, found])).toEqual([
      [0, true],
      [1, true],
    ])
    for (const { step, quote } of one?.evidence ?? []) {
      expect(quote.length).toBeGreaterThan(0)
      expect(first.steps[step]?.observation.text).toContain(quote)
    }
    expect(two).toMatchObject({ seal: sealNameOf(second), value: null, evidence: [], revision: 0 })

    await page.keyboard.press('z')
    await page.getByText(second.task.prompt, { exact: false }).first().waitFor()
    await page.getByRole('button', { name: /^1 yes/ }).click()
    await page.getByText('You said yes').waitFor()
    expect(gradesOf('cleo').map(({ seal, value, revision }) => [seal, value, revision])).toEqual([
      [sealNameOf(first), false, 0],
      [sealNameOf(second), null, 0],
      [sealNameOf(second), true, 1],
    ])
  })

  it('shows two people the same episodes, and neither overwrites the other', async () => {
    const address = await labelAddress()
    const [dan, eve] = [await open(address), await open(address)]
    await Promise.all([begin(dan, 'dan'), begin(eve, 'eve')])
    const earlier = gradesNow().length
    for (const place of ['2 of 6', '3 of 6', '4 of 6']) {
      await Promise.all([dan.keyboard.press('1'), eve.keyboard.press('2')])
      await Promise.all([dan.getByText(place).waitFor(), eve.getByText(place).waitFor()])
    }
    const seals = episodes.slice(0, 3).map(sealNameOf)
    expect(gradesOf('dan').map(({ seal, value }) => [seal, value])).toEqual(seals.map((seal) => [seal, true]))
    expect(gradesOf('eve').map(({ seal, value }) => [seal, value])).toEqual(seals.map((seal) => [seal, false]))
    expect(gradesNow()).toHaveLength(earlier + 6)
    // In a later visit, a person goes on where they stopped.
    await dan.reload()
    await dan.getByText('4 of 6').waitFor()
  })
})
