import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SuiteResult } from '@episodic/suites/suite-result'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const LAKE = fileURLToPath(new URL('../../../../../../satellites/classics/src/frozen-lake.ts', import.meta.url))
const NIM = fileURLToPath(new URL('../../fixtures/nim.fixture.ts', import.meta.url))

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)

/** A coin with references of its own: the number of its sides is measured, and a policy always calls heads. */
const COIN = `${COIN_WORLD}
export const policies = { heads: { name: 'heads', start: () => () => ({ tool: 'toss', arguments: { heads: true } }) } }
export const references = [
  { id: 'sides', params: {}, quantity: 'sides', value: 2, tolerance: 'exact', source: 'a coin', how: { kind: 'sides' } },
  { id: 'toss/random', params: {}, quantity: 'share of right calls', value: 0.5, tolerance: 'interval', source: 'a coin', how: { kind: 'played', policy: 'random' } },
]
export const measure = ({ value }) => ({ value: 2, holds: value === 2 })
`

function writeSuite(name: string, world: object, more: object = {}): string {
  const suite = {
    format: 1,
    name,
    version: '1.0.0',
    episodes: 60,
    worlds: [{ world: '../coin.ts', ...world }],
    ...more,
  }
  writeFileSync(at('suites', `${name}.suite.json`), JSON.stringify(suite))
  return name
}

async function run(...args: string[]) {
  const { status, out, err } = await workshop.main(['suite', 'run', ...args, '--json'])
  return { status, err, result: out === '' ? null : (JSON.parse(out) as SuiteResult) }
}

const heads = { id: 'toss/heads', params: {}, policy: 'heads', expected: 0.5, source: 'symmetry' }

beforeAll(() => {
  writeFileSync(at('coin.ts'), COIN)
  mkdirSync(at('suites'))
  writeSuite('coins', { played: [heads] })
})

