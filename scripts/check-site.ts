import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import { buildSite } from './site/build.ts'
import { findDeadLinks } from './site/dead-links.ts'
import { listDrawers } from './site/pages.ts'
import { findTestPrograms } from './test-programs.ts'

// Builds the site, follows its links, and opens it in a browser: each page fits a telephone, light and dark differ,
// and the search finds pages and the API.
//
//   node scripts/check-site.ts <folder>

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('Name a folder for the site: node scripts/check-site.ts <folder>')

/** What is typed into the search, and the page that comes first. */
const FIRST_FOUND = [
  ['Guarantees', 'operate/guarantees'],
  ['hidden tests', 'write/workspaces'],
  ['publish event', 'write/conversations'],
  ['reveal', 'write/environments'],
  ['hot reload', 'write/develop'],
  ['debug breakpoint', 'write/develop'],
] as const

const problems: string[] = []
await buildSite(folder)
for (const { page, link } of findDeadLinks(folder)) problems.push(`${page} links to ${link}, which is not there.`)
const { chromium: executablePath } = findTestPrograms(false)
if (executablePath) await inBrowser(executablePath)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

async function inBrowser(executablePath: string): Promise<void> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  // For what hangs, not for what is slow.
  browser.on('context', (context) => context.setDefaultTimeout(120_000))
  try {
    const page = await browser.newPage({ viewport: { width: 400, height: 800 } })
    for (const place of ['index', 'pages', ...listDrawers().flatMap(({ pages }) => pages.map(({ place }) => place))]) {
      await page.goto(addressOf(`${place}.html`))
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
      if (width > 400) problems.push(`${place}.html is ${width} px wide on a telephone of 400 px.`)
    }
    await page.goto(addressOf('judge/gate.html'))
    if ((await page.evaluate("getComputedStyle(document.querySelector('pre')).whiteSpace")) !== 'pre')
      problems.push('Lines of code are wrapped.')
    if ((await page.locator('pre code.text').count()) === 0 || (await page.locator('pre code.text span').count()) > 0)
      problems.push('What a terminal printed is coloured as code.')
    const [light, dark] = [await backgroundOf(page, 'light'), await backgroundOf(page, 'dark')]
    if (light === dark) problems.push(`Light and dark pages both have the background ${light}.`)
    for (const [text, place] of FIRST_FOUND) {
      const [found] = await search(page, text, '#page-results a:has(mark)')
      if (!found?.startsWith(`./${place}.html`)) problems.push(`A search for "${text}" finds ${found}, not ${place}.`)
    }
    const names = await search(page, 'defineEnvironment', '#tsd-search-results a')
    if (!names.includes('./api/episodic/index/defineEnvironment.html'))
      problems.push(`A search for defineEnvironment finds these names: ${names.join(', ')}.`)
  } finally {
    await browser.close()
  }
}

async function backgroundOf(page: Page, colorScheme: 'light' | 'dark'): Promise<string> {
  await page.emulateMedia({ colorScheme })
  await page.goto(addressOf('index.html'))
  return String(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
}

/** The links that the search shows for a text, in their order. */
async function search(page: Page, text: string, links: string): Promise<string[]> {
  await page.goto(addressOf('index.html'))
  await page.click('#tsd-search-trigger')
  await page.fill('#tsd-search-input', text)
  await page.waitForSelector(links)
  const found = await page.locator(links).all()
  return await Promise.all(found.map(async (link) => (await link.getAttribute('href')) ?? ''))
}

function addressOf(place: string): string {
  return pathToFileURL(join(folder as string, place)).href
}
