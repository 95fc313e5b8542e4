import type { RunEntry } from '@episodic/report/view/run-entry'
import { type Browser, chromium, type Page } from 'playwright-core'
import { needProgram } from '../needs.ts'
import { startViewServer, type ViewServer } from './view-server.ts'

export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: needProgram('chromium'), args: ['--no-sandbox', '--disable-gpu'] })
}

/** A page on a server of its own. Disposing ends both. */
export interface OpenedPage extends AsyncDisposable {
  readonly page: Page
  readonly server: ViewServer
  /** Goes to an address, which may contain the id of the first run. */
  go(address: (run: string) => string): Promise<void>
}

/** Opens a page on a server of its own, which has read nothing yet but its list of files. */
export async function openPage(browser: Browser, runs: string): Promise<OpenedPage> {
  const server = await startViewServer(runs)
  const [run] = (await (await server.get('/api/runs')).json()) as [RunEntry]
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } })
  await context.addCookies([{ ...server.cookie, url: server.origin }])
  const page = await context.newPage()
  return {
    page,
    server,
    go: async (address) => void (await page.goto(`${server.origin}/#${address(run.id)}`)),
    async [Symbol.asyncDispose]() {
      await context.close()
      await server[Symbol.asyncDispose]()
    },
  }
}
