import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, inject } from 'vitest'

const executablePath = inject('programs').chromium ?? ''

/** Whether there is no browser. */
export const lacksBrowser: boolean = executablePath === ''

/** A text that attacks a page which does not escape it. */
export const HOSTILE = `</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">"'&<!--`

/** Starts a browser before the tests of a file, and closes it after them. Returns a function that returns it. */
export function useBrowser(...args: readonly string[]): () => Browser {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (lacksBrowser) return
    browser = await chromium.launch({
      executablePath,
      timeout: 120_000,
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run', ...args],
    })
  })
  afterAll(() => browser?.close())
  return () => browser as Browser
}

/** A page of a file, with the errors and the requests that it should not have. */
export interface OpenedPage {
  readonly page: Page
  readonly faults: readonly string[]
}

/** Returns a function that opens HTML as a file in a browser, which is started and closed with the tests. */
export function usePages(): (html: string, width?: number) => Promise<OpenedPage> {
  const browser = useBrowser()
  const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  return async (html, width = 1_280) => {
    const file = join(folder, 'page.html')
    writeFileSync(file, html)
    const page = await browser().newPage({ viewport: { width, height: 900 } })
    const faults: string[] = []
    const address = pathToFileURL(file).href
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('request', (request) => request.url() !== address && faults.push(`asked for ${request.url()}`))
    await page.goto(address)
    return { page, faults }
  }
}
