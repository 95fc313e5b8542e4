import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { lacksBrowser, useBrowser } from '@episodic/pages/file/browser.fixture'
import { AXE_VIOLATIONS, CONTRAST_VIOLATIONS, LAYOUT_FAULTS } from '@episodic/pages/server/page-checks.fixture'
import { PAYLOADS } from '@episodic/pages/server/payloads.fixture'
import { createRng } from '@episodic/protocol'
import type { RunEntry } from '@episodic/report/view/run-entry'
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop, type Workshop } from '../../../fixtures/episodic.fixture.ts'
import { copyWithPayloads, playRuns, REASONING, TEXT } from './played-runs.fixture.ts'
import { openWindow, startViewing, type Viewing } from './view.fixture.ts'

let workshop: Workshop
let viewing: Viewing
/** Where pages get their data: from the server, or from a file that has all of the runs. */
let homes: { readonly server: string; readonly file: string }
let runs: Readonly<Record<string, string>>
/** The first task of each run. */
let tasks: Readonly<Record<string, string>>
const browser = useBrowser()

beforeAll(async () => {
  if (lacksBrowser) return
  workshop = openWorkshop()
  await playRuns(workshop)
  copyWithPayloads(workshop, 'model', 'hostile', PAYLOADS)
  viewing = await startViewing(workshop)
  const entries = await viewing.json<RunEntry[]>('/api/runs')
  runs = Object.fromEntries(entries.map(({ name, id }) => [name === PAYLOADS[0] ? 'hostile' : name, id]))
  for (const { id } of entries) await viewing.detailOnce(id, ({ complete }) => complete)
  const shared = ['bundle', 'runs', '--compare', '--allow-secrets', '--out', 'all.html']
  expect(await workshop.main(shared)).toMatchObject({ status: 0 })
  homes = { server: `${viewing.origin}/`, file: pathToFileURL(join(workshop.folder, 'all.html')).href }
  tasks = Object.fromEntries(
    ['plain', 'random', 'model', 'hostile', 'game', 'branched'].map((name) => {
      const [line = ''] = readFileSync(join(workshop.folder, 'runs', name, 'episodes.jsonl'), 'utf8').split('\n', 1)
      return [name, JSON.parse(line).task.id]
    }),
  )
})
afterAll(async () => {
  viewing?.kill('SIGKILL')
  await viewing?.ended
  workshop?.[Symbol.dispose]()
})

/** Every screen, by its name, with a run of each kind. */
function addresses(): Record<string, string> {
  const task = (run: string) => `/r/${runs[run]}/t/${encodeURIComponent(tasks[run] ?? '')}`
  return {
    runs: '/',
    run: `/r/${runs.plain}`,
    'run of a model': `/r/${runs.model}`,
    ...Object.fromEntries(
      ['tasks', 'rewards', 'time', 'failures', 'grades', 'configuration'].map((tab) => [
        `tab ${tab}`,
        `/r/${runs.model}?tab=${tab}`,
      ]),
    ),
    'run of a game': `/r/${runs.game}`,
    'run of trees': `/r/${runs.branched}`,
    episodes: `/r/${runs.random}/episodes`,
    group: task('random'),
    'group of trees': task('branched'),
    episode: `${task('plain')}/0`,
    'episode of a model': `${task('model')}/0?step=1`,
    ...Object.fromEntries(
      ['state', 'rewards', 'sent', 'raw', 'grades'].map((tab) => [
        `episode ${tab}`,
        `${task('model')}/0?step=1&tab=${tab}`,
      ]),
    ),
    'episode of a game': `${task('game')}/0`,
    'rewards of a leaf': `${task('branched')}/0?tab=rewards`,
    compare: `/compare?runs=${runs.plain},${runs.random}&base=${runs.plain}`,
    'compare three': `/compare?runs=${runs.plain},${runs.random},${runs.model}&base=${runs.plain}&show=disagree`,
    search: '/search?q=middle',
    'label, start': `/r/${runs.model}/label`,
    'nothing there': '/r/0000000000',
  }
}

interface Opened extends AsyncDisposable {
  readonly page: Page
  /** Errors of the page, and requests to anything but where it came from. */
  readonly faults: string[]
  go(address: string): Promise<void>
  /** Waits until nothing is loading any more. */
  settled(): Promise<void>
}

const WINDOW = { width: 1_280, height: 900 }

