import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bisecting, startChatServer } from '@episodic/models/chat-server.fixture'
import { lacksBrowser, usePages } from '@episodic/pages/file/browser.fixture'
import { pageJson } from '@episodic/pages/file/page-content.fixture'
import type { EpisodeRecord } from '@episodic/protocol'
import { summarySchema } from '@episodic/report/fold/summary'
import { gradeRecordSchema } from '@episodic/report/grades/grade-record'
import type { EmbeddedRun, EmbeddedRuns } from '@episodic/report/view/embedded-runs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, sealAgain } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)
const world = exampleWorld('number-guessing')
const open = usePages()

/** A seed that is found nowhere by chance. */
const SEED = 'seed-canary'

/** The content of a file, and all of its text: the page and what is packed in it. */
function unpack(file: string): { readonly content: EmbeddedRuns; readonly text: string } {
  const html = readFileSync(at(file), 'utf8')
  const json = pageJson(html)
  return { content: JSON.parse(json), text: html + json }
}

const linesOf = ({ lines }: EmbeddedRun) => Object.values(lines).map((line) => JSON.parse(line) as EpisodeRecord)

async function bundle(...args: string[]): Promise<EmbeddedRuns & { readonly text: string }> {
  const { status, err } = await workshop.main(['bundle', ...args, '--out', 'shared.html'])
  expect([status, err]).toEqual([0, expect.stringContaining('shared.html is to hold:')])
  const { content, text } = unpack('shared.html')
  return { ...content, text }
}

beforeAll(async () => {
  await using server = await startChatServer(bisecting)
  const tasks = ['--tasks', '6', '--rollouts', '2', '--seed', SEED]
  const model = ['--policy', 'llm:m', '--base-url', server.url]
  for (const args of [
    [...tasks, '--policy', 'solver', '--out', `runs/solver-${SEED}`],
    [...tasks, '--policy', 'random', '--out', `runs/random-${SEED}`],
    [...tasks, ...model, '--out', `runs/model-${SEED}`],
  ]) {
    const { status, err } = await workshop.main(['run', world, ...args], { env: { OPENAI_API_KEY: 'x' } })
    expect(status, err).toBe(0)
  }
})

const solver = `runs/solver-${SEED}`
const random = `runs/random-${SEED}`

