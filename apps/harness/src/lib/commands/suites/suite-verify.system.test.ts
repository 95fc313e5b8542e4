import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chainOf, type EpisodeRecord, sealOf } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HOSTILE, lacksBrowser, usePages } from '../../fixtures/browser.fixture.ts'
import { COIN_WORLD, openWorkshop } from '../../fixtures/episodic.fixture.ts'
import type { Leaderboard } from '../../suites/suite/leaderboard.ts'
import type { SuiteResult } from '../../suites/suite/suite-result.ts'

const NIM = fileURLToPath(new URL('../../fixtures/nim.fixture.ts', import.meta.url))

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const open = usePages()
const at = (...path: string[]) => join(workshop.folder, ...path)

const COIN = `${COIN_WORLD}
const always = (heads) => ({ name: heads ? 'heads' : 'tails', start: () => () => ({ tool: 'toss', arguments: { heads } }) })
export const policies = { heads: always(true), tails: always(false) }
export const references = [
  { id: 'sides', params: {}, quantity: 'sides', value: 2, tolerance: 'exact', source: 'a coin', how: { kind: 'sides' } },
  { id: 'toss/random', params: {}, quantity: 'share of right calls', value: 0.5, tolerance: 'interval', source: 'a coin', how: { kind: 'played', policy: 'random' } },
]
export const measure = ({ value }) => ({ value: 2, holds: value === 2 })
`
const SCORED = 'runs/coin/toss-scored-heads'
const NIM_LINE = {
  id: 'first',
  params: {},
  seats: { ann: 'solver', bob: 'solver' },
  expected: 1.06,
  source: 'closed form',
}

beforeAll(async () => {
  writeFileSync(at('coin.ts'), COIN)
  mkdirSync(at('suites'))
  const worlds = [{ world: '../coin.ts' }, { world: NIM, played: [NIM_LINE] }]
  const suite = { format: 1, name: 'coins', version: '1.0.0', episodes: 40, worlds }
  writeFileSync(at('suites/coins.suite.json'), JSON.stringify(suite))
  // The coin alone, for a policy that the game does not have.
  writeFileSync(
    at('suites/tosses.suite.json'),
    JSON.stringify({ ...suite, name: 'tosses', worlds: worlds.slice(0, 1) }),
  )
  await play('tosses', 'heads', 'sound')
})

async function play(suite: string, policy: string, out: string, ...more: string[]): Promise<void> {
  const { status, err } = await workshop.main(['suite', 'run', suite, '--policy', policy, '--out', out, ...more])
  expect([status, err]).toEqual([0, expect.not.stringContaining('error')])
}

async function verify(folder: string, ...more: string[]) {
  const { status, out, err } = await workshop.main(['suite', 'verify', folder, '--json', ...more])
  const { findings } = JSON.parse(out || '{"findings":[]}') as { findings: { line: string | null; what: string }[] }
  return { status, err, findings: findings.map(({ line, what }) => (line === null ? what : `${line}: ${what}`)) }
}

let copies = 0
/** A copy of the sound submission. */
function copy(): string {
  const folder = `copy-${copies++}`
  cpSync(at('sound'), at(folder), { recursive: true })
  return folder
}

function editResult(folder: string, edit: (result: SuiteResult) => void): void {
  const result = JSON.parse(readFileSync(at(folder, 'suite.json'), 'utf8'))
  edit(result)
  writeFileSync(at(folder, 'suite.json'), JSON.stringify(result))
}

/** Edits the sealed lines of the scored run, and computes the result from them again. */
async function editLines(folder: string, edit: (lines: EpisodeRecord[]) => readonly EpisodeRecord[]): Promise<void> {
  const file = at(folder, SCORED, 'episodes.jsonl')
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const edited = edit(lines.map((line) => JSON.parse(line)))
  writeFileSync(file, edited.map((line) => `${JSON.stringify(line)}\n`).join(''))
  await play('tosses', 'heads', folder, '--resume')
}

/** Seals a line again, as somebody does who knows how. */
function reseal(line: EpisodeRecord): EpisodeRecord {
  const chained = { ...line, chain: chainOf(line) }
  return 'seal' in chained ? { ...chained, seal: sealOf(chained) } : chained
}

