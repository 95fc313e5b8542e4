import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { EpisodeRecord } from '@episodic/protocol'
import {
  type ComparedRuns,
  type EmbeddedRun,
  type EmbeddedRuns,
  type EpisodeStates,
  lineFileOf,
  type RowWords,
  STATIC_FILES,
  type StaticRuns,
  unpackStaticIndex,
} from '@episodic/report'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacksBrowser, useBrowser } from '../../fixtures/browser.fixture.ts'
import { exampleWorld, openWorkshop, readEpisodes, sealAgain } from '../../fixtures/episodic.fixture.ts'
import { serveStatic } from './static-server.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)
const world = exampleWorld('number-guessing')
/** A seed that is found nowhere by chance. */
const SEED = 'seed-canary'
const many = `runs/random-${SEED}`
const few = `runs/solver-${SEED}`

beforeAll(async () => {
  for (const args of [
    ['--tasks', '105', '--rollouts', '2', '--policy', 'random', '--out', many],
    ['--tasks', '6', '--policy', 'solver', '--out', few],
  ]) {
    const { status, err } = await workshop.main(['run', world, '--seed', SEED, ...args])
    expect(status, err).toBe(0)
  }
})

/** The files of a folder by their names, those of data unpacked. */
function filesOf(folder: string): ReadonlyMap<string, Buffer> {
  const names = readdirSync(at(folder), { recursive: true, withFileTypes: true })
  return new Map(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        const bytes = readFileSync(path)
        const name = path.slice(at(folder).length + 1).replace(/^data-[0-9a-f]{10}\//, '')
        return [name, name.endsWith('.gz') ? gunzipSync(bytes) : bytes]
      }),
  )
}

/** Reads a folder as a page does, into what a file would hold. */
function read(folder: string) {
  const files = filesOf(folder)
  const bytes = (name: string) => files.get(name) as Buffer
  const json = <T>(name: string): T => JSON.parse(bytes(name).toString('utf8'))
  const content = json<StaticRuns>(STATIC_FILES.runs)
  const runs = content.runs.map(({ id }) => {
    const index = unpackStaticIndex(bytes(STATIC_FILES.index(id)))
    const words: RowWords[] = []
    const lines: { [row: string]: string } = {}
    const states: { [row: string]: EpisodeStates } = {}
    for (const [row, place] of index.places.entries()) {
      const number = Math.floor(place / index.wordsPerFile)
      words.push(json<RowWords[]>(STATIC_FILES.words(id, number))[place % index.wordsPerFile] as RowWords)
      const file = lineFileOf(index, place)
      const within = place - (index.lineFiles[file] as number)
      const text = bytes(STATIC_FILES.lines(id, file)).toString('utf8').split('\n')[within]
      if (text) lines[row] = text
      if (content.states) {
        const own = json<(EpisodeStates | null)[]>(STATIC_FILES.states(id, file))[within]
        if (own) states[row] = own
      }
    }
    const run: EmbeddedRun = {
      detail: json(STATIC_FILES.detail(id)),
      columns: bytes(STATIC_FILES.columns(id)).toString('base64'),
      words,
      lines,
      ...(content.states && { states }),
      grades: json(STATIC_FILES.grades(id)),
      gradeSummary: json(STATIC_FILES.gradeSummary(id)),
    }
    return { run, lineFiles: index.lineFiles }
  })
  const embedded: EmbeddedRuns = {
    format: 1,
    title: content.title,
    runs: runs.map(({ run }) => run),
    compared: content.compared.map((_, i) => json<ComparedRuns>(STATIC_FILES.compared(i))),
    withheld: content.withheld,
  }
  return { embedded, files, lineFiles: runs.map(({ lineFiles }) => lineFiles) }
}

function readFile(file: string): EmbeddedRuns {
  const [, data = ''] = /id="data">([^<]*)</.exec(readFileSync(at(file), 'utf8')) ?? []
  return JSON.parse(gunzipSync(Buffer.from(data, 'base64')).toString('utf8'))
}

async function bundle(out: string, ...args: string[]) {
  rmSync(at(out), { recursive: true, force: true })
  const { status, err } = await workshop.main(['bundle', ...args, '--out', out])
  expect([status, err]).toEqual([0, expect.stringContaining(`${out} is to hold:`)])
}

