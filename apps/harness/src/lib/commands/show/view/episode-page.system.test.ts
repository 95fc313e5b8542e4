import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bisecting, type ChatServer, calling, saying, startChatServer } from '@episodic/models/chat-server.fixture'
import { HOSTILE, lacksBrowser, useBrowser } from '@episodic/pages/file/browser.fixture'
import type { EpisodeRecord, Json, RecordedStep } from '@episodic/protocol'
import { applyChanges } from '@episodic/report/view/apply-changes'
import type { EpisodeStates } from '@episodic/report/view/state-changes'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../../fixtures/episodic.fixture.ts'
import { openWindow, startViewing, type Viewing } from './view.fixture.ts'

const workshop = openWorkshop()
const browser = useBrowser()
let viewing: Viewing
let server: ChatServer
const faults: string[] = []
afterAll(async () => {
  workshop[Symbol.dispose]()
  await server?.[Symbol.asyncDispose]()
})

beforeAll(async () => {
  // A status of 429, an answer that breaks off, one without a call, one with broken arguments; else a call among
  // others.
  server = await startChatServer((request, number, response) => {
    if (number === 1) {
      response.statusCode = 429
      response.setHeader('retry-after', '0')
      return { error: { message: 'slow down' } }
    }
    if (number === 3) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 4_000 })
      response.write('{"id":"chat_')
      response.destroy()
      return null
    }
    if (number === 4) return saying({ role: 'assistant', content: 'I look before I leap.' })
    if (number === 6) return calling('guess', '{"value": 7')
    const { choices } = bisecting(request) as { choices: [{ message: { tool_calls: object[] } }] }
    const spare = { id: 'call_2', type: 'function', function: { name: 'guess', arguments: `{"spare":${number}` } }
    const message = {
      role: 'assistant',
      content: `<think>Within the text ${number}.</think>Aloud ${number}. ${HOSTILE}\u202e`,
      reasoning_content: `Silently ${number}.\n${'Again. '.repeat(300)}The end of thought ${number}.`,
      tool_calls: [...choices[0].message.tool_calls, spare],
    }
    return saying(message, 'tool_calls', { metadata: { weight_version: `step-${number}` } })
  })
  const world = exampleWorld('number-guessing')
  const model = [
    '--policy',
    'llm:m',
    '--base-url',
    server.url,
    '--concurrency',
    '1',
    '--file',
    '{"prices":{"prompt":1,"completion":2}}',
  ]
  const env = { OPENAI_API_KEY: 'a-key-that-is-not-kept' }
  await workshop.main(['run', world, ...model, '--tasks', '2', '--rollouts', '2', '--out', 'runs/model'], { env })
  await workshop.main(['run', world, '--policy', 'random', '--tasks', '2', '--rollouts', '4', '--out', 'runs/plain'])
  await workshop.main([
    'run',
    fileURLToPath(import.meta.resolve('@episodic/classics/kuhn-poker')),
    '--policy',
    'random',
    '--tasks',
    '1',
    '--rollouts',
    '2',
    '--out',
    'runs/game',
  ])
  await workshop.main([
    'run',
    exampleWorld('repair-shop'),
    '--policy',
    'solver',
    '--tasks',
    '1',
    '--out',
    'runs/commands',
  ])
  const [played] = readEpisodes(join(workshop.folder, 'runs/plain')) as [EpisodeRecord]
  const many = Array.from({ length: 1_000 }, (_, i) => played.steps[i % played.steps.length] as RecordedStep)
  writeRun('long', { ...played, steps: many })
  const edited = played.steps.map((step, i) => (i === 2 ? { ...step, stateHash: '0'.repeat(32) } : step))
  writeRun('usual', { ...played, steps: many.slice(0, 150) })
  writeRun('edited', { ...played, steps: edited })
  const sent = { id: 'e1', type: 'wind', data: { force: 3 }, said: 'It blows.' } as const
  const events = [{ ...sent, sent: { agent: ['Hold your hat.'] }, end: null }]
  writeRun('sent', { ...played, steps: [{ ...(played.steps[0] as RecordedStep), events }, ...played.steps.slice(1)] })
  viewing = await startViewing(workshop, ['--world', world, '--world', exampleWorld('repair-shop')])
})

/** A run of one line, with the settings of another run. */
function writeRun(name: string, line: EpisodeRecord): void {
  const [from, to] = [join(workshop.folder, 'runs/plain'), join(workshop.folder, 'runs', name)]
  cpSync(from, to, { recursive: true })
  for (const made of ['summary.json', 'report.html', 'episodes.idx']) rmSync(join(to, made), { force: true })
  const run = JSON.parse(readFileSync(join(to, 'run.json'), 'utf8'))
  writeFileSync(join(to, 'run.json'), JSON.stringify({ ...run, name }))
  writeFileSync(join(to, 'episodes.jsonl'), `${JSON.stringify(line)}\n`)
}

