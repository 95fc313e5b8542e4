import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { calling, startChatServer } from '@episodic/models/chat-server.fixture'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openWorkshop } from '../../fixtures/episodic.fixture.ts'

const MODULES = join(import.meta.dirname, ...Array<string>(6).fill('..'), 'node_modules')

const project = openWorkshop()
afterAll(() => project[Symbol.dispose]())
const at = (...names: string[]) => join(project.folder, ...names)

/** Pays for a report, whether or not the shelf was counted before. */
const OFFICE = `
import { defineEnvironment, definePolicy } from 'episodic'
import { z } from 'zod'
export const environment = defineEnvironment({
  name: 'office', version: '1.0.0', description: 'Count the shelf, and report.', params: z.object({}),
  state: { public: z.object({ counted: z.boolean() }), private: z.object({ boxes: z.int() }) },
  limits: { steps: 8 },
  start: ({ rng }) => ({ public: { counted: false }, private: { boxes: rng.int(1, 99) } }),
  observe: ({ counted }) => counted ? 'Counted.' : 'Not counted.',
  success: ({ end, state }) => end?.reason === 'reported' && state.public.counted,
  tools: ({ tool }) => ({
    count: tool({ description: 'Counts.', input: z.object({}), play({ state, reveal, say }) {
      state.public.counted = true
      return say(String(reveal(state.private.boxes)))
    } }),
    report: tool({ description: 'Reports.', input: z.object({}), play({ end, say }) {
      end('reported')
      return say('Thanks.')
    } }),
  }),
  rewards: { reported: ({ end, after }) => end?.reason === 'reported' /* repaired */ ? 1 : 0 },
})
export const solver = definePolicy({
  name: 'clerk', start: () => ({ text }) => ({ tool: text === 'Not counted.' ? 'count' : 'report', arguments: {} }),
})
`
const REPAIR = ['/* repaired */', '&& after.public.counted'] as const

/** A project of a user, in which `episodic` and Vitest are installed. */
beforeAll(() => {
  mkdirSync(at('node_modules'))
  for (const name of readdirSync(MODULES))
    if (!name.startsWith('.')) symlinkSync(join(MODULES, name), at('node_modules', name))
  writeFileSync(at('package.json'), '{ "type": "module" }')
  writeFileSync(at('office.ts'), OFFICE)
  writeFileSync(
    at('office.test.ts'),
    `import 'episodic/vitest'
import { expect, it } from 'vitest'
import * as world from './office.ts'
it('pays for no hack', async () => { await expect(world).toPayNoHack('hacks') })
it('refuses a folder without scripts', async () => { await expect(world).toPayNoHack('node_modules') })`,
  )
})

/** Runs the tests of the project by the real Vitest. */
async function vitest(): Promise<string> {
  const env = { ...process.env, CI: '', NO_COLOR: '1', NODE_OPTIONS: '', VITEST: undefined }
  const args = [at('node_modules/vitest/vitest.mjs'), 'run', '--root', project.folder]
  const child = spawn(process.execPath, args, { cwd: project.folder, env })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  await once(child, 'close')
  return said
}

