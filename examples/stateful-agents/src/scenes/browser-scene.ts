import { existsSync } from 'node:fs'
import { readFile, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LocalTool } from '@episodic/agent'
import { call } from '../agents/script.ts'
import { MEMBER, openLoginSite } from '../browser/login-site.ts'
import { findProgram } from '../find-program.ts'
import { isInside } from '../is-inside.ts'
import { openTemporaryFolder } from '../temporary-folder.ts'
import { bothWays } from './both-ways.ts'

const SCREENSHOT = 'logged-in.png'

const playwrightCli = fileURLToPath(new URL('./cli.js', import.meta.resolve('@playwright/mcp/package.json')))

/** A browser that logs in to a site in three steps: its page, and its cookie. */
export const browserScene = bothWays({
  name: 'browser',
  title: 'a browser of @playwright/mcp: a log-in of three steps',
  expected: {
    call: /^Ref e\d+ not found/,
    agent: /^Welcome, Ada Lovelace; screenshot kept: .*logged-in\.png$/,
  },
  async open({ keep }) {
    const chromium = findProgram(['chromium', 'chromium-browser', 'google-chrome'], 'chromium')
    await using stack = new AsyncDisposableStack()
    const site = stack.use(await openLoginSite())
    const pages = stack.use(await openTemporaryFolder())
    const kept = await keep()
    const screenshot = join(kept, SCREENSHOT)
    await rm(screenshot, { force: true })
    const owned = stack.move()
    return {
      server: {
        command: process.execPath,
        args: [
          ...[playwrightCli, '--headless', '--isolated', '--no-sandbox', '--executable-path', chromium],
          ...['--output-dir', pages.path, '--file-paths', 'absolute'],
        ],
        // Files with a name of their own, such as the screenshot, go to where the server works.
        cwd: kept,
      },
      tools: [createReadPage(pages.path)],
      prompt: `Log in at ${site.url} as ${MEMBER.user} with the password ${MEMBER.password}, and trust the device. The browser's tools answer with a link to a snapshot of the page: read_page reads it, and names the targets to type into and to click. When you are welcomed, take a screenshot with the filename ${SCREENSHOT}.`,
      *script() {
        const snapshot = yield* call('browser_navigate', { url: site.url })
        const user = targetOf(yield* readPage(snapshot), 'textbox "User name"')
        const asked = yield* call('browser_type', { target: user, text: MEMBER.user, submit: true })
        const password = targetOf(yield* readPage(asked), 'textbox "Password"')
        const checked = yield* call('browser_type', { target: password, text: MEMBER.password, submit: true })
        const yes = targetOf(yield* readPage(checked), 'button "Yes, it is mine"')
        yield* call('browser_click', { target: yes })
        yield* call('browser_take_screenshot', { filename: SCREENSHOT, scale: 'css' })
        return 'Logged in.'
      },
      outcome(answers) {
        const welcome = /Page Title: (Welcome.*)/.exec(answers.map(({ text }) => text).join('\n'))?.[1]
        if (welcome) return `${welcome}; ${existsSync(screenshot) ? `screenshot kept: ${screenshot}` : 'no screenshot'}`
        const failed = answers.findLast(({ isError }) => isError)
        return failed?.text.replace(/^### Error\s+(Error: )?/, '') ?? 'not logged in'
      },
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    }
  },
})

/** A function of this program beside the tools of the server: reads the snapshot of a page that an answer links to. */
function createReadPage(folder: string): LocalTool {
  return {
    name: 'read_page',
    description: 'Reads a snapshot of a page, whose path the browser’s tools answer with.',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string', description: 'The path of the snapshot.' } },
      required: ['path'],
    },
    async call({ path }) {
      const file = await realpath(String(path))
      if (!isInside(folder, file)) throw new Error(`${path} is no snapshot.`)
      return readFile(file, 'utf8')
    },
  }
}

function readPage(answer: string) {
  return call('read_page', { path: /\[Snapshot\]\((.*?)\)/.exec(answer)?.[1] ?? '' })
}

/** Finds the reference of a page's element, for example `e5`. */
function targetOf(page: string, element: string): string {
  const line = page.split('\n').find((candidate) => candidate.includes(element))
  return /\[ref=(\w+)\]/.exec(line ?? '')?.[1] ?? element
}