async function open(home = homes.server): Promise<Opened> {
  const context = await openWindow(browser(), viewing, {
    viewport: WINDOW,
    colorScheme: 'light',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => {
    // The screen says itself that something is not there, or cannot be compared.
    if (message.type() === 'error' && !/status of 4(04|22)/.test(message.text())) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  const asked = new Set<Request>()
  let opening = 0
  page.on('request', (request) => {
    // The stream of events never ends.
    if (!request.url().endsWith('/api/events')) asked.add(request)
    if (!request.url().startsWith(home)) faults.push(`asked for ${request.url()}`)
  })
  page.on('requestfinished', (request) => asked.delete(request))
  page.on('requestfailed', (request) => asked.delete(request))
  return {
    page,
    faults,
    settled: () => settled(page, asked),
    async go(address) {
      // A document of its own each time, so that the screen before is not taken for this one.
      await page.goto(`${home}?${opening++}#${address}`)
      await settled(page, asked)
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

async function settled(page: Page, asked: ReadonlySet<Request>): Promise<void> {
  await page.locator('main :is(h1, .note:not(.loading))').first().waitFor()
  await expect.poll(() => page.locator(':is([aria-busy=true], .note.loading)').count()).toBe(0)
  await expect.poll(() => asked.size).toBe(0)
}

/** Returns what is wrong with the screen that is shown, and forgets its faults. */
async function problemsOf({ page, faults }: Opened, violations: string): Promise<string[]> {
  const found = [violations, LAYOUT_FAULTS].map((check) => page.evaluate<string[]>(check))
  return [...(await Promise.all(found)).flat(), ...faults.splice(0)]
}

const mainText = (page: Page) => page.locator('main').textContent()

/** Runs in a page: its texts, each element's apart, so that no figure runs into the age beside it. */
const TEXTS = `(() => {
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
  const texts = []
  let parent = null
  while (walker.nextNode()) {
    const { parentNode, data } = walker.currentNode
    if (parentNode === parent) texts[texts.length - 1] += data
    else texts.push(data)
    parent = parentNode
  }
  return texts
})()`

describe.skipIf(lacksBrowser)('the pages of episodic view', () => {
  it('show every screen accessibly and without faults, wide and 400 px wide, light and dark, and the same again from its address', async () => {
    await using opened = await open()
    const { page, faults, go } = opened
    const problems: string[] = []
    const note = async (name: string, violations: string) =>
      problems.push(...(await problemsOf(opened, violations)).map((problem) => `${name}: ${problem}`))
    const shown: [name: string, hash: string, texts: string[]][] = []
    for (const [name, address] of Object.entries(addresses())) {
      await go(address)
      await note(name, AXE_VIOLATIONS)
      shown.push([name, new URL(page.url()).hash, withoutAges(await page.evaluate(TEXTS))])
      await page.setViewportSize({ ...WINDOW, width: 400 })
      // Rows of long lists are measured again.
      await expect.poll(async () => [name, await page.evaluate(LAYOUT_FAULTS)]).toEqual([name, []])
      await note(`${name}, 400 px wide`, AXE_VIOLATIONS)
      await page.setViewportSize(WINDOW)
    }
    await page.emulateMedia({ colorScheme: 'dark' })
    for (const [name, hash, texts] of shown) {
      await go(hash.slice(1))
      await expect.poll(async () => [name, withoutAges(await page.evaluate(TEXTS))]).toEqual([name, texts])
      await note(`${name}, dark`, CONTRAST_VIOLATIONS)
    }
    expect(problems).toEqual([])
    expect(faults).toEqual([])
  })

  it.each(['server', 'file'] as const)('run nothing of what worlds, models and people wrote: %s', async (source) => {
    await using opened = await open(homes[source])
    const { page, faults, go } = opened
    const task = encodeURIComponent(tasks.hostile ?? '')
    const run = `/r/${runs.hostile}`
    const tabs = ['', '?tab=state', '?tab=rewards', '?tab=sent', '?tab=raw', '?tab=grades']
    for (const address of [
      ...['/', run, `${run}?tab=tasks`, `${run}?tab=rewards`, `${run}?tab=failures`, `${run}?tab=configuration`],
      ...[`${run}/episodes`, `${run}/t/${task}`, ...tabs.map((tab) => `${run}/t/${task}/0${tab}`), '/search?q=hacked'],
      // A file begins with its comparison.
      source === 'server' ? `/compare?runs=${runs.hostile},${runs.model}&base=${runs.model}` : '',
    ]) {
      await go(address)
      await page.evaluate('document.querySelectorAll("main details").forEach((one) => { one.open = true })')
    }
    expect(await page.evaluate('"hacked" in globalThis')).toBe(false)
    expect(faults).toEqual([])
  })

  it('show what the model said and thought at its steps, with tokens, cost, failures and calls that were not played', async () => {
    await using opened = await open()
    const { page, go } = opened
    await go(`/r/${runs.model}/t/${encodeURIComponent(tasks.model ?? '')}/0`)
    const text = await page.locator('main').textContent()
    for (const part of [REASONING, TEXT, '1,204', '88', '36', '900', 'not played']) expect(text).toContain(part)
    await go(`/search?q=${encodeURIComponent('half of what is LEFT')}`)
    await expect.poll(() => mainText(page)).toContain('Half of what is left')
    await page.locator('main a[href*="/t/"]').first().click()
    await opened.settled()
    expect(await page.locator('main').textContent()).toContain(REASONING)
  })

  it('show random addresses without an error', async () => {
    await using opened = await open()
    const { page, faults, go } = opened
    await go('/')
    const rng = createRng('addresses')
    const known = [...Object.values(addresses()), ...Object.values(runs), ...Object.values(tasks)]
    const parts = [
      ...known,
      'r',
      't',
      'episodes',
      'compare',
      'search',
      'label',
      '%',
      '%E0%A4%A',
      '..',
      '0',
      '999',
      '1.2',
      '-1',
      '',
    ]
    const random = Array.from({ length: 1_000 }, () => {
      const path = Array.from({ length: rng.int(0, 6) }, () => rng.pick(parts)).join('/')
      return `/${path}${rng.chance(0.4) ? `?${rng.pick(['q', 'tab', 'step', 'sort', 'runs', 'base'])}=${rng.pick(parts)}` : ''}`
    })
    // One after another in the page, which says what it shows once it has gone to each.
    const shown = await page.evaluate(`(async () => {
      const shown = []
      for (const address of ${JSON.stringify(random)}) {
        location.hash = address
        await new Promise((resolve) => setTimeout(resolve))
        shown.push([address, document.querySelectorAll('main').length])
      }
      return shown
    })()`)
    expect(shown).toEqual(random.map((address) => [address, 1]))
    await opened.settled()
    expect(faults).toEqual([])
  })
})

/** "3 s ago" is another text a second later. */
function withoutAges(texts: readonly string[]): string[] {
  return texts.map((text) => text.replaceAll(/now|\d+ (s|min|h|d)/g, ''))
}