async function open(hash: string, options: { readonly width?: number; readonly dark?: boolean } = {}): Promise<Page> {
  const { width = 1_280, dark = false } = options
  const context = await openWindow(browser(), viewing, {
    viewport: { width, height: 900 },
    colorScheme: dark ? 'dark' : 'light',
  })
  const page = await context.newPage()
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(error.message))
  await page.goto(`${viewing.origin}/${hash}`)
  await page.locator('.episode, .group, .beside').waitFor()
  return page
}

/** The first episode of a run, and its address. */
async function firstOf(name: string) {
  const { id } = await viewing.runNamed(name)
  const [episode] = readEpisodes(join(workshop.folder, 'runs', name)) as [EpisodeRecord]
  return { id, episode, hash: `#/r/${id}/t/${episode.task.id.slice(0, 8)}/${episode.attempt}` }
}

const squeezed = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

describe.skipIf(lacksBrowser)('the page of an episode', () => {
  it('shows the command line of a step, and the lines of a file that it changed', async () => {
    const { episode, hash } = await firstOf('commands')
    const [first] = episode.steps as [RecordedStep]
    const page = await open(hash)
    const step = page.locator('.entry.step').first()
    await step.waitFor()
    expect(squeezed((await step.locator('.row.played').textContent()) ?? '')).toContain(
      squeezed(`bash $ ${first.action.arguments.command}`),
    )
    expect(await step.locator('.row.world .grid-text').count()).toBe(1)
    const edit = page.locator('.entry.step').nth(1)
    await edit.getByRole('button', { name: /^private: .* hidden/ }).click()
    const { old_text, new_text } = (episode.steps[1] as RecordedStep).action.arguments
    const lines = edit.locator('.diff-line')
    await lines.first().waitFor()
    expect(squeezed((await edit.locator('.diff-line.removed').allTextContents()).join(' '))).toContain(
      squeezed(`${old_text}`),
    )
    expect(squeezed((await edit.locator('.diff-line.added').allTextContents()).join(' '))).toContain(
      squeezed(`${new_text}`),
    )
    await page.context().close()
  })

  it('shows at its step everything that a model said, thought, called and took', async () => {
    const { episode, hash } = await firstOf('model')
    const page = await open(hash)
    await page.locator('.entry.step').first().waitFor()
    // Opens all reasoning.
    await page.keyboard.press('e')
    let found = 0
    for (const [index, { completions = [], action, observation }] of episode.steps.entries()) {
      await page.keyboard.press('ArrowRight')
      const entry = page.locator('.entry[aria-current="step"]')
      await entry.locator(`button[aria-label="Choose step ${index + 1}"]`).waitFor()
      for (const more of await entry.getByRole('button', { name: /^all .* characters$/ }).all()) await more.click()
      const shown = squeezed((await entry.textContent()) ?? '')
      expect(shown).toContain(squeezed(observation.text))
      expect(shown).toContain(`${action.tool} ${JSON.stringify(action.arguments)}`)
      for (const { text, reasoning, calls = [], promptTokens, policyVersion, tries = [] } of completions) {
        found += 1
        expect(shown).toContain(`${promptTokens.toLocaleString('en-US')} → `)
        if (policyVersion) expect(shown).toContain(`version ${policyVersion}`)
        if (text) expect(shown).toContain(squeezed(text.replace(/^<think>.*<\/think>/, '').replace('\u202e', 'U+202E')))
        if (text?.startsWith('<think>')) expect(shown).toContain(text.slice(0, text.indexOf('</think>')))
        if (reasoning) expect(shown).toContain(squeezed(reasoning))
        for (const call of calls) expect(shown).toContain(`${call.name} ${call.arguments}`)
        for (const { status, code } of tries) expect(shown).toContain(status === null ? code : `HTTP ${status}`)
      }
    }
    expect(found).toBeGreaterThan(episode.steps.length)
    const versions = await page.locator('.figure-list dd', { hasText: /^step-\d/ }).textContent()
    expect(versions).toMatch(/^step-0 to step-\d+, \d+ updates later$/)
    const whole = episode.steps.flatMap(({ completions = [] }) => completions)
    expect(whole.flatMap(({ tries = [] }) => tries.map(({ status }) => status))).toEqual([429, null])
    expect(await page.evaluate('window.hacked')).toBeUndefined()
  })

  it('shows the state at each step as the rules make it, and what is private only if asked', async () => {
    const { id, episode, hash } = await firstOf('plain')
    const states = await viewing.json<EpisodeStates>(`/api/r/${id}/states/0?private=1`)
    expect(states.steps).toHaveLength(episode.steps.length)
    const page = await open(`${hash}?tab=state`)
    let state = states.start?.public as Json
    for (const { step, public: changes } of [{ step: -1, public: [] }, ...states.steps.slice(0, 4)]) {
      state = applyChanges(state, changes)
      await page.getByText(step < 0 ? 'Before the first step' : `After step ${step + 1}`).waitFor()
      const shown = async () => {
        const lines = await page.locator('.diff-line:not(.removed)').allTextContents()
        return lines.map((line) => line.replace(/^[+ ](added: )?/, '').trim()).join('')
      }
      await expect.poll(shown).toBe(
        JSON.stringify(state, null, 2)
          .split('\n')
          .map((line) => line.trim())
          .join(''),
      )
      await page.keyboard.press('ArrowRight')
    }
    const [secret] = Object.keys(states.start?.private as object)
    expect(await page.locator('main').textContent()).not.toContain(`"${secret}"`)
    await page.getByRole('button', { name: 'Show what the player could not see' }).click()
    expect(await page.locator('main').textContent()).toContain(`"${secret}"`)
  })

  it('shows where a line parts from the rules, and that it was changed after it was sealed', async () => {
    const { hash } = await firstOf('edited')
    const page = await open(`${hash}?step=3`)
    const entry = page.locator('.entry[aria-current="step"]')
    await entry.getByText('The replay parts from the line at step 3').waitFor()
    await page.keyboard.press('s')
    await page.getByText('After step 2').waitFor()
    await page.getByText('There is no later state.').waitFor()
    await page.getByRole('link', { name: 'Raw line' }).click()
    await page.getByText('does not match: the line was changed').waitFor()
    const sealed = await open(`${(await firstOf('plain')).hash}?tab=raw`)
    await sealed.getByText('matches the line').waitFor()
  })

  it('renders few of a thousand steps, and finds a text in all of them', async () => {
    const { episode, hash } = await firstOf('long')
    const page = await open(`${hash}?step=900`)
    const chosen = page.locator('.entry[aria-current="step"] .step-number')
    await chosen.waitFor()
    expect(await chosen.textContent()).toBe('900')
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3_000)
    const wanted = JSON.stringify(episode.steps[0]?.action.arguments)
    const field = page.getByLabel('Find in the episode')
    await field.fill(wanted)
    const last = episode.steps.findLastIndex(({ action }) => JSON.stringify(action.arguments) === wanted)
    expect(episode.steps).toHaveLength(1_000)
    await field.press('Shift+Enter')
    await page.locator('mark').first().waitFor()
    await page.locator(`button[aria-label="Choose step ${last + 1}"]`).waitFor()
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3_000)
  })

  it('shows a match by its seats', async () => {
    const { id } = await viewing.runNamed('game')
    const [line = ''] = readFileSync(join(workshop.folder, 'runs/game/episodes.jsonl'), 'utf8').split('\n')
    const { task, attempt, seats } = JSON.parse(line)
    const page = await open(`#/r/${id}/t/${task.id}/${attempt}`)
    const [first = '', second = ''] = Object.keys(seats)
    const returned = page.locator('.figure-list dd').first()
    const shownReturn = async () => Number((await returned.textContent())?.replace('−', '-'))
    const before = await shownReturn()
    expect(before).toBe(seats[first].returns.unshaped)
    await page.getByRole('button', { name: new RegExp(`^${second}`) }).click()
    await expect.poll(shownReturn).toBe(-before)
    const names = await page.locator('.seat-name').allTextContents()
    expect(names).toEqual(JSON.parse(line).steps.map(({ seat }: { seat: string }) => seat))
  })
})

