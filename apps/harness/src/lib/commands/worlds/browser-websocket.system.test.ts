import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { lacksBrowser, useBrowser } from '@episodic/pages/file/browser.fixture'
import { META, METHODS } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, type Serving } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
// Another site that the same machine happens to serve.
const browser = useBrowser('--host-resolver-rules=MAP other.example 127.0.0.1')
let pages: Server
let server: Serving

beforeAll(async () => {
  if (lacksBrowser) return
  pages = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<title>A page</title>'))
  await once(pages.listen(0, '127.0.0.1'), 'listening')
  server = await workshop.serve([exampleWorld('number-guessing')])
})
afterAll(() => {
  pages?.close()
  workshop[Symbol.dispose]()
})

/** Plays an episode in a page of a host with the browser's WebSocket. Returns the hints, or why it was rejected. */
async function playInPage(host: string, token: string): Promise<string[]> {
  const page = await browser().newPage()
  await page.goto(`http://${host}:${(pages.address() as AddressInfo).port}/`)
  const url = server.url.replace(/^http/, 'ws')
  return page.evaluate(
    async ({ url, token, methods, meta }) => {
      const socket = new WebSocket(url, ['episodic', `episodic.bearer.${encodeURIComponent(token)}`])
      const opened = await new Promise((resolve) => {
        socket.onopen = () => resolve(true)
        socket.onclose = () => resolve(false)
      })
      if (!opened) return ['refused']
      let id = 0
      const ask = (method: string, params: object) =>
        new Promise<{ session: string; structuredContent: { hint: string } }>((resolve) => {
          socket.onmessage = ({ data }) => resolve(JSON.parse(data).result)
          socket.send(JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }))
        })
      const { session } = await ask(methods.open, {
        environment: 'number-guessing',
        requestKey: crypto.randomUUID(),
        params: { low: 1, high: 3 },
      })
      const hints: string[] = []
      for (const value of [1, 2, 3]) {
        const call = { name: 'guess', arguments: { value }, _meta: { [meta.session]: session } }
        const { structuredContent } = await ask('tools/call', call)
        hints.push(structuredContent.hint)
        if (hints.at(-1) === 'correct') break
      }
      socket.close()
      return hints
    },
    { url, token, methods: METHODS, meta: META },
  )
}

describe.skipIf(lacksBrowser)(
  'the WebSocket in a browser (needs Chromium: apt-get install chromium, or CHROMIUM_PATH)',
  () => {
    const token = () => readFileSync(server.tokenFile, 'utf8').trim()

    it('accepts a page of this machine, which plays an episode', async () => {
      const hints = await playInPage('127.0.0.1', token())
      expect(hints.at(-1)).toBe('correct')
      expect(new Set(hints.slice(0, -1))).toEqual(hints.length > 1 ? new Set(['higher']) : new Set())
    })

    it('rejects a page without the token, and a page of another site with it', async () => {
      expect(await playInPage('127.0.0.1', 'no-token-of-this-server')).toEqual(['refused'])
      expect(await playInPage('other.example', token())).toEqual(['refused'])
    })
  },
)
