import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Parent } from '@episodic/continue/run/parent'
import { type SavedTest, writeSavedTest } from '@episodic/continue/saved/write-saved-test'
import { startChatServer } from '@episodic/models/chat-server.fixture'
import { tasksOf } from '@episodic/play/play/plan/plan'
import { loadWorld } from '@episodic/play/worlds/world'
import type { Task } from '@episodic/protocol'
import { readManifest } from '@episodic/run/folder/record/run-folder'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop, readEpisodes, type Workshop } from '../../fixtures/episodic.fixture.ts'
import { FAULTY_WORLDS, type FaultyWorld, openingDoors } from './saved-worlds.fixture.ts'

const MODULES = join(import.meta.dirname, '../../../../../../node_modules')

let project: Workshop
let server: Awaited<ReturnType<typeof startChatServer>>
const at = (...names: string[]) => join(project.folder, ...names)

/** A project of a user, in which `episodic` and Vitest are installed. */
beforeAll(async () => {
  project = openWorkshop()
  server = await startChatServer(openingDoors)
  mkdirSync(at('node_modules'))
  for (const name of readdirSync(MODULES))
    if (!name.startsWith('.')) symlinkSync(join(MODULES, name), at('node_modules', name))
  writeFileSync(at('package.json'), '{ "type": "module" }')
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

async function command(...args: string[]) {
  const ran = await project.run(args, { env: { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'none' } })
  expect(ran.status, ran.err).toBe(0)
}

/** Plays the failing episode of a world. Returns its run, and the step that is saved. */
async function fail(name: string, { source, live, model, calls, step }: FaultyWorld) {
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
  const [manifest, opened] = [await readManifest(at(name)), await loadWorld(at(`${name}.ts`))]
  const tasks: Task[] = []
  for await (const task of tasksOf(manifest.configuration, opened)) tasks.push(task)
  const parent: Parent = { folder: at(name), manifest, world: opened, origins: new Map() }
  const [record] = readEpisodes(at(name))
  return { parent, point: { task: tasks[0] as Task, record: record as NonNullable<typeof record>, step } }
}

const save = (name: string, given: Pick<SavedTest, 'parent' | 'point'> & Partial<SavedTest>) =>
  writeSavedTest({ file: at('tests', `${name}.test.ts`), changes: {}, ...given })

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
      const { model } = world
      const { test } = await save(name, { ...(await fail(name, world)), ...(model && { policy: `llm:${model}` }) })
      expect(readFileSync(test, 'utf8').split('\n').length).toBeLessThan(25)
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
        new RegExp(
          `${name}.test.fixture.json: the rules play ${name === 'notes' ? 'the start' : 'step 1 of the [12] before'} otherwise`,
        ),
      )
    const mended = await vitest(['-u'])
    expect(passed(mended.said), mended.said).toEqual(NAMES)
    expect(passed((await vitest([], 'strict')).said)).toEqual(NAMES)
  })
})
