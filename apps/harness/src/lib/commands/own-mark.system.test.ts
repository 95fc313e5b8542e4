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

  it('is replayed by the own world of its name, and the verdict says so', async () => {
    rmSync(at('theirs'), { recursive: true, force: true })
    cpSync(at('runs/own'), at('theirs'), { recursive: true })
    mkdirSync(at('worlds'), { recursive: true })
    writeFileSync(at('worlds/warehouse.ts'), readFileSync(at('mine.ts'), 'utf8'))
    const { status, out } = await workshop.main(['replay', 'theirs'])
    rmSync(at('worlds'), { recursive: true })
    expect(status).toBe(0)
    expect(out).toMatch(
      /Judged by the rules of warehouse@\S+ in worlds\/warehouse\.ts \(SHA-256 \w{12}…, as in run\.json\)/,
    )
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

describe('episodic view', () => {
  interface Shown {
    readonly success: { readonly rate: number }
    readonly unshaped: { readonly mean: number }
  }

  /** What the list of runs and the page of a run show, once the lines are read. */
  async function shown(name: string) {
    const viewing = await startViewing(workshop, ['runs'])
    const { id } = await viewing.runNamed(name)
    const detail = await viewing.detailOnce(id, ({ complete }) => complete)
    const [listed] = (await viewing.json<(Shown & { id: string })[]>('/api/runs')).filter((run) => run.id === id)
    viewing.kill('SIGTERM')
    await viewing.ended
    return {
      listed: [listed?.success.rate, listed?.unshaped.mean],
      page: [detail.summary.success.overall.rate, detail.summary.returns.unshaped?.mean.mean],
    }
  }

  it('shows what the sealed lines say, and not a newer summary or index that says something else', async () => {
    const genuine = await shown('own')
    expect(genuine.listed[0]).toBe(1)
    expect(genuine.page).toEqual(genuine.listed)
    const [summary, lines] = ['summary.json', 'episodes.jsonl'].map((file) => readFileSync(at('runs/own', file))) as [
      Buffer,
      Buffer,
    ]
    edit('runs/own/summary.json', (value) => {
      const { success, returns } = value
      const mean = { ...returns.unshaped.mean, mean: 99 }
      return {
        ...value,
        success: { ...success, overall: { ...success.overall, rate: 0.5 } },
        returns: { ...returns, unshaped: { ...returns.unshaped, mean } },
      }
    })
    expect(await shown('own')).toEqual(genuine)
    // An index of other lines, made by a viewer of somebody else.
    rmSync(at('runs/own/summary.json'))
    // As long as they were, so that only their content and the time of the file differ.
    const worse = lines.toString().replaceAll(/(?<="unshaped":)[^,}]+/g, (value) => '7'.padEnd(value.length, '0'))
    expect(worse).not.toBe(lines.toString())
    writeFileSync(at('runs/own/episodes.jsonl'), worse)
    const home = { EPISODIC_HOME: at('their-home') }
    const theirs = workshop.start(['view', 'runs', '--port', '0', '--no-open', '--json'], { env: home })
    await theirs.until(/"url"/)
    theirs.kill('SIGTERM')
    await theirs.ended
    writeFileSync(at('runs/own/episodes.jsonl'), lines)
    if (existsSync(at('runs/own/episodes.idx'))) utimesSync(at('runs/own/episodes.idx'), later(), later())
    expect(await shown('own')).toEqual(genuine)
    // Lines that were edited in place, with an own index that is older.
    writeFileSync(at('runs/own/episodes.jsonl'), worse)
    utimesSync(at('runs/own/episodes.jsonl'), later(), later())
    expect((await shown('own')).listed[1]).not.toBe(genuine.listed[1])
    writeFileSync(at('runs/own/episodes.jsonl'), lines)
    writeFileSync(at('runs/own/summary.json'), summary)
  })
})