describe.skipIf(lacksBrowser)('the page of a task', () => {
  it('shows where the attempts part, and opens two side by side', async () => {
    const { id, episode } = await firstOf('plain')
    const group = readEpisodes(join(workshop.folder, 'runs/plain')).filter(({ task }) => task.id === episode.task.id)
    const page = await open(`#/r/${id}/t/${episode.task.id}`)
    const attempts = await page.locator('.attempts tbody tr').allTextContents()
    expect(attempts).toHaveLength(group.length)
    expect(await page.locator('.tree-end').count()).toBe(group.length)
    await page.getByRole('checkbox').nth(0).check()
    await page.getByRole('checkbox').nth(2).check()
    await page.keyboard.press('c')
    await page.locator('.beside').waitFor()
    const heads = await page.locator('.pair-head h2').allTextContents()
    expect(heads.map((head) => head.split(' ').slice(0, 2).join(' '))).toEqual(['attempt 0', 'attempt 2'])
    const [one, other] = [0, 2].map((wanted) => group.find(({ attempt }) => attempt === wanted)?.steps ?? [])
    const rows = Math.max(one?.length ?? 0, other?.length ?? 0)
    expect(await page.locator('.pair:not(.pair-head)').count()).toBe(rows)
  })
})

describe.skipIf(lacksBrowser)('pages of episodes', () => {
  it('have no error', () => {
    expect(faults).toEqual([])
  })
})
