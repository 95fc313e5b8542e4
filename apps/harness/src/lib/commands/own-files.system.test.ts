import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeFolder, openToAppend, replaceFile } from '@episodic/run/base/own-files'
import { RUN_FILES } from '@episodic/run/folder/record/run-folder'
import { lockRun } from '@episodic/run/folder/record/run-lock'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../fixtures/episodic.fixture.ts'
import { startViewing } from './show/view/view.fixture.ts'

const SUITE = fileURLToPath(new URL('../../../../../satellites/classics/classics.suite.json', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (...path: string[]) => join(folder, ...path)

describe('replaceFile', () => {
  it('replaces a link, and changes nothing where it leads', async () => {
    writeFileSync(at('mine'), 'mine')
    symlinkSync(at('mine'), at('replaced'))
    await replaceFile(at('replaced'), 'theirs', { mode: 0o600 })
    expect([readFileSync(at('replaced'), 'utf8'), readFileSync(at('mine'), 'utf8')]).toEqual(['theirs', 'mine'])
    expect(statSync(at('replaced')).mode & 0o777).toBe(0o600)
  })

  it('leaves what was there, and no draft, if the content fails', async () => {
    writeFileSync(at('kept'), 'kept')
    async function* failing() {
      yield 'half'
      throw new Error('no more')
    }
    await expect(replaceFile(at('kept'), failing())).rejects.toThrow('no more')
    expect(readFileSync(at('kept'), 'utf8')).toBe('kept')
    expect(readdirSync(folder).filter((name) => name.startsWith('kept'))).toEqual(['kept'])
  })
})

describe('openToAppend', () => {
  it.each([
    ['a link', (path: string) => symlinkSync(at('target'), path)],
    ['a link to nothing', (path: string) => symlinkSync(at('nothing'), path)],
    ['a second name of a file', (path: string) => linkSync(at('target'), path)],
    ['a folder', (path: string) => mkdirSync(path)],
  ])('rejects for %s', async (name, create) => {
    writeFileSync(at('target'), 'mine')
    const path = at(`opened ${name}`)
    create(path)
    await expect(openToAppend(path)).rejects.toThrow()
    expect(readFileSync(at('target'), 'utf8')).toBe('mine')
    expect(existsSync(at('nothing'))).toBe(false)
    rmSync(path, { recursive: true })
  })
})

describe('makeFolder', () => {
  it.each([
    ['below a file', () => at('a file', 'within')],
    ['where a file is', () => at('a file')],
    ['where a link leads nowhere', () => at('a link')],
  ])('throws %s', (_, path) => {
    writeFileSync(at('a file'), '')
    rmSync(at('a link'), { force: true })
    symlinkSync(at('nothing'), at('a link'))
    expect(() => makeFolder(path())).toThrow(expect.objectContaining({ code: 'disk-failed' }))
  })
})

describe('lockRun', () => {
  it.each([
    ['a link to a file', (lock: string) => symlinkSync(at('target'), lock)],
    ['a link to nothing', (lock: string) => symlinkSync(at('nothing'), lock)],
    ['a file with contents', (lock: string) => writeFileSync(lock, 'a database, with a journal beside it')],
  ])('locks no folder where there is %s', (name, create) => {
    writeFileSync(at('target'), '')
    const run = at(`locked ${name}`)
    mkdirSync(run)
    create(join(run, RUN_FILES.lock))
    expect(() => lockRun(run)).toThrow(expect.objectContaining({ code: 'disk-failed' }))
    expect(existsSync(at('nothing'))).toBe(false)
  })
})

describe('the commands that read a run', () => {
  const workshop = openWorkshop()
  const within = (...path: string[]) => join(workshop.folder, ...path)
  const world = exampleWorld('number-guessing')
  afterAll(() => workshop[Symbol.dispose]())
  beforeAll(async () => {
    writeFileSync(
      within('graders.mjs'),
      `import { defineGrader } from '${import.meta.resolve('@episodic/report/grades/grader')}'
      export const fast = defineGrader({ name: 'fast', version: '1', scale: 'boolean', grade: () => true })`,
    )
    expect(await workshop.main(['run', world, '--tasks', '3', '--out', 'genuine'])).toMatchObject({ status: 0 })
  })

  /**
   * A copy of the run with a link in place of each file that a command writes, or of its draft, and what they lead to.
   */
  function plant(name: string, leadsTo: 'a file' | 'nothing') {
    const [run, outside] = [within(name, 'run'), within(name, 'outside')]
    mkdirSync(run, { recursive: true })
    mkdirSync(outside)
    for (const file of [RUN_FILES.manifest, RUN_FILES.episodes])
      writeFileSync(join(run, file), readFileSync(within('genuine', file)))
    const { manifest: _, episodes: __, ...written } = RUN_FILES
    for (const file of [...Object.values(written), ...Object.values(RUN_FILES).map((file) => `${file}.part`)]) {
      if (leadsTo === 'a file') writeFileSync(join(outside, file), 'mine', { mode: 0o600 })
      symlinkSync(join(outside, file), join(run, file))
    }
    return {
      run,
      outside: () => readdirSync(outside).map((file) => [file, readFileSync(join(outside, file), 'utf8')]),
    }
  }

  it.each(['a file', 'nothing'] as const)('write through no link in its folder that leads to %s', async (leadsTo) => {
    const { run, outside } = plant(`links to ${leadsTo}`, leadsTo)
    const before = outside()
    const viewing = await startViewing(workshop, [run]).catch(() => null)
    viewing?.kill('SIGTERM')
    await viewing?.ended
    for (const args of [
      ['report', run],
      ['grade', run, '--grader', './graders.mjs', '--world', world],
      ['compare', run, 'genuine', '--table', join(run, 'compare.csv')],
      ['replay', run, '--world', world],
      ['export', run, '--format', 'trl', '--out', join(run, 'grades.json')],
      ['bundle', run, '--out', join(run, 'shared.html')],
      ['run', world, '--tasks', '3', '--out', run, '--resume'],
    ])
      await workshop.main(args)
    expect(outside()).toEqual(before)
  })

  const gate = ['gate', 'genuine', '--success', '>=0']
  const written: readonly (readonly [name: string, args: readonly string[]])[] = [
    ['run --out', ['run', world, '--tasks', '1', '--out']],
    ['suite run --out', ['suite', 'run', `${SUITE}/taxi`, '--quick', '--out']],
    ['export --out', ['export', 'genuine', '--format', 'trl', '--out']],
    ['export --format harbor --out', ['export', world, '--format', 'harbor', '--tasks', '1', '--out']],
    ['bundle --out', ['bundle', 'genuine', '--out']],
    ['compare --table', ['compare', 'genuine', 'genuine', '--table']],
    ['gate --junit', [...gate, '--junit']],
    ['dataset generate --out', ['dataset', 'generate', world, '--count', '1', '--out']],
  ]

  it.runIf(process.platform === 'linux').each(written)('end where no folder can be made: %s', async (name, args) => {
    // In a process of its own, which can be killed: one that tries for ever answers no signal but SIGKILL.
    const ended = await workshop.run([...args, name.startsWith('bundle') ? '/proc/x/made.html' : '/proc/x/made'])
    expect(ended.status).toBeGreaterThan(0)
    expect(ended.err).toMatch(/^error: .*\/proc\/x/m)
    expect(ended.err).not.toMatch(/^ {4}at /m)
  })
})
