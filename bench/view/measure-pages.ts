import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EpisodeRecord } from '@episodic/protocol'
import type { RunEntry } from '@episodic/report'
import { type Browser, chromium, type Page } from 'playwright-core'
import { median, round2 } from '../figures.ts'
import { startViewServer, type ViewServer } from './view-server.ts'

/** Figures of pages in a real browser. Times are medians in milliseconds. */
export interface PageFigures {
  /** From the address of a list of episodes to its first rows; and by how much more than of a run of 100. */
  readonly firstRowsMs: number
  readonly firstRowsToSmall: number
  /** From the address to the list of runs; and by how much more than of one small run. */
  readonly listMs: number
  readonly listToSmall: number
  readonly sortMs: number
  readonly filterMs: number
  /** The longest task of the browser's main thread while all rows are scrolled through, and most elements at that time. */
  readonly scrollLongestTaskMs: number
  readonly mostNodes: number
  /** From the address of an episode of 1,000 steps to its first steps; and by how much more than of a short one. */
  readonly transcriptMs: number
  readonly transcriptToSmall: number
  readonly tabMebibytes: number
}

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

export async function measurePages({
  large,
  listed,
  small,
  rounds,
  say,
}: {
  /** Folders of runs: one large run, many of them, and one of 100 episodes. */
  readonly large: string
  readonly listed: string
  readonly small: string
  readonly rounds: number
  readonly say: (name: string, milliseconds: number) => void
}): Promise<PageFigures> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const times: Record<string, number[]> = {}
    const note = (name: string, milliseconds: number) => {
      say(name, milliseconds)
      times[name] = [...(times[name] ?? []), milliseconds]
    }
    const long = episodeOf(join(large, 'large'), 'longest')
    const short = episodeOf(join(small, 'large'), 'shortest')
    for (let round = 0; round < rounds; round++) {
      note('first rows', await timeTo(browser, large, (run) => `/r/${run}/episodes`, 'main tbody tr a'))
      note('first rows, small', await timeTo(browser, small, (run) => `/r/${run}/episodes`, 'main tbody tr a'))
      note('list', await timeTo(browser, listed, () => '/', 'main tbody tr a'))
      note('list, small', await timeTo(browser, small, () => '/', 'main tbody tr a'))
      note('transcript', await timeTo(browser, large, (run) => `/r/${run}/t/${long}`, '.entry.step'))
      note('transcript, small', await timeTo(browser, small, (run) => `/r/${run}/t/${short}`, '.entry.step'))
    }
    await using opened = await openPage(browser, large)
    const { page, go } = opened
    await go((run) => `/r/${run}/episodes`)
    await page.locator('main tbody tr a').first().waitFor()
    for (let round = 0; round < rounds; round++) {
      note('sort', await page.evaluate(timeOf('document.querySelector("main thead th button").click()')))
      const query = round % 2 === 0 ? 'success:no steps>5' : 'success:yes'
      note('filter', await page.evaluate(timeOf(typing(query))))
    }
    await page.evaluate(timeOf(typing('')))
    const { longest, nodes } = (await page.evaluate(SCROLL)) as { longest: number; nodes: number }
    say('scroll, longest task', longest)
    const session = await page.context().newCDPSession(page)
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    const typical = (name: string) => Math.round(median(times[name] ?? []))
    const toSmall = (name: string) => round2(median(times[name] ?? []) / median(times[`${name}, small`] ?? []))
    return {
      firstRowsMs: typical('first rows'),
      firstRowsToSmall: toSmall('first rows'),
      listMs: typical('list'),
      listToSmall: toSmall('list'),
      sortMs: typical('sort'),
      filterMs: typical('filter'),
      scrollLongestTaskMs: Math.round(longest),
      mostNodes: nodes,
      transcriptMs: typical('transcript'),
      transcriptToSmall: toSmall('transcript'),
      tabMebibytes: Math.round(usedSize / 1_048_576),
    }
  } finally {
    await browser.close()
  }
}

/** The address of the longest or of the shortest episode with steps among the last lines of a run. */
function episodeOf(folder: string, which: 'longest' | 'shortest'): string {
  const lines = readFileSync(join(folder, 'episodes.jsonl'))
    .subarray(-1_000_000)
    .toString()
    .trimEnd()
    .split('\n')
    .slice(1)
  const records = lines.map((line): EpisodeRecord => JSON.parse(line)).filter(({ steps }) => steps.length > 0)
  records.sort((a, b) => a.steps.length - b.steps.length)
  const { task, attempt } = records.at(which === 'longest' ? -1 : 0) as EpisodeRecord
  return `${encodeURIComponent(task.id)}/${attempt}`
}

interface OpenedPage extends AsyncDisposable {
  readonly page: Page
  go(address: (run: string) => string): Promise<void>
}

/** Opens a page on a server of its own, which has read nothing yet but its list of files. */
async function openPage(browser: Browser, runs: string): Promise<OpenedPage> {
  const server: ViewServer = await startViewServer(runs)
  const [run] = (await (await server.get('/api/runs')).json()) as [RunEntry]
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } })
  await context.addCookies([{ ...server.cookie, url: server.origin }])
  const page = await context.newPage()
  return {
    page,
    go: async (address) => void (await page.goto(`${server.origin}/#${address(run.id)}`)),
    async [Symbol.asyncDispose]() {
      await context.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

async function timeTo(
  browser: Browser,
  runs: string,
  address: (run: string) => string,
  shown: string,
): Promise<number> {
  await using opened = await openPage(browser, runs)
  const began = performance.now()
  await opened.go(address)
  await opened.page.locator(shown).first().waitFor()
  return performance.now() - began
}

/** A script of a page that resolves with the milliseconds from an action until its effect is painted. */
function timeOf(action: string): string {
  return `(async () => {
    const began = performance.now()
    const changed = new Promise((resolve) => {
      const observer = new MutationObserver(() => { observer.disconnect(); resolve() })
      observer.observe(document.querySelector('main tbody'), { childList: true, subtree: true, characterData: true })
    })
    ${action}
    await changed
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
    return performance.now() - began
  })()`
}

function typing(query: string): string {
  return `{
    const field = document.querySelector('.query-field input')
    field.value = ${JSON.stringify(query)}
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }`
}

/** Scrolls through all rows in 300 steps. */
const SCROLL = `(async () => {
  let longest = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration)
  }).observe({ entryTypes: ['longtask'] })
  let frame = document.querySelector('main tbody')
  while (frame && frame.scrollHeight <= frame.clientHeight + 100) frame = frame.parentElement
  let nodes = 0
  for (let step = 0; step <= 300; step++) {
    frame.scrollTop = (frame.scrollHeight - frame.clientHeight) * step / 300
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
    nodes = Math.max(nodes, document.querySelectorAll('*').length)
  }
  return { longest, nodes }
})()`