describe('episodic suite run', () => {
  it('plays one world over HTTP, and scores a policy between random and best play', async () => {
    const references = ['table', 'solver-played', 'random-played'].map((id) => `4x4-slippery/${id}`)
    writeSuite('lake', {}, { worlds: [{ world: '../coin.ts' }, { world: LAKE, references }] })
    const options = ['--episodes', '30', '--policy', 'random', '--transport', 'http']
    const { status, result } = await run('lake/frozen-lake', ...options, '--out', 'lake')
    expect(status).toBe(0)
    expect(result?.worlds.map(({ environment }) => environment.name)).toEqual(['frozen-lake'])
    const [table, solver, random, scored] = result?.worlds[0]?.lines ?? []
    expect(table).toMatchObject({ kind: 'exact', verdict: 'same' })
    expect(solver).toMatchObject({ kind: 'played', verdict: 'inside', finished: 30 })
    expect(scored).toMatchObject({
      kind: 'scored',
      id: '4x4-slippery/scored-random',
      anchors: { random: 0.013939795959, optimum: 0.744190287829 },
      // The same tasks and the same policy as in the line of the reference.
      here: random?.here,
      score: { low: expect.closeTo(-0.019, 3) },
    })
  })

  it('plays games with a policy in each seat, and a further policy in each seat against the solver', async () => {
    // The first player takes three, then the last three: each stone is worth 0.01, and winning 1.
    const seats = { ann: 'solver', bob: 'solver' }
    const first = { id: 'first', params: {}, seats, expected: 1.06, source: 'closed form' }
    const second = { ...first, id: 'second', focus: 'bob', expected: -0.99 }
    writeSuite('nim', {}, { episodes: 4, worlds: [{ world: NIM, played: [first, second] }] })
    const { status, result } = await run('nim', '--policy', 'random', '--out', 'nim')
    expect(status).toBe(0)
    expect(result?.worlds[0]?.lines).toMatchObject([
      { kind: 'played', focus: 'ann', here: { mean: expect.closeTo(1.06, 9) }, verdict: 'inside' },
      { kind: 'played', focus: 'bob', here: { mean: expect.closeTo(-0.99, 9) }, verdict: 'inside' },
      {
        kind: 'scored',
        id: 'scored-random-as-ann',
        seats: { ann: 'random', bob: 'solver' },
        focus: 'ann',
        score: null,
      },
      {
        kind: 'scored',
        id: 'scored-random-as-bob',
        seats: { ann: 'solver', bob: 'random' },
        focus: 'bob',
        finished: 4,
      },
    ])
  })

  it('plays a suite of one’s own, whose lines are ordinary runs that can be replayed', async () => {
    const { status, result } = await run('coins', '--out', 'mine')
    expect(status).toBe(0)
    expect(result?.counts).toEqual({ references: 3, hold: 3, differ: 0, notChecked: 0 })
    const [sides, random, called] = result?.worlds[0]?.lines ?? []
    expect(sides).toMatchObject({ kind: 'exact', here: 2, verdict: 'same' })
    expect(random).toMatchObject({ kind: 'played', policy: 'random', finished: 60, failed: 0, verdict: 'inside' })
    expect(called).toMatchObject({ kind: 'played', quantity: 'mean return of heads', run: 'runs/coin/toss-heads' })
    const right = readEpisodes(at('mine', 'runs/coin/toss-heads')).filter(({ returns }) => returns?.unshaped === 1)
    expect(called?.here).toMatchObject({ mean: right.length / 60 })
    expect(JSON.parse(readFileSync(at('mine/suite.json'), 'utf8'))).toEqual(result)
    const replay = await workshop.main(['replay', 'mine/runs/coin/toss-heads'])
    expect([replay.status, replay.out]).toEqual([0, expect.stringContaining('60 reproduced')])
  })

  it.each<[string, string[], number, string]>([
    ['an unknown suite', ['nothing'], 2, 'There is no suite "nothing"'],
    ['an unknown world', ['coins/dice'], 2, 'The suite coins has no world dice. It has: coin.'],
    ['a policy without episodes', ['coins', '--quick', '--policy', 'random'], 2, 'Leave one of them out'],
    ['an unknown policy', ['coins', '--policy', 'clever', '--out', 'clever'], 2, 'There is no policy "clever"'],
  ])('rejects %s', async (_, args, status, message) => {
    const ended = await run(...args)
    expect([ended.status, ended.err]).toEqual([status, expect.stringContaining(message)])
  })

  it.each<[string, object, object, string]>([
    ['an unknown field', { plyed: [] }, {}, 'Unrecognized key: "plyed"'],
    ['a figure without a source', { played: [{ ...heads, source: '' }] }, {}, 'worlds[0].played[0].source'],
    ['one episode', {}, { episodes: 1 }, 'at episodes'],
    ['an unknown reference', { references: ['edges'] }, {}, 'coin has no reference edges. It has: sides, toss/random.'],
    ['two lines of one name', { played: [heads, heads] }, {}, 'coin has two lines called toss/heads'],
    [
      'no policy',
      { played: [{ ...heads, policy: undefined }] },
      {},
      'coin toss/heads: give either "policy" or "seats"',
    ],
    ['seats of a world of one', { played: [{ ...heads, policy: undefined, seats: { a: 'random' } }] }, {}, 'one seat'],
    ['no seats of a game', { world: NIM, played: [heads] }, {}, 'the game has the seats ann, bob. Give "seats"'],
    [
      'a missing seat',
      { world: NIM, played: [{ ...heads, policy: undefined, seats: { ann: 'random' } }] },
      {},
      'its seats are ann, bob. Give a policy for each',
    ],
    ['a world twice', {}, { worlds: [{ world: '../coin.ts' }, { world: '../coin.ts' }] }, 'names coin twice'],
    ['a world that is not there', { world: '../gone.ts' }, {}, 'There is no world "../gone.ts"'],
  ])('rejects a suite file with %s', async (_, world, more, message) => {
    writeSuite('broken', world, more)
    const { err, status } = await run('broken')
    expect(err).toContain(message)
    expect(status).toBeGreaterThan(0)
  })
})