describe('episodic bundle to a folder', () => {
  it.each([
    ['all of two runs', [many, few, '--compare']],
    ['some bytes of it', [many, '--bytes', '60000']],
    ['what a query matches', [many, '--query', 'success:no attempt:1']],
    ['less than all', [many, few, '--compare', '--withhold', 'seeds,params,prompts,private']],
    ['its public states', [few, '--states', 'public', '--world', world]],
  ])('holds the same as a file does: %s', async (_, args) => {
    await bundle('site', ...args)
    await bundle('site.html', ...args)
    expect(read('site').embedded).toEqual(readFile('site.html'))
    expect(readdirSync(workshop.folder).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it('has the lines of a long run in several files, and says what it holds', async () => {
    const { status, out, err } = await workshop.main(['bundle', many, '--out', 'public/long', '--json'])
    expect([status, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toMatchObject({ folder: at('public/long'), runs: 1, episodes: 210, whole: 210 })
    const { embedded, lineFiles } = read('public/long')
    expect(lineFiles[0]!.length).toBeGreaterThan(1)
    const sealed = readFileSync(at(many, 'episodes.jsonl'), 'utf8').trimEnd().split('\n')
    expect(Object.values(embedded.runs[0]!.lines).toSorted()).toEqual(sealed.toSorted())
    expect(embedded.withheld).toEqual([])
  })

  it('leaves out of every file what is withheld', async () => {
    const { seed, task, policy, steps } = readEpisodes(at(few))[0] as EpisodeRecord
    const canaries = [SEED, seed, policy.seed, task.prompt, steps[0]!.stateHash!]
    const found = (folder: string) =>
      canaries.map((canary) => [...filesOf(folder).values()].some((bytes) => bytes.includes(canary)))
    await bundle('whole', many, few, '--compare')
    expect(found('whole')).toEqual(canaries.map(() => true))
    await bundle('less', many, few, '--compare', '--withhold', 'seeds,params,prompts,private')
    expect(found('less')).toEqual(canaries.map(() => false))
  })

  it('stops at what looks like a secret, in whichever file it would be', async () => {
    const key = `sk-proj-${'abcdefgh01234567'.repeat(3)}`
    cpSync(at(many), at('leaking'), { recursive: true })
    const episodes = readEpisodes(at(many))
    const last = episodes.at(-1) as EpisodeRecord
    const steps = last.steps.map((step, i) =>
      i === 0 ? { ...step, observation: { ...step.observation, text: `The key is ${key}.` } } : step,
    )
    const lines = [...episodes.slice(0, -1), sealAgain({ ...last, steps })]
    writeFileSync(at('leaking/episodes.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const stopped = await workshop.main(['bundle', 'leaking', '--out', 'stopped'])
    expect([
      stopped.status,
      stopped.out,
      existsSync(at('stopped')),
      readdirSync(workshop.folder).some((name) => name.endsWith('.part')),
    ]).toEqual([1, '', false, false])
    expect(stopped.err).toContain('steps.0.observation.text has an API key')
    expect(stopped.err).not.toContain(key)
    await bundle('leaked', 'leaking', '--allow-secrets')
    expect([...filesOf('leaked').values()].some((bytes) => bytes.includes(key))).toBe(true)
  })

  it('replaces nothing: it takes a folder that is new or empty', async () => {
    mkdirSync(at('taken'))
    writeFileSync(at('taken/other'), 'of somebody')
    const taken = await workshop.main(['bundle', few, '--out', 'taken'])
    expect([
      taken.status,
      readdirSync(at('taken')),
      readdirSync(workshop.folder).some((name) => name.endsWith('.part')),
    ]).toEqual([2, ['other'], false])
    expect(taken.err).toContain('--out taken is a folder that is not empty, and nothing in it is replaced.')
    const file = await workshop.main(['bundle', few, '--out', 'taken/other'])
    expect([file.status, file.err]).toEqual([2, expect.stringContaining('--out taken/other is a file already.')])
    mkdirSync(at('empty'))
    await bundle('empty', few)
    const [page, data] = readdirSync(at('empty')).toSorted().reverse()
    expect([page, data]).toEqual(['index.html', expect.stringMatching(/^data-[0-9a-f]{10}$/)])
    // The same runs give the same names, and others do not.
    await bundle('again', few)
    await bundle('others', few, '--withhold', 'params')
    const names = (folder: string) => readdirSync(at(folder)).find((name) => name.startsWith('data-'))
    expect(names('again')).toBe(data)
    expect(names('others')).not.toBe(data)
  })
})

describe.skipIf(lacksBrowser)(
  'a shared folder in a browser (needs Chromium: apt-get install chromium, or CHROMIUM_PATH)',
  () => {
    const browser = useBrowser()

    it('shows every screen by its address, with plain requests to its own server', async () => {
      await bundle('public/site', many, few, '--compare', '--withhold', 'params')
      await using server = await serveStatic(at('public'), false)
      const page = await browser().newPage()
      const faults: string[] = []
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
      page.on('pageerror', (error) => faults.push(error.message))
      page.on('request', (request) => request.url().startsWith(server.url) || faults.push(`asked for ${request.url()}`))
      const { embedded } = read('public/site')
      const [a, b] = embedded.runs.map(({ detail }) => detail.entry.id) as [string, string]
      const row = 200
      const { task, attempt, prompt } = embedded.runs[0]!.words[row]!
      const record = JSON.parse(embedded.runs[0]!.lines[row]!) as EpisodeRecord
      await page.goto(`${server.url}site/`)
      await page.locator('main', { hasText: `solver-${SEED}` }).waitFor()
      await expect.poll(() => page.evaluate('location.hash')).toContain('#/compare?')
      const data = () => server.asked.filter((path) => path.includes('/data-'))
      // Lines are asked for when an episode is shown.
      expect(data().filter((path) => /lines-|states-/.test(path))).toEqual([])
      for (const [hash, text] of [
        ['#/', `random-${SEED}`],
        [`#/r/${a}`, `random-${SEED}`],
        [`#/r/${b}?tab=configuration`, 'Settings of the run'],
        [`#/r/${a}/episodes?q=attempt%3A1`, '105'],
        [`#/r/${a}/t/${task.slice(0, 12)}`, prompt],
        [`#/r/${a}/t/${task.slice(0, 12)}/${attempt}?step=1`, record.steps[0]!.observation.text],
        [`#/r/${a}/t/${task.slice(0, 12)}/${attempt}?tab=raw`, '▲ of the line as it was sealed; withheld here: params'],
        [`#/search?q=${encodeURIComponent('whole number')}`, 'whole number'],
        [`#/compare?runs=${a}%2C${b}&base=${a}`, `random-${SEED}`],
      ] as const) {
        // Each by its address alone, as one who was sent it.
        await page.goto('about:blank')
        await page.goto(`${server.url}site/${hash}`)
        await page.locator('main', { hasText: text }).waitFor()
        await page.locator('.withheld', { hasText: 'Withheld: parameters of tasks' }).waitFor()
      }
      await page.goto(`${server.url}site/#/r/0000000000`)
      await page.getByText('This folder does not contain the run 0000000000.').waitFor()
      // Whole files, so that any server will do.
      expect(server.asked.filter((path) => path.includes('bytes='))).toEqual([])
      expect(faults).toEqual([])
      await page.close()
    })

    it('is read from a server that says of its files that they are gzipped', async () => {
      await bundle('public/zipped', few, '--states', 'public', '--world', world)
      await using server = await serveStatic(at('public'), true)
      const page = await browser().newPage()
      const [run] = read('public/zipped').embedded.runs as [EmbeddedRun]
      const { task, steps } = JSON.parse(run.lines[0]!) as EpisodeRecord
      await page.goto(`${server.url}zipped/#/r/${run.detail.entry.id}/t/${task.id}/0?step=1`)
      await page.locator('main', { hasText: steps[0]!.observation.text }).waitFor()
      await page.goto(`${server.url}zipped/#/r/${run.detail.entry.id}/t/${task.id}/0?step=1&tab=state`)
      await page.locator('main', { hasText: 'After step 1' }).waitFor()
      await page.close()
    })

    it('keeps verdicts of people in the browser, and says what is wrong with the server', async () => {
      await bundle('public/judged', few)
      await using server = await serveStatic(at('public'), false)
      const page = await browser().newPage()
      const [run] = read('public/judged').embedded.runs as [EmbeddedRun]
      await page.addInitScript(`localStorage.setItem('episodic.label.who', 'Ada')`)
      await page.goto(`${server.url}judged/#/r/${run.detail.entry.id}/label/polite`)
      await page.locator('.label-place', { hasText: '1 of 6' }).waitFor()
      await page.keyboard.press('1')
      await page.locator('.own-verdicts', { hasText: '1 verdict' }).waitFor()
      const [data = ''] = readdirSync(at('public/judged')).filter((name) => name.startsWith('data-'))
      rmSync(at('public/judged', data, STATIC_FILES.lines(run.detail.entry.id, 0)))
      // A page that is opened anew, and so has no line in its memory.
      await page.goto('about:blank')
      await page.goto(`${server.url}judged/#/r/${run.detail.entry.id}/t/${run.words[5]!.task}/0`)
      await page.getByText(/The web server answered 404 to .* Is the folder complete\?/).waitFor()
      await page.close()
    })
  },
)
