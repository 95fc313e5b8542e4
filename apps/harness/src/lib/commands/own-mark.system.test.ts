import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../fixtures/episodic.fixture.ts'
import { startViewing } from './show/view/view.fixture.ts'

const workshop = openWorkshop()
/** Not a classic: without its module it is found nowhere. */
const WORLD = exampleWorld('warehouse')
const at = (...path: string[]) => join(workshop.folder, ...path)
afterAll(() => workshop[Symbol.dispose]())

const later = () => new Date(Date.now() + 60_000)
const jsonOf = (...path: string[]) => JSON.parse(readFileSync(at(...path), 'utf8'))
/** Changes a JSON file, and makes it newer than the lines beside it. */
function edit(path: string, change: (value: ReturnType<typeof jsonOf>) => unknown): void {
  writeFileSync(at(path), JSON.stringify(change(jsonOf(path)), null, 2))
  utimesSync(at(path), later(), later())
}

beforeAll(async () => {
  mkdirSync(at('runs'))
  writeFileSync(at('mine.ts'), `export * from '${new URL(`file://${WORLD}/src/index.ts`)}'`)
  for (const world of ['./mine.ts']) {
    const args = ['run', world, '--tasks', '3', '--policy', 'solver', '--out', 'runs/own']
    expect(await workshop.main(args)).toMatchObject({ status: 0 })
  }
})

describe('a run that somebody else made', () => {
  const COMMANDS: readonly (readonly string[])[] = [
    ['replay', 'theirs'],
    ['replay', 'theirs/episodes.jsonl'],
    ['export', 'theirs', '--format', 'openai'],
    ['grade', 'theirs', '--grader', 'solved'],
    ['report', 'theirs'],
    ['compare', 'theirs', 'runs/own'],
    ['bundle', 'theirs', '--states', 'all', '--out', 'theirs.html'],
  ]

  it.each([
    ['a module in its folder', 'evil.mjs', './evil.mjs', './evil.mjs'],
    ['a module beside its folder', '../evil.mjs', '../evil.mjs', '../evil.mjs'],
    ['a package in the working folder', '../node_modules/evil/index.mjs', 'gone.mjs', 'evil'],
    ['a path in the name of its environment', 'evil.mjs', 'gone.mjs', './theirs/evil.mjs'],
  ])('names %s, which no command executes that reads it', async (_, module, file, reference) => {
    rmSync(at('theirs'), { recursive: true, force: true })
    cpSync(at('runs/own'), at('theirs'), { recursive: true })
    mkdirSync(at('node_modules/evil'), { recursive: true })
    writeFileSync(at('node_modules/evil/package.json'), JSON.stringify({ name: 'evil', exports: './index.mjs' }))
    const source = `import { writeFileSync } from 'node:fs'
      writeFileSync(${JSON.stringify(at('executed'))}, '')
      export * from '${new URL(`file://${WORLD}/src/index.ts`)}'`
    writeFileSync(at('theirs', module), source)
    edit('theirs/run.json', (run) => ({
      ...run,
      sources: { ...run.sources, world: { ...run.sources.world, reference, file } },
    }))
    if (reference === './theirs/evil.mjs')
      writeFileSync(
        at('theirs/episodes.jsonl'),
        readFileSync(at('theirs/episodes.jsonl'), 'utf8').replaceAll('"name":"warehouse"', `"name":"${reference}"`),
      )
    for (const args of COMMANDS) await workshop.main(args)
    const viewing = await startViewing(workshop, ['theirs'])
    const [run] = await viewing.json<{ id: string }[]>('/api/runs')
    await viewing.get(`/api/r/${run?.id}/states/0?private=1`)
    viewing.kill('SIGTERM')
    await viewing.ended
    expect(existsSync(at('executed'))).toBe(false)
    const { status, err } = await workshop.main(['replay', 'theirs'])
    expect([status, err]).toEqual([2, expect.stringContaining('--world')])
    // The caller who names it trusts it.
    if (file === './evil.mjs')
      expect(await workshop.main(['replay', 'theirs', '--world', './theirs/evil.mjs'])).toMatchObject({ status: 0 })
    rmSync(at('executed'), { force: true })
  })
})

describe('a run that a command of this user made', () => {
  it('is replayed by the module that it names, and the verdict says by which', async () => {
    const { status, out } = await workshop.main(['replay', 'runs/own', '--json'])
    expect(status).toBe(0)
    expect(JSON.parse(out).rules).toEqual({
      environment: expect.stringMatching(/^warehouse@/),
      file: 'mine.ts',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      sameAsRecorded: true,
    })
  })

  it('names a module that is not executed where its folder was moved or its run.json edited', async () => {
    cpSync(at('runs/own'), at('runs/moved'), { recursive: true })
    expect(await workshop.main(['replay', 'runs/moved'])).toMatchObject({ status: 2 })
    const before = readFileSync(at('runs/own/run.json'))
    edit('runs/own/run.json', (run) => ({ ...run, createdAt: '2026-01-01T00:00:00.000Z' }))
    expect(await workshop.main(['replay', 'runs/own'])).toMatchObject({ status: 2 })
    writeFileSync(at('runs/own/run.json'), before)
    rmSync(at('runs/moved'), { recursive: true })
  })
})
