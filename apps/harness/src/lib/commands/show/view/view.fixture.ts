import type { RunDetail, RunEntry } from '@episodic/report/view/run-entry'
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import type { Started, Workshop } from '../../../fixtures/episodic.fixture.ts'

/** A server of `episodic view`, with a browser's cookie. */
export interface Viewing extends Started {
  /** The address of the server, without a path. */
  readonly origin: string
  readonly cookie: string
  /** With `--play`: what its page plays with. */
  readonly playToken: string | null
  get(path: string, init?: RequestInit): Promise<Response>
  json<T>(path: string): Promise<T>
  /** Asks again until the run is as expected. */
  detailOnce(run: string, holds: (detail: RunDetail) => boolean): Promise<RunDetail>
  /** The only run with this name. */
  runNamed(name: string): Promise<RunEntry>
}

/** Starts the command and logs in. */
export async function startViewing(workshop: Workshop, args: readonly string[] = []): Promise<Viewing> {
  const started = workshop.start(['view', ...args, '--port', '0', '--no-open', '--json'])
  const [line] = await started.until(/^\{"url".*\}$/m)
  const { url } = JSON.parse(line) as { url: string }
  const { origin, hash } = new URL(url)
  const cookie = await logIn(url)
  const get = (path: string, init: RequestInit = {}) =>
    fetch(`${origin}${path}`, { ...init, headers: { cookie, ...init.headers } })
  const json = async <T>(path: string) => {
    const response = await get(path)
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }
  return {
    ...started,
    origin,
    cookie,
    playToken: new URLSearchParams(hash.split('?')[1]).get('play'),
    get,
    json,
    async detailOnce(run, holds) {
      for (;;) {
        const detail = await json<RunDetail>(`/api/r/${run}`)
        if (holds(detail)) return detail
      }
    },
    async runNamed(name) {
      const [found, ...others] = (await json<RunEntry[]>('/api/runs')).filter((run) => run.name === name)
      if (!found || others.length > 0) throw new Error(`There are ${others.length} more runs named ${name}.`)
      return found
    },
  }
}

/** A window of a browser that is logged in at the server. */
export async function openWindow(
  browser: Browser,
  { origin, cookie }: Viewing,
  options: BrowserContextOptions,
): Promise<BrowserContext> {
  const context = await browser.newContext(options)
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url: origin }])
  return context
}

/** Exchanges the token in a printed address for a cookie, as the page does. */
export async function logIn(url: string): Promise<string> {
  const { origin, hash } = new URL(url)
  const token = new URLSearchParams(hash.split('?')[1]).get('token')
  const response = await fetch(`${origin}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ token }),
  })
  if (!response.ok) throw new Error(`Cannot log in: ${await response.text()}`)
  return String(response.headers.get('set-cookie')).split(';')[0] as string
}
