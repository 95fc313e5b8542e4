import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import type { JsonObject, OpenResult } from '@episodic/protocol'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { conversationEnvironment } from '../environment/conversation-environment.ts'
import { lacksBrowser, useBrowser } from '../fixtures/browser.fixture.ts'
import { travel } from '../fixtures/travel.fixture.ts'
import { serveConversations } from './serve-conversations.ts'

const browser = useBrowser()

const environment = conversationEnvironment(travel, {
  version: '1.0.0',
  description: 'Book a flight, ask for the weather, get your money back.',
  params: z.object({}),
  goal: { schema: z.object({}), draw: () => ({}), describe: () => 'Look around.', reached: () => false },
})

/** Serves the conversation, and opens its page. An error or warning in the page's console fails the test. */
async function openPage(
  options: BrowserContextOptions = {},
  openStore: () => SessionStore | Promise<SessionStore> = createMemoryStore,
) {
  let store = await openStore()
  let host = createHost({ environments: [environment], store })
  let server = await serve(0)
  const context = await browser().newContext(options)
  const complaints: string[] = []
  const opened: OpenResult[] = []
  onTestFinished(async () => {
    await context.close()
    await server[Symbol.asyncDispose]()
    await host[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
    expect(complaints.filter((text) => !text.includes('ERR_CONNECTION_REFUSED'))).toEqual([])
  })
  const page = await context.newPage()
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  const url = `http://127.0.0.1:${server.port}/conversations/travel`
  await page.goto(url)
  await page.getByRole('status').getByText('Connected').waitFor()
  return {
    page,
    url,
    context,
    say: (text: string) => sayIn(page, text),
    publish: async (type: string, data: JsonObject) => {
      const session = await host.resolve(null, { by: 'control', token: opened[0]?.session as string })
      return session.publish({ id: type, type, data: { data, to: 'conversation' } })
    },
    /**
     * Restarts the server at the same port, which drops every connection; with another store,
     * if given.
     */
    async restart(reopen?: typeof openStore) {
      const { port, controlToken } = server
      await server[Symbol.asyncDispose]()
      await page.getByRole('status').getByText('Connection lost').waitFor()
      if (reopen) {
        await host[Symbol.asyncDispose]()
        await store[Symbol.asyncDispose]()
        store = await reopen()
        host = createHost({ environments: [environment], store })
      }
      server = await serve(port, controlToken)
    },
  }

  function serve(port: number, controlToken?: string) {
    const extraRoutes = serveConversations(host, [environment], { onOpened: (session) => opened.push(session) })
    return serveHttp(host, { port, extraRoutes, ...(controlToken && { auth: { controlToken } }) })
  }
}

async function sayIn(page: Page, text: string): Promise<void> {
  await page.getByLabel('Your message').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
  await page.locator('#lines li[data-by="user"]:not([data-pending])', { hasText: text }).last().waitFor()
}

const lines = (page: Page) => page.locator('#lines li').allTextContents()
const lit = (page: Page) => page.locator('#machine .lit').getAttribute('data-state')
const open = (page: Page) => page.locator('#stack strong').allTextContents()

const BOOK = 'book-flight 1 {"from":"Lahore"}'

describe.skipIf(lacksBrowser)(
  'the page of a conversation (needs Chromium: apt-get install chromium, or CHROMIUM_PATH)',
  () => {
    it('shows the chat, the present state in the machine, the stack, every transition, and events', async () => {
      const { page, say, publish } = await openPage()
      await say(BOOK)
      expect(await lines(page)).toEqual([BOOK, 'Where do you fly to?'])
      expect([await lit(page), await open(page)]).toEqual(['collecting', ['booking']])
      await say('ask-refund 1')
      expect([await lit(page), await open(page)]).toEqual(['open', ['support', 'booking']])
      await page.getByRole('button', { name: 'booking' }).click()
      expect(await lit(page)).toBe('collecting')
      expect(await page.locator('#log li').allTextContents()).toEqual([
        '1booking opened in collecting',
        '2booking suspended in collecting',
        '2support opened in open',
      ])
      await page.getByLabel('Your message').press('Enter')
      expect(await lines(page)).toHaveLength(4)
      await publish('price-changed', { price: 250 })
      await page.getByText('The price is now 250.').waitFor()
      expect(await page.locator('#log [data-kind="event"]').textContent()).toContain('event price-changed')
    })

    it('resumes after a dropped connection and after a reload, with no turn lost or repeated', async () => {
      const { page, say, restart } = await openPage()
      await say(BOOK)
      await restart()
      // Sent while the server is down.
      await sayIn(page, 'set-passengers 1 {"count":3}')
      await say('set-route 1 {"to":"Dubai"}')
      const before = await lines(page)
      expect(before.filter((text) => text === '3 fly.')).toHaveLength(1)
      await page.reload()
      await page.getByText('Lahore to Dubai for 100: shall I book?').waitFor()
      expect(await lines(page)).toEqual(before)
      await say('pay 1')
      expect(await open(page)).toEqual([])
    })

    it.each(['light', 'dark'] as const)(
      'can be read in the %s scheme, by everybody, and on a telephone',
      async (colorScheme) => {
        const { page, say } = await openPage({ colorScheme, viewport: { width: 380, height: 800 } })
        await say('<b>hello</b>')
        await say(BOOK)
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
        expect(wide).toBeLessThanOrEqual(380)
        for (const text of ['#lines li[data-by="assistant"]', '#lines li[data-by="user"]', '#description', '#accepts'])
          expect(await contrastOf(page, text)).toBeGreaterThan(4.5)
        expect(await page.locator('#machine [aria-current] strong').textContent()).toBe('collecting')
      },
    )
  },
)

/** The contrast ratio of a text and its background (WCAG 2). */
function contrastOf(page: Page, selector: string): Promise<number> {
  return page.evaluate<number>(`(${CONTRAST})([...document.querySelectorAll(${JSON.stringify(selector)})].at(-1))`)
}

/** Runs in the page. */
const CONTRAST = `(element) => {
  const light = (color) => {
    const context = document.createElement('canvas').getContext('2d')
    context.fillStyle = color
    context.fillRect(0, 0, 1, 1)
    const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((part) => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  let behind = element
  while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement
  const [one, other] = [light(getComputedStyle(element).color), light(getComputedStyle(behind).backgroundColor)]
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
}`
