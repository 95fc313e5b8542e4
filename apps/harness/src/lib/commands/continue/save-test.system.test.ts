import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChatServer } from '@episodic/models/chat-server.fixture'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop, type Workshop } from '../../fixtures/episodic.fixture.ts'
import { FAULTY_WORLDS, type FaultyWorld, openingSafes } from './saved-worlds.fixture.ts'

const MODULES = join(import.meta.dirname, ...Array<string>(6).fill('..'), 'node_modules')

let project: Workshop
let server: Awaited<ReturnType<typeof startChatServer>>
const at = (...names: string[]) => join(project.folder, ...names)

/** A project of a user, in which `episodic` and Vitest are installed. */
beforeAll(async () => {
  project = openWorkshop()
  server = await startChatServer(openingSafes)
  mkdirSync(at('node_modules'))
  for (const name of readdirSync(MODULES))
    if (!name.startsWith('.')) symlinkSync(join(MODULES, name), at('node_modules', name))
  writeFileSync(at('package.json'), '{ "type": "module" }')
  // Node imports what a user has installed, and Vitest compiles their own files alone.
  const deps = '{ external: [/\\/(packages|satellites|apps)\\//] }'
  writeFileSync(at('vitest.config.js'), `export default { test: { isolate: false, server: { deps: ${deps} } } }`)
})
afterAll(() => project[Symbol.dispose]())

