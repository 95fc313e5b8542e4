import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

const TASKS = '{"sum":[1,2]}\n'
const LICENCE = 'Anybody may do anything.\n'
const POLICY = 'Add up.\n'

/** A wheel as pip takes it: `sums-bench`, with a task file. */
function wheelOf(files: Readonly<Record<string, string>>, version = '1.2.0'): Uint8Array {
  const info = `sums_bench-${version}.dist-info`
  const all = {
    ...files,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: sums-bench\nVersion: ${version}\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: '',
  }
  return zipSync(Object.fromEntries(Object.entries(all).map(([path, text]) => [path, strToU8(text)])), { level: 6 })
}

const WHEEL = wheelOf({ 'sums/tasks.json': TASKS, 'sums/LICENSE': LICENCE, 'sums/other.py': 'pass\n' })
const NAME = 'sums_bench-1.2.0-py3-none-any.whl'
const ADDRESS = 'https://sums.invalid/sums.git'
let commit = ''

const git = (...args: string[]) =>
  execFileSync('git', ['-C', at('repository'), '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], {
    encoding: 'utf8',
  }).trim()

function writeSuite({ wheel = {}, files = {} }: { wheel?: object; files?: object } = {}): void {
  const kept = (from: string, path: string, text: string) => ({ from, path, sha256: sha256(text), bytes: text.length })
  const suite = {
    format: 1,
    name: 'sums',
    version: '1.0.0',
    worlds: [{ world: './sums.ts' }],
    data: {
      sources: [
        {
          wheel: 'sums-bench',
          version: '1.2.0',
          sha256: sha256(WHEEL),
          bytes: WHEEL.length,
          licence: { name: 'MIT', files: ['LICENSE.sums-bench'] },
          files: [
            { ...kept('sums/tasks.json', 'tasks.json', TASKS), ...files },
            kept('sums/LICENSE', 'LICENSE.sums-bench', LICENCE),
          ],
          ...wheel,
        },
        {
          repository: ADDRESS,
          commit,
          licence: { name: 'MIT', files: ['LICENSE.sums'] },
          files: [kept('policy/policy.md', 'policy.md', POLICY), kept('LICENSE', 'LICENSE.sums', LICENCE)],
        },
      ],
    },
  }
  writeFileSync(at('suites/sums.suite.json'), JSON.stringify(suite))
}

beforeAll(() => {
  for (const folder of ['suites', 'repository/policy', 'wheels', 'cut', 'newer', 'bare'])
    mkdirSync(at(folder), { recursive: true })
  writeFileSync(at('repository/policy/policy.md'), POLICY)
  writeFileSync(at('repository/LICENSE'), LICENCE)
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '-m', 'Sums')
  commit = git('rev-parse', 'HEAD')
  // The checkout is at something else: what counts is the commit.
  writeFileSync(at('repository/policy/policy.md'), 'Multiply.\n')
  // As servers of repositories are set.
  git('config', 'uploadpack.allowFilter', 'true')
  git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  writeFileSync(at('wheels', NAME), WHEEL)
  writeFileSync(at('cut', NAME), WHEEL.subarray(0, WHEEL.length / 2))
  writeFileSync(
    at('newer', 'sums_bench-1.3.0-py3-none-any.whl'),
    wheelOf({ 'sums/tasks.json': '{"sum":[1,3]}\n' }, '1.3.0'),
  )
})

let shelf = ''
let count = 0
beforeEach(() => {
  shelf = at(`shelf-${++count}`)
  writeSuite()
})

async function get(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const ended = await workshop.main(['suite', 'get', 'sums', ...args], { env: { EPISODIC_BENCHMARKS: shelf, ...env } })
  const kept = existsSync(shelf) ? readdirSync(shelf, { recursive: true, encoding: 'utf8' }).sort() : []
  return { ...ended, kept }
}

const WHOLE = ['sums', 'sums/LICENSE.sums', 'sums/LICENSE.sums-bench', 'sums/policy.md', 'sums/tasks.json']
const OFFLINE = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: '' }