/** An episode whose call was wrong, as one that was right. */
function won(line: EpisodeRecord): EpisodeRecord {
  const text = JSON.stringify(line).replaceAll('"wrong"', '"right"').replaceAll('"right":0', '"right":1')
  const { steps, returns, ...rest } = JSON.parse(text) as EpisodeRecord
  return {
    ...rest,
    steps: steps.map((step) => ({ ...step, reward: { ...step.reward, total: 1 } })),
    returns: returns && { ...returns, total: 1, unshaped: 1, discounted: 1 },
  }
}

const isLost = ({ returns }: EpisodeRecord) => returns?.unshaped === 0

describe('episodic suite verify', () => {
  it('accepts a result as it was made, also one of a game', async () => {
    expect(await verify('sound')).toEqual({ status: 0, err: '', findings: [] })
    await play('coins', 'random', 'games')
    expect(await verify('games')).toEqual({ status: 0, err: '', findings: [] })
    const { out } = await workshop.main(['suite', 'verify', 'sound'])
    expect(out).toBe('holds  tosses 1.0.0: 3 lines\n')
  })

  it('accepts it in another folder, with the suite named by its path', async () => {
    expect(await verify(copy(), '--suite', at('suites/tosses.suite.json'))).toMatchObject({ status: 0, findings: [] })
  })

  it('finds an invented figure', async () => {
    const folder = copy()
    editResult(folder, ({ worlds: [coin] }) => {
      const line = coin?.lines.at(-1)
      if (line?.kind === 'scored') Object.assign(line.here as object, { mean: 0.97 })
    })
    const { status, err, findings } = await verify(folder)
    expect([status, err]).toEqual([1, expect.stringContaining(`${folder} does not hold: 1 finding.`)])
    expect(findings).toEqual([
      expect.stringMatching(/^toss\/scored-heads: here\.mean is 0\.97 in the result, and 0\.\d+ here\./),
    ])
  })

  it('finds an invented exact figure, a verdict and counts', async () => {
    const folder = copy()
    editResult(folder, (result) => {
      Object.assign(result.worlds[0]?.lines[0] as object, { here: 3 })
      Object.assign(result.worlds[0]?.lines[1] as object, { verdict: 'differs' })
    })
    expect((await verify(folder)).findings).toEqual([
      'sides: here is 3 in the result, and 2 here.',
      'toss/random: verdict is "differs" in the result, and "inside" here.',
      'counts.hold does not follow from the lines.',
    ])
  })

  it('finds an edited episode, whose figures were computed again', async () => {
    const folder = copy()
    await editLines(folder, (lines) => lines.map((line) => (isLost(line) ? won(line) : line)))
    expect((await verify(folder)).findings).toEqual([expect.stringContaining('it was edited or damaged')])
  })

  it('finds an edited episode that was sealed again', async () => {
    const folder = copy()
    await editLines(folder, (lines) => lines.map((line) => (isLost(line) ? reseal(won(line)) : line)))
    const { status, findings } = await verify(folder)
    expect([status, findings]).toEqual([1, [expect.stringMatching(/\d+ of 40 episodes differ from their replay/)]])
  })

  it('finds missing episodes, and lines that were sealed after the result', async () => {
    const folder = copy()
    const file = at(folder, SCORED, 'episodes.jsonl')
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    const right = lines.filter((line) => JSON.parse(line).returns.unshaped === 1)
    writeFileSync(file, `${right.join('\n')}\n`)
    const { findings } = await verify(folder)
    expect(findings[0]).toBe(`toss/scored-heads: ${40 - right.length} of 40 episodes are missing.`)
    editResult(folder, ({ worlds: [coin] }) => {
      const line = coin?.lines.at(-1)
      if (line?.kind === 'scored') Object.assign(line, { here: { mean: 1, low: 1, high: 1 }, finished: right.length })
    })
    expect((await verify(folder)).findings[0]).toBe(findings[0])
  })

  it('finds an episode that was played twice with different ends', async () => {
    const folder = copy()
    const file = at(folder, SCORED, 'episodes.jsonl')
    const [first = ''] = readFileSync(file, 'utf8').split('\n')
    writeFileSync(file, `${readFileSync(file, 'utf8')}${JSON.stringify(reseal(won(JSON.parse(first))))}\n`)
    expect((await verify(folder)).findings.join()).toMatch(/conflict with another line|differ from their replay/)
  })

  it('finds tasks and settings that are not those of the suite', async () => {
    const folder = copy()
    const file = at(folder, SCORED, 'run.json')
    writeFileSync(
      file,
      readFileSync(file, 'utf8')
        .replace('"maxSteps": null', '"maxSteps": 9')
        .replace(/"sha256": "\w{8}/, '"sha256": "00000000'),
    )
    expect((await verify(folder)).findings).toEqual([
      expect.stringContaining('run.json has tasks.sha256 "00000000'),
      expect.stringContaining('run.json has maxSteps 9, and the suite null.'),
    ])
  })

  it('finds lines that are missing, strange or twice in the result', async () => {
    const folder = copy()
    editResult(folder, ({ worlds: [coin] }) => {
      const [sides, random] = coin?.lines ?? []
      coin?.lines.splice(0, 2, { ...sides, id: 'edges' } as never, random as never, random as never)
    })
    expect((await verify(folder)).findings.slice(0, 3)).toEqual([
      'sides: It is missing in the result.',
      'toss/random: It is in the result twice.',
      'edges: The suite has no such line.',
    ])
  })

  it('finds a result with fewer episodes, and one of another suite', async () => {
    await play('tosses', 'heads', 'few', '--episodes', '10')
    expect((await verify('few')).findings).toEqual(['It plays 10 episodes of each figure, and the suite 40.'])
    const { findings } = await verify(copy(), '--suite', 'coins')
    expect(findings).toEqual([expect.stringContaining('other worlds, lines or references')])
  })

  it('finds that the world has another version now', async () => {
    const folder = copy()
    writeFileSync(at('coin.ts'), COIN.replace("version: '1.0.0'", "version: '1.0.1'"))
    const { status, out } = await workshop.run(['suite', 'verify', folder])
    writeFileSync(at('coin.ts'), COIN)
    expect([status, out]).toEqual([1, 'It was played with coin 1.0.0, and here is 1.0.1.\n'])
  })

  it('loads no suite that a result names by a path', async () => {
    const folder = copy()
    writeFileSync(at(folder, 'own.suite.json'), readFileSync(at('suites/tosses.suite.json')))
    editResult(folder, (result) => Object.assign(result.suite, { name: `${folder}/own.suite.json` }))
    const { status, err } = await verify(folder)
    expect([status, err]).toEqual([1, expect.stringContaining('not a name of letters, digits')])
  })

  it('rejects a folder without a result', async () => {
    const { status, err } = await verify('suites')
    expect([status, err]).toEqual([1, expect.stringContaining('holds no result of a suite')])
  })
})

describe('episodic suite leaderboard', () => {
  it('ranks verified policies in each variant, and rejects the others', async () => {
    await play('tosses', 'tails', 'tails')
    const forged = copy()
    editResult(forged, (result) => Object.assign(result.suite, { sha256: 'ff' }))
    const args = ['suite', 'leaderboard', 'sound', 'tails', forged]
    const { status, out, err } = await workshop.main([...args, '--json'])
    expect([status, err]).toEqual([1, expect.stringContaining('1 submission of 3 rejected.')])
    const board = JSON.parse(out) as Leaderboard
    expect(board.rejected.map(({ folder }) => folder)).toEqual([forged])
    const [table, ...more] = board.tables
    expect(more).toEqual([])
    expect(table).toMatchObject({ world: 'coin', variant: 'toss' })
    expect(table?.entries.map(({ policy }) => policy).sort()).toEqual(['heads', 'tails'])
    const means = table?.entries.map(({ here }) => here?.mean as number) ?? []
    // The same tosses: who calls heads is right where the other is wrong.
    expect(means[0]).toBeGreaterThanOrEqual(means[1] as number)
    expect((means[0] as number) + (means[1] as number)).toBeCloseTo(1, 9)
    const shown = await workshop.main(args.slice(0, 4))
    expect(shown.status).toBe(0)
    expect(shown.out).toMatch(/tosses 1\.0\.0\n\n {2}coin toss +random 0\.5\n/)
  })

  it.skipIf(lacksBrowser)('writes a page that shows hostile names as text', async () => {
    const hostile = copy()
    editResult(hostile, (result) => Object.assign(result, { policy: HOSTILE }))
    await workshop.main(['suite', 'leaderboard', 'sound', hostile, '--html', 'board/index.html'])
    const { page, faults } = await open(readFileSync(at('board/index.html'), 'utf8'))
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect(await page.locator('tr').count()).toBe(2)
    expect(await page.locator('li').count()).toBeGreaterThan(0)
    expect(faults).toEqual([])
  })
})