/** Runs the tests of the project by the real Vitest. Returns its status, and what it said. */
async function vitest(args: readonly string[] = [], recordings = 'auto') {
  const program = at('node_modules/vitest/vitest.mjs')
  const child = spawn(process.execPath, [program, 'run', '--root', project.folder, ...args], {
    cwd: project.folder,
    env: {
      ...process.env,
      ...{ CI: '', NO_COLOR: '1', NODE_OPTIONS: '', VITEST: undefined },
      ...{ OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'none', EPISODIC_RECORDINGS: recordings },
    },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  const [status] = await once(child, 'close')
  return { status, said }
}

const MODEL = () => ({ OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'none' })

async function command(...args: string[]): Promise<string> {
  const { status, out, err } = await project.main(args, { env: MODEL() })
  expect(status, err).toBe(0)
  return out
}

/** Plays the failing episode of a world, in a run of its name. */
async function fail(name: string, { source, live, model, calls }: FaultyWorld) {
  const played = `const calls = ${JSON.stringify(calls)}; return () => calls.shift()`
  const policies = `export const policies = { failing: { name: 'failing', start: () => { ${played} } } }`
  const play = (world: string, text: string, out: string) => {
    writeFileSync(at(world), `${text}\n${policies}\n`)
    return command('run', `./${world}`, '--policy', model ? `llm:${model}` : 'failing', '--tasks', '1', '--out', out)
  }
  if (live) {
    await play(`${name}-live.ts`, live, `${name}-live`)
    await command('record', `${name}-live`, '--out', `${name}.jsonl`)
  }
  await play(`${name}.ts`, source, name)
}

const saving = (run: string, test: string, ...options: string[]) => [
  ...['continue', run, '--query', 'counts:yes', '--save', `tests/${test}.test.ts`],
  ...options,
]

function change(name: string, from: string, to: string): void {
  const source = readFileSync(at(`${name}.ts`), 'utf8')
  expect(source.split(from), `${name} has ${from} once`).toHaveLength(2)
  writeFileSync(at(`${name}.ts`), source.replace(from, to))
}

/** The names of the tests that passed. */
const passed = (said: string) => [...said.matchAll(/✓ tests\/(\w+)\.test\.ts/g)].map(([, name]) => name).toSorted()
const WORLDS = Object.entries(FAULTY_WORLDS)
const NAMES = WORLDS.map(([name]) => name).toSorted()

describe('a saved test', () => {
  it('fails before the repair and passes after it, and a change of the rules is named and mended by `vitest -u`', async () => {
    for (const [name, world] of WORLDS) {
      await fail(name, world)
      const policy = world.model ? ['--policy', `llm:${world.model}`] : []
      await command(...saving(name, name, '--step', `${world.step + 1}`, ...policy))
      expect(readFileSync(at('tests', `${name}.test.ts`), 'utf8').split('\n').length).toBeLessThan(25)
    }
    const before = await vitest()
    expect(passed(before.said), before.said).toEqual([])
    expect(before.said.match(/Expected the episode to succeed/g), before.said).toHaveLength(NAMES.length)

    for (const [name, { wrong, right }] of WORLDS) change(name, wrong, right)
    const after = await vitest()
    expect(passed(after.said), after.said).toEqual(NAMES)
    // The tape of the model is enough.
    expect(passed((await vitest([], 'strict')).said)).toEqual(NAMES)

    for (const [name, world] of WORLDS) change(name, world.before, world.after)
    const parted = await vitest()
    expect(passed(parted.said), parted.said).toEqual([])
    for (const name of NAMES)
      expect(parted.said).toMatch(
        new RegExp(`${name}.test.fixture.json, .*${name === 'notes' ? 'the start' : 'step 1'} differs`),
      )
    const mended = await vitest(['-u'])
    expect(passed(mended.said), mended.said).toEqual(NAMES)
    expect(passed((await vitest([], 'strict')).said)).toEqual(NAMES)
  })

  it('states what must hold, with what is changed, and goes on from continuations too', async () => {
    const { refund } = FAULTY_WORLDS as { refund: FaultyWorld }
    const graders = `import { defineGrader } from 'episodic'
export const graders = { short: defineGrader({ name: 'brief', version: '1', scale: 'boolean', grade: ({ task, steps }) =>
  ({ value: task.prompt.includes('#17') && steps.length === 1, why: 'It counts the steps.' }) }) }`
    await fail('held', { ...refund, source: `${graders}\n${refund.source.replace(refund.wrong, refund.right)}` })
    await command(...saving('held', 'term', '--step', '3', '--holds', 'refunded=1'))
    await command(...saving('held', 'graded', '--step', '3', '--holds', 'grader:brief'))
    const call = ['--call', 'refund', '{"order":"#18"}', '--seed', 's']
    await command(...saving('held', 'changed', '--step', '2', '--holds', 'return=1', ...call))
    await command(
      'continue',
      'held',
      '--query',
      'counts:yes',
      '--step',
      '2',
      '--rollouts',
      '1',
      '--seed',
      's',
      '--out',
      'on',
    )
    await command(...saving('on/changed', 'again', '--step', '3'))
    await command(...saving('on/changed', 'earlier', '--step', '1'))
    const names = ['again', 'changed', 'earlier', 'graded', 'term']
    const files = names.map((name) => `tests/${name}.test.ts`)
    const held = await vitest(files)
    expect(passed(held.said), held.said).toEqual(names)

    change('held', refund.before, refund.after)
    // No step comes before that of one of them.
    expect(passed((await vitest(files)).said)).toEqual(['earlier'])
    const mended = await vitest([...files, '-u'])
    expect(passed(mended.said), mended.said).toEqual(names)

    // What the rules do not take any more is left to the player.
    change('held', 'look_up: tool', 'find: tool')
    const cut = await vitest(['tests/term.test.ts', '-u'])
    expect(cut.said).toContain('goes on after step 0 in place of step 2: step 1 is now refused (tool)')
    expect(passed((await vitest(['tests/term.test.ts'])).said)).toEqual(['term'])
  })

  it('imports a world of a package by its name', async () => {
    await command('run', 'taxi', '--policy', 'random', '--tasks', '1', '--max-steps', '5', '--out', 'taxi')
    await command(...saving('taxi', 'taxi', '--step', '3'))
    expect(readFileSync(at('tests/taxi.test.ts'), 'utf8')).toContain(
      "import { environment } from '@episodic/classics/taxi'",
    )
    // The limit of the run is that of its case.
    expect((await vitest(['tests/taxi.test.ts'])).said).toContain('was truncated: step-limit after 3 steps')
  })

  it('refuses what no test can be, and a case that was changed by hand', async () => {
    const refused = async (test: string, ...options: string[]) => {
      const { status, err } = await project.main(saving('refund', test, ...options), { env: MODEL() })
      expect(status).not.toBe(0)
      return err.replaceAll(/\s+/g, ' ')
    }
    expect(await refused('refund', '--step', '3')).toContain('tests/refund.test.ts is there already')
    await command('run', 'kuhn-poker', '--policy', 'random', '--tasks', '1', '--out', 'game')
    const game = await project.main(saving('game', 'new', '--step', '1'))
    expect(game.err).toContain('A saved test plays one seat, and this episode has several.')
    expect(await refused('new', '--step', '9')).toContain('Give --step from 1 to 3')
    expect(await refused('new', '--step', '3', '--holds', 'grader:none')).toContain('Its graders: none')
    expect(await refused('new', '--step', '3', '--holds', 'much')).toContain('--holds takes success, grader:<name>')
    expect(await refused('new', '--step', '3', '--policy', 'process:cat')).toContain(
      'cannot name the policy process:cat',
    )
    const { err } = await project.main([
      'continue',
      'refund',
      '--query',
      'counts:yes',
      '--step',
      '3',
      '--save',
      'new.ts',
    ])
    expect(err).toContain('Vitest does not find new.ts')
    expect(readdirSync(at('tests')).filter((name) => name.startsWith('new'))).toEqual([])

    const file = at('tests/refund.test.fixture.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"#16"', '"#15"'))
    expect((await vitest(['tests/refund.test.ts'])).said).toContain('was changed since it was sealed')
  })
})