describe('episodic suite get', () => {
  it('says size and licence, and keeps the named files with their licences', async () => {
    const first = await get(['--from', 'wheels', '--from', 'repository'])
    expect(first).toMatchObject({ status: 0, kept: WHOLE })
    expect(first.err).toMatch(
      /4 files of [\d.]+ K?B[\s\S]*sums-bench 1\.2\.0, licence MIT, a wheel of [\d.]+ K?B[\s\S]*getting sums-bench 1\.2\.0 from wheels/,
    )
    expect(readFileSync(join(shelf, 'sums/policy.md'), 'utf8')).toBe(POLICY)
    // A second time there is nothing to get.
    expect(await get([], OFFLINE)).toMatchObject({ status: 0, err: expect.stringContaining('as it was published') })
  })

  it('gets a commit with git, and a wheel with pip where there is Python', async () => {
    const config = {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `url.file://${at('repository')}.insteadOf`,
      GIT_CONFIG_VALUE_0: ADDRESS,
    }
    const hasPip = spawnSync('python3', ['-m', 'pip', '--version']).status === 0
    const pip = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: at('wheels') }
    const ended = await get(hasPip ? [] : ['--from', at('wheels', NAME)], { ...config, ...pip })
    expect(ended).toMatchObject({ status: 0, kept: WHOLE })
    expect(readFileSync(join(shelf, 'sums/policy.md'), 'utf8')).toBe(POLICY)
  })

  it.each<[string, readonly string[], string]>([
    ['an archive that is cut short', ['cut', 'repository'], 'is cut short: it has'],
    ['another version', ['newer', 'repository'], 'is of version 1.3.0. Give the wheel of sums-bench 1.2.0'],
    ['a place that is not there', ['gone'], 'There is no gone. Give a wheel'],
  ])('keeps nothing of %s', async (_, from, message) => {
    const ended = await get(from.flatMap((one) => ['--from', one]))
    expect([ended.status === 0, ended.err]).toEqual([false, expect.stringContaining(message)])
    expect(ended.kept).toEqual([])
  })

  it.each<[string, Parameters<typeof writeSuite>[0], string]>([
    [
      'a newer version of a task file',
      { files: { sha256: sha256('{}') } },
      'sums/tasks.json of sums-bench 1.2.0 is another version',
    ],
    [
      'a file that is not in the archive',
      { files: { from: 'sums/gone.json' } },
      'sums-bench 1.2.0 has no sums/gone.json',
    ],
    [
      'a source without the text of its licence',
      { wheel: { licence: { name: 'MIT', files: ['NOTICE'] } } },
      'the text of the licence is not among the files',
    ],
    ['a path out of its folder', { files: { path: '../tasks.json' } }, 'not a relative path'],
  ])('keeps nothing of %s', async (_, wrong, message) => {
    writeSuite(wrong)
    const ended = await get(['--from', 'wheels', '--from', 'repository'])
    expect([ended.status, ended.err]).toEqual([1, expect.stringContaining(message)])
    expect(ended.kept).toEqual([])
  })

  it('takes the archive of a commit, as servers of repositories give it', async () => {
    git('archive', '--prefix', 'sums-main/', '--output', at('sums.tar.gz'), commit)
    writeFileSync(at('cut.tar.gz'), readFileSync(at('sums.tar.gz')).subarray(0, 100))
    const cut = await get(['--from', 'wheels', '--from', 'cut.tar.gz'])
    expect(cut).toMatchObject({ status: 1, kept: [] })
    expect(cut.err).toMatch(/cannot be got here: .*Where there is a network, get a checkout of it/)
    const ended = await get(['--from', 'wheels', '--from', 'sums.tar.gz'])
    expect(ended).toMatchObject({ status: 0, kept: WHOLE, err: expect.stringContaining('from sums.tar.gz') })
  })

  it('leaves what is there as it is if the new data is wrong', async () => {
    await get(['--from', 'wheels', '--from', 'repository'])
    writeFileSync(join(shelf, 'sums/tasks.json'), 'mine\n')
    expect(await get(['--from', 'cut', '--from', 'repository'])).toMatchObject({ status: 1, kept: WHOLE })
    expect(readFileSync(join(shelf, 'sums/tasks.json'), 'utf8')).toBe('mine\n')
    expect(await get(['--from', 'wheels', '--from', 'repository'])).toMatchObject({ status: 0, kept: WHOLE })
    expect(readFileSync(join(shelf, 'sums/tasks.json'), 'utf8')).toBe(TASKS)
  })

  it('says what to give where there is no network, and where there is no Python', async () => {
    const offline = await get(['--from', 'repository'], OFFLINE)
    expect(offline.err).toMatch(
      /sums-bench 1\.2\.0 cannot be got here: .*pip download --no-deps sums-bench==1\.2\.0.*--from <file or folder>/,
    )
    mkdirSync(at('empty'), { recursive: true })
    const without = await get(['--from', 'repository'], { PATH: at('empty') })
    expect(without.err).toContain('there is no Python here')
    expect([offline.status, without.status, without.kept]).toEqual([1, 1, []])
  })
})
