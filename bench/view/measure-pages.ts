import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EpisodeRecord } from '@episodic/protocol'
import type { Browser } from 'playwright-core'
import { median } from '../figures.ts'
import { openBrowser, openPage } from './open-page.ts'

/** Figures of pages in a real browser. Times are medians in milliseconds, until something is painted. */
export interface PageFigures {
  /** From the address of a list of episodes to its first rows, and the same of a run of 100 episodes. */
  readonly firstRows: number
  readonly firstRowsOfSmall: number
  /** From the address to the list of runs, and the same of one small run. */
  readonly list: number
  readonly listOfSmall: number
  /** From a click on a column to the sorted rows, and from a query to its rows with their figures. */
  readonly sort: number
  readonly filter: number
  /**
   * The longest task of the browser's main thread while all rows are scrolled through, and all of a long transcript.
   */
  readonly scrollLongestTask: number
  readonly transcriptLongestTask: number
  /** Elements in the page, at most. */
  readonly mostNodes: number
  /** From a click in the list to the first steps of an episode of 1,000 steps. */
  readonly transcript: number
  /** From its address to its first steps, and the same of a short episode of a small run. */
  readonly transcriptFromAddress: number
  readonly shortTranscriptFromAddress: number
  /** Of the tab's heap. */
  readonly tabMebibytes: number
}

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
  await using browser = await openBrowser()
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
    note('transcript from its address', await timeTo(browser, large, (run) => `/r/${run}/t/${long}`, '.entry.step'))
    note(
      'transcript from its address, small',
      await timeTo(browser, small, (run) => `/r/${run}/t/${short}`, '.entry.step'),
    )
  }
  await using opened = await openPage(browser, large)
  const { page, go } = opened
  await go((run) => `/r/${run}/episodes`)
  await page.locator('main tbody tr a').first().waitFor()
  const whole = await page.getByRole('table').getAttribute('aria-rowcount')
  for (let round = 0; round < rounds; round++) {
    note('sort', await page.evaluate(timeOf('document.querySelector("main thead th button").click()')))
    const query = round % 2 === 0 ? 'success:no steps>5' : 'success:yes'
    note('filter', await page.evaluate(timeOf(typing(query))))
  }
  await page.evaluate(typing(''))
  await page.locator(`table[aria-rowcount="${whole}"]`).waitFor()
  const rows = (await page.evaluate(SCROLL)) as Scrolled
  say('scroll, longest task', rows.longest)
  for (let round = 0; round < rounds; round++) {
    // The longest episode alone.
    await page.evaluate(typing('steps>=1000'))
    await page.locator('table[aria-rowcount="2"] .row-link').waitFor()
    note('transcript', await page.evaluate(OPEN))
    if (round < rounds - 1) await page.goBack()
    if (round < rounds - 1) await page.locator('.query-field input').waitFor()
  }
  const steps = (await page.evaluate(SCROLL)) as Scrolled
  say('scroll of the transcript, longest task', steps.longest)
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const typical = (name: string) => Math.round(median(times[name] ?? []))
  return {
    firstRows: typical('first rows'),
    firstRowsOfSmall: typical('first rows, small'),
    list: typical('list'),
    listOfSmall: typical('list, small'),
    sort: typical('sort'),
    filter: typical('filter'),
    scrollLongestTask: Math.round(rows.longest),
    transcriptLongestTask: Math.round(steps.longest),
    mostNodes: Math.max(rows.nodes, steps.nodes),
    transcript: typical('transcript'),
    transcriptFromAddress: typical('transcript from its address'),
    shortTranscriptFromAddress: typical('transcript from its address, small'),
    tabMebibytes: Math.round(usedSize / 1_048_576),
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

/** Opens the first episode of the list. */
const OPEN = `(async () => {
  const began = performance.now()
  const shown = new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector('.entry.step')) return
      observer.disconnect()
      resolve()
    })
    observer.observe(document.body, { childList: true, subtree: true })
  })
  document.querySelector('.row-link').click()
  await shown
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  return performance.now() - began
})()`

/** What {@link SCROLL} saw: milliseconds and elements. */
interface Scrolled {
  readonly longest: number
  readonly nodes: number
}

/** Scrolls from the first to the last row in 300 steps: a table within its frame, a transcript with the page. */
const SCROLL = `(async () => {
  let longest = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration)
  }).observe({ entryTypes: ['longtask'] })
  let frame = document.querySelector('main tbody, main .virtual')
  while (frame.parentElement && (frame.scrollHeight <= frame.clientHeight + 100 || getComputedStyle(frame).overflowY === 'visible'))
    frame = frame.parentElement
  let nodes = 0
  for (let step = 0; step <= 300; step++) {
    frame.scrollTop = (frame.scrollHeight - frame.clientHeight) * step / 300
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
    nodes = Math.max(nodes, document.querySelectorAll('*').length)
  }
  return { longest, nodes }
})()`