describe('episodic bundle', () => {
  it('says what the file holds, and embeds all runs of a folder with their lines as they were sealed', async () => {
    const { status, out, err } = await workshop.main(['bundle', 'runs', '--out', 'all.html', '--json'])
    expect([status, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toEqual({
      file: at('all.html'),
      runs: 3,
      episodes: 36,
      whole: 36,
      transcripts: 12,
      prompts: true,
      params: true,
      seeds: true,
      states: 'none',
      heldOut: 0,
      canaries: [],
      verdicts: 0,
      people: [],
      comparisons: 0,
      bytes: readFileSync(at('all.html')).length,
    })
    const { content } = unpack('all.html')
    for (const run of content.runs) {
      const folder = at('runs', run.detail.entry.name)
      const sealed = readFileSync(join(folder, 'episodes.jsonl'), 'utf8').trimEnd().split('\n')
      expect(Object.values(run.lines).toSorted()).toEqual(sealed.toSorted())
      const { summary } = run.detail
      expect(summary).toEqual(summarySchema.parse(JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8'))))
      expect(run.states).toBeUndefined()
    }
    // Nothing of this machine.
    expect(JSON.stringify(content)).not.toContain(workshop.folder)
  })

  it('keeps as many whole episodes as --bytes allows, and says so', async () => {
    const { runs, withheld } = await bundle(random, '--bytes', '0')
    expect(Object.keys((runs as [EmbeddedRun])[0].lines)).toEqual([])
    expect(withheld).toEqual(['0 of 12 episodes are here step by step.'])
  })

  it('embeds public states, and private ones only if asked', async () => {
    const given = ['--world', world]
    const { runs } = await bundle(solver, '--states', 'public', ...given)
    const [run] = runs as [EmbeddedRun]
    const states = Object.values(run.states ?? {})
    expect(states).toHaveLength(12)
    for (const { source, partsAt, start, steps } of states) {
      expect([source, partsAt, start?.private]).toEqual(['replayed', null, null])
      expect(steps.flatMap((step) => step.private)).toEqual([])
    }
    expect(states.flatMap(({ steps }) => steps.flatMap((step) => step.public)).length).toBeGreaterThan(12)
    const whole = await bundle(solver, '--states', 'all', ...given)
    for (const { start } of Object.values(whole.runs[0]?.states ?? {})) expect(start?.private).not.toBeNull()
    const withheld = await bundle(solver, '--states', 'all', '--withhold', 'private', ...given)
    for (const { start } of Object.values(withheld.runs[0]?.states ?? {})) expect(start?.private).toBeNull()
    const both = ['--states', 'all', '--withhold', 'private', ...given]
    const counted = await workshop.main(['bundle', solver, ...both, '--out', 'both.html', '--json'])
    expect(JSON.parse(counted.out)).toMatchObject({ states: 'public', seeds: true })
    cpSync(at(solver), at('elsewhere'), { recursive: true })
    const environment = { name: 'played-elsewhere', version: '1.0.0' }
    const lines = readEpisodes(at(solver)).map((line) => `${JSON.stringify(sealAgain({ ...line, environment }))}\n`)
    writeFileSync(at('elsewhere/episodes.jsonl'), lines.join(''))
    const none = await workshop.main(['bundle', 'elsewhere', '--states', 'public', '--out', 'none.html'])
    expect([none.status, existsSync(at('none.html'))]).toEqual([2, false])
    expect(none.err).toContain('There is no world played-elsewhere under worlds/ or examples/')
  })

  it('stops at what looks like a secret, and names its place alone', async () => {
    const key = `sk-proj-${'abcdefgh01234567'.repeat(3)}`
    cpSync(at(random), at('leaking'), { recursive: true })
    const [first, ...others] = readEpisodes(at(random)) as [EpisodeRecord, ...EpisodeRecord[]]
    const steps = first.steps.map((step, i) =>
      i === 1 ? { ...step, observation: { ...step.observation, text: `The key is ${key}.` } } : step,
    )
    const lines = [sealAgain({ ...first, steps }), ...others]
    writeFileSync(at('leaking/episodes.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const stopped = await workshop.main(['bundle', 'leaking', '--out', 'leaking.html'])
    expect([stopped.status, stopped.out, existsSync(at('leaking.html'))]).toEqual([1, '', false])
    const place = `task ${first.task.id.slice(0, 12)}, attempt ${first.attempt}: steps.1.observation.text has an API key`
    expect(stopped.err).toContain(place)
    expect(stopped.err).not.toContain(key)
    expect((await workshop.main(['bundle', 'leaking', '--out', 'leaking.html', '--allow-secrets'])).status).toBe(0)
    expect(unpack('leaking.html').text).toContain(key)
    // Leaving the episode out helps, but not by a query that says the key.
    for (const [query, file, status] of [
      [`-task:${first.task.id}`, 'others.html', 0],
      [`-"${key}"`, 'said.html', 1],
    ] as const) {
      const ended = await workshop.main(['bundle', 'leaking', '--query', query, '--out', file])
      expect([ended.status, existsSync(at(file))]).toEqual([status, status === 0])
    }
    expect(unpack('others.html').text).not.toContain(key)
  })

  it('refuses what it cannot do', async () => {
    mkdirSync(at('empty'), { recursive: true })
    for (const [args, status, message] of [
      [['nowhere', '--out', 'a.html'], 1, /There is no folder nowhere/],
      [['empty', '--out', 'a.html'], 1, /There is no run in empty/],
      [[random, '--compare', '--out', 'a.html'], 2, /--compare needs two or more runs/],
      [[random, '--out', 'a'], 2, /--out a does not end in \.html/],
      [[random, solver, '--compare', '--query', 'success:no', '--out', 'a.html'], 2, /leave --query or --compare out/],
      [[random, '--query', 'success:maybe', '--out', 'a.html'], 2, /from character 9 on/],
      [[random, '--withhold', 'seeds,names', '--out', 'a.html'], 2, /There is no part "names"/],
    ] as const) {
      const ended = await workshop.main(['bundle', ...args])
      expect(ended.err).toMatch(message)
      expect(ended.status).toBe(status)
      expect([existsSync(at('a.html')), existsSync(at('a'))]).toEqual([false, false])
    }
  })
})

describe.skipIf(lacksBrowser)(
  'a shared file in a browser (needs Chromium: apt-get install chromium, or CHROMIUM_PATH)',
  () => {
    const go = async (page: Page, hash: string) => {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    }

    it('opens every screen by its address, without a request', async () => {
      const shared = await bundle(random, solver, '--compare', '--states', 'public', '--world', world)
      const { page, faults } = await open(readFileSync(at('shared.html'), 'utf8'))
      const [a, b] = shared.runs.map(({ detail }) => detail.entry.id) as [string, string]
      const [first] = linesOf(shared.runs[0] as EmbeddedRun) as [EpisodeRecord]
      const task = first.task.id.slice(0, 12)
      await page.getByText('100.0 %').first().waitFor()
      expect(await page.evaluate('location.hash')).toContain('#/compare?')
      for (const [hash, text] of [
        ['#/', `random-${SEED}`],
        [`#/r/${a}`, `random-${SEED}`],
        [`#/r/${b}?tab=configuration`, 'Settings of the run'],
        [`#/r/${a}/episodes?q=attempt%3A1`, '6'],
        [`#/r/${a}/t/${task}`, first.task.prompt],
        [`#/r/${a}/t/${task}/${first.attempt}?step=1`, first.steps[0]?.observation.text ?? ''],
        [`#/r/${a}/t/${task}/${first.attempt}?step=1&tab=state`, 'After step 1'],
        [`#/search?q=${encodeURIComponent('whole number')}`, 'whole number'],
        [`#/compare?runs=${a}%2C${b}&base=${a}`, `random-${SEED}`],
      ] as const) {
        await go(page, hash)
        await page.locator('main', { hasText: text }).waitFor()
      }
      expect(faults).toEqual([])
      await page.close()
    })

    it('shows both plays of an episode that flipped', async () => {
      await bundle(random, solver, '--compare')
      const { page, faults } = await open(readFileSync(at('shared.html'), 'utf8'))
      const flip = page.locator('details.flip').first()
      await flip.locator('summary').click()
      await flip.locator('.beside-step').first().waitFor()
      expect(await flip.locator('.pair-head > div').count()).toBe(2)
      expect(faults).toEqual([])
      await page.close()
    })

    it('keeps verdicts of people in the browser, and gives them out as lines of grades.jsonl', async () => {
      const { runs } = await bundle(random)
      const html = readFileSync(at('shared.html'), 'utf8')
      const { page, faults } = await open(html)
      const [run] = runs as [EmbeddedRun]
      const { id } = run.detail.entry
      await page.evaluate(`localStorage.setItem('episodic.label.who', 'Ada')`)
      await page.reload()
      await go(page, `#/r/${id}/label/polite`)
      for (const [before, key] of ['1', '2', 'u'].entries()) {
        await page.locator('.label-place', { hasText: `${before + 1} of 12` }).waitFor()
        await page.keyboard.press(key)
        await page.locator('.own-verdicts', { hasText: `${before + 1} verdict` }).waitFor()
      }
      await page.reload()
      await page.locator('.label-place', { hasText: '4 of 12' }).waitFor()
      await go(page, `#/r/${id}?tab=grades`)
      const downloading = page.waitForEvent('download')
      await page.getByText('Download verdicts').click()
      const download = await downloading
      expect(download.suggestedFilename()).toBe(`grades-${id}.jsonl`)
      const lines = readFileSync(await download.path(), 'utf8')
      const grades = lines
        .trimEnd()
        .split('\n')
        .map((line) => gradeRecordSchema.parse(JSON.parse(line)))
      expect(grades.map(({ value }) => value)).toEqual([expect.any(Boolean), expect.any(Boolean), null])
      expect(grades.map(({ grader }) => grader.who)).toEqual(['Ada', 'Ada', 'Ada'])
      const sealed = new Set(readEpisodes(at(random)).map(({ seal }) => seal))
      expect(grades.every(({ seal }) => sealed.has(seal))).toBe(true)
      // Beside the run they are verdicts as any other.
      cpSync(at(random), at('graded'), { recursive: true })
      writeFileSync(at('graded/grades.jsonl'), lines)
      const again = await workshop.main(['bundle', 'graded', '--out', 'graded.html', '--json'])
      expect(JSON.parse(again.out)).toMatchObject({ verdicts: 3, people: ['Ada'] })
      expect(faults.filter((fault) => !fault.startsWith('asked for blob:'))).toEqual([])
      await page.close()
    })
  },
)
