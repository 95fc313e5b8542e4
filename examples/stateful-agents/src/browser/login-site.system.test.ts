import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { LocalSite } from '../local-site.ts'
import { MEMBER, openLoginSite } from './login-site.ts'

const executablePath = inject('programs').chromium

describe.skipIf(executablePath === null)('the login site (needs Chromium: apt-get install chromium)', () => {
  let site: LocalSite
  let browser: Browser
  beforeAll(async () => {
    site = await openLoginSite()
    browser = await chromium.launch({
      executablePath: executablePath as string,
      args: ['--no-sandbox'],
      timeout: 120_000,
    })
    browser.on('context', (context) => context.setDefaultTimeout(120_000))
  })
  afterAll(async () => {
    await browser.close()
    await site[Symbol.asyncDispose]()
  })

  const open = async (): Promise<Page> => {
    const page = await (await browser.newContext()).newPage()
    await page.goto(site.url)
    return page
  }
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor()
  const fill = async (page: Page, label: string, text: string, button: string) => {
    await page.getByLabel(label).fill(text)
    await page.getByRole('button', { name: button }).click()
  }

  it('logs its member in, in three steps, and recognises a browser by its cookie', async () => {
    const page = await open()
    await fill(page, 'User name', MEMBER.user, 'Next')
    await heading(page, `Hello, ${MEMBER.user}`)
    await fill(page, 'Password', MEMBER.password, 'Log in')
    await page.getByRole('button', { name: 'Yes, it is mine' }).click()
    await heading(page, `Welcome, ${MEMBER.name}`)
    await page.reload()
    await heading(page, `Welcome, ${MEMBER.name}`)
    await heading(await open(), 'Log in')
  })

  it('reports wrong input, and logs nobody else in', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('Enter your user name.').waitFor()
    await fill(page, 'User name', '<b>eve</b>', 'Next')
    await heading(page, 'Hello, <b>eve</b>')
    await fill(page, 'Password', MEMBER.password, 'Log in')
    await page.getByText('do not belong together').waitFor()
    expect(await page.getByRole('heading').textContent()).toBe('Hello, <b>eve</b>')
  })

  it('rejects a body that is longer than its forms', async () => {
    const response = await fetch(site.url, {
      method: 'POST',
      body: `user=${'x'.repeat(100_000)}`,
      redirect: 'manual',
    }).catch(() => null)
    // The connection may be cut before the answer comes.
    expect(response?.status ?? 303).toBe(303)
    await heading(await open(), 'Log in')
  })
})