/** A model that knows the word of the house, and solves the task if it is asked to play. */
async function openModel() {
  const server = await startChatServer(({ messages, tools }) => {
    const asked = messages.filter(({ role }) => role === 'assistant').length
    if (tools[0]?.function.name !== 'propose') return calling(asked === 0 ? 'count' : 'report', {})
    const script = [
      { tool: 'say', arguments: { word: asked === 0 ? 'please' : 'xyzzy' } },
      { tool: 'report', arguments: {} },
    ]
    return calling('propose', asked > 1 ? { actions: 'none' } : { actions: script })
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** The office, which pays who knows a word that nothing shows. */
const HOUSE = OFFICE.replace(...REPAIR)
  .replace(
    'count: tool(',
    `say: tool({ description: 'Says.', input: z.object({ word: z.string().max(20) }), play({ state, input, say }) {
      state.private.known ||= input.word === ['x', 'yzzy'].join('')
      return say('Said.')
    } }),
    count: tool(`,
  )
  .replace('boxes: z.int() }', 'boxes: z.int(), known: z.boolean() }')
  .replace('boxes: rng.int(1, 99) }', 'boxes: rng.int(1, 99), known: false }')
  .replace('after.public.counted ?', '(after.public.counted || after.private.known) ?')

describe('episodic check', () => {
  const check = (...args: string[]) => project.run(['check', './office.ts', '--only', 'exploits', ...args])

  it('keeps no script by itself, and says how; with --search it keeps them, and a fresh process is paid again', async () => {
    const first = await check()
    expect(first.out).toContain('[hack-pays:without-success]')
    expect(first.err).toMatch(/kept in hacks\/ by: episodic check .\/office.ts .* --only exploits --search 1m/)
    expect([first.status, existsSync(at('hacks'))]).toEqual([1, false])

    const { status, err } = await check('--search', '2s')
    expect(err).toContain('in hacks is paid again in a fresh process.')
    expect(status).toBe(1)
    const [name = ''] = readdirSync(at('hacks'))
    expect(JSON.parse(readFileSync(at('hacks', name), 'utf8'))).toMatchObject({
      target: { name: 'office' },
      rule: 'without-success',
      actions: [{ tool: 'report' }],
    })
    await check('--search=1s', '--hacks', 'elsewhere')
    expect(readdirSync(at('elsewhere'))).toEqual(readdirSync(at('hacks')))
  })

  it('plays kept scripts, as a test does: both fail until the world is repaired', async () => {
    const open = await check('--hacks', 'hacks')
    expect(open).toMatchObject({
      status: 1,
      out: expect.stringMatching(/^paid {4}office-without-success-\w{8}.json: earns 1/),
    })
    const before = await vitest()
    expect(before).toContain('hacks of office are not closed:')
    expect(before).toContain('node_modules has no script of office.')
    expect(before).toMatch(/Tests +2 failed/)

    writeFileSync(at('office.ts'), OFFICE.replace(...REPAIR))
    const closed = await check('--hacks', 'hacks')
    expect(closed).toMatchObject({ status: 0, out: expect.stringMatching(/^closed {2}.*: it is not paid any more\n/) })
    expect(await vitest()).toMatch(/Tests +1 failed \| 1 passed/)

    const isBroken = OFFICE.replace(...REPAIR).replace("'count' : 'report'", "'count' : 'count'")
    writeFileSync(at('office.ts'), isBroken)
    expect(await check('--hacks', 'hacks')).toMatchObject({ status: 1, out: expect.stringMatching(/^unknown /) })
    writeFileSync(at('office.ts'), OFFICE.replace("name: 'office'", "name: 'bureau'"))
    expect((await check('--hacks', 'hacks')).err).toContain('hacks has no script of bureau.')
  })

  it('lets a model propose scripts, of which the rules decide, and solve the tasks of a world without a solver', async () => {
    writeFileSync(at('house.ts'), HOUSE)
    const house = (...args: string[]) => ['check', './house.ts', '--only', 'exploits', '--seed', '1', ...args]
    const alone = await project.run(house())
    expect(alone, alone.out).toMatchObject({ status: 0, out: expect.stringMatching(/^passed/) })

    const server = await openModel()
    const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'none' }
    const helped = await project.run(house('--hacker', 'llm:small'), { env })
    expect(helped.out).toContain('The script: say {"word":"xyzzy"}, report {}')
    expect(helped.status).toBe(1)
    const sent = server.requests.map(({ messages }) => JSON.stringify(messages))
    expect(sent[0]).toContain('Count the shelf, and report.')
    expect(sent[1]).toMatch(/report earned 0.*No hack/)
    expect(sent.some((text) => text.includes('That is no script'))).toBe(true)

    writeFileSync(at('unsolved.ts'), HOUSE.replace('export const solver', 'const solver'))
    const unsolved = ['check', './unsolved.ts', '--only', 'exploits', '--quick']
    expect((await project.run(unsolved)).out).toContain('the world exports no solver to compare with')
    const solved = await project.run([...unsolved, '--solver', 'llm:small'], { env })
    expect(solved.out).toMatch(/^passed {3}exploits .*over \d+ tasks/)
  })
})
