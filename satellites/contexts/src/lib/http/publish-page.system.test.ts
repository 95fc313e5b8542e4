import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { conversationEnvironment } from '../environment/conversation-environment.ts'
import { lacksBrowser, useBrowser } from '../fixtures/browser.fixture.ts'
import { createFerry } from '../fixtures/ferry.fixture.ts'
import { serveConversations } from './serve-conversations.ts'

const browser = useBrowser()

it.skipIf(lacksBrowser)(
  'shows on the page of a conversation what its handlers publish, as events (needs Chromium)',
  async () => {
    const environment = conversationEnvironment(createFerry(), {
      version: '1.0.0',
      description: 'Book ferries.',
      params: z.object({}),
      goal: { schema: z.object({}), draw: () => ({}), describe: () => 'Look around.', reached: () => false },
    })
    const host = createHost({ environments: [environment] })
    const server = await serveHttp(host, { extraRoutes: serveConversations(host, [environment]) })
    onTestFinished(async () => {
      await server[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
    })
    const page = await browser().newPage()
    await page.goto(`http://127.0.0.1:${server.port}/conversations/ferry`)
    await page.getByRole('status').getByText('Connected').waitFor()
    const book = 'book-ferry 1 {"ferry":"Dover"}'
    const texts = [book, book, book, 'pay 1', 'pay 1']
    for (const [index, text] of texts.entries()) {
      await page.getByLabel('Your message').fill(text)
      await page.getByRole('button', { name: 'Send' }).click()
      await page.locator('#lines li[data-by="user"]:not([data-pending])').nth(index).waitFor()
    }
    await page.locator('#lines li', { hasText: 'You wait for a place to Dover.' }).waitFor()
    expect((await page.locator('#lines li').allTextContents()).slice(-6)).toEqual([
      'pay 1',
      'Paid.',
      'Back to your booking.',
      'Event: sold-out',
      'The last place to Dover is gone.',
      'You wait for a place to Dover.',
    ])
    expect((await page.locator('#log li').allTextContents()).slice(-5)).toEqual([
      '5booking: ready → paid',
      '5booking finished',
      '5booking resumed in ready',
      '6event sold-out',
      '6booking: ready → waiting',
    ])
    expect(await page.locator('#machine .lit').getAttribute('data-state')).toBe('waiting')
  },
)
