import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SuiteResult } from '@episodic/suites/suite-result'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)

/** A till of three tasks, one of which is solved by doing nothing. */
const TILL = `
import { defineTasks } from '${import.meta.resolve('@episodic/dataset')}'
import { definePolicy } from '${import.meta.resolve('@episodic/env')}'
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'
const amounts = { none: 0, three: 3, five: 5 }
const names = Object.keys(amounts)
const close = { tool: 'close', arguments: {} }
export const environment = defineEnvironment({
  name: 'till',
  version: '1.0.0',
  description: 'Put coins into a till.',
  params: z.object({ task: z.enum(names) }),
  state: { public: z.object({}), private: z.object({ coins: z.int() }) },
  start: () => ({ public: {}, private: { coins: 0 } }),
  observe: () => 'A till.',
  tools: ({ tool }) => ({
    add: tool({
      description: 'Put coins in.',
      input: z.object({ coins: z.int() }),
      play({ state, input: { coins }, say }) {
        state.private.coins += coins
        return say(coins + ' more.')
      },
    }),
    close: tool({
      description: 'End.',
      input: z.object({}),
      play({ end, say }) {
        end('closed')
        return say('Closed.')
      },
    }),
  }),
  rewards: { right: ({ end, after, params }) => (end && after.private.coins === amounts[params.task] ? 1 : 0) },
  success: ({ state, params }) => state.private.coins === amounts[params.task],
  verdicts: { thrifty: ({ state }) => state.private.coins < 4 },
})
export const tasks = defineTasks({
  name: 'till',
  environment,
  count: 3,
  generate: ({ index }) => ({ prompt: 'Fill it.', params: { task: names[index] }, difficulty: 0, seed: String(index) }),
})
const playing = (name, callsOf) =>
  definePolicy(environment, {
    name,
    start({ task }) {
      const calls = callsOf(task.params.task)
      return () => calls.shift()
    },
  })
export const solver = playing('solver', (task) => [{ tool: 'add', arguments: { coins: amounts[task] } }, close])
export const policies = {
  nothing: playing('nothing', () => [close]),
  three: playing('three', () => [{ tool: 'add', arguments: { coins: 3 } }, close]),
}
`

const NIM = fileURLToPath(new URL('../../fixtures/nim.fixture.ts', import.meta.url))
const FILE = () => at('suites/till.suite.json')
const readSuite = () => JSON.parse(readFileSync(FILE(), 'utf8'))

beforeAll(async () => {
  writeFileSync(at('till.ts'), TILL)
  await workshop.main(['suite', 'init', 'till.ts'])
})

async function verify(...args: string[]) {
  const { status, out, err } = await workshop.main(['suite', 'verify', ...args, '--json'])
  return { status, err, result: out === '' ? null : (JSON.parse(out) as SuiteResult) }
}

describe('episodic suite init', () => {
  it('writes a suite of a world, whose golden actions and floor verify without a model', async () => {
    expect(readSuite().worlds).toMatchObject([{ world: '../till.ts', tasks: 3, floor: 1, golden: 3 }])
    const { status, result } = await verify('till')
    expect(status).toBe(0)
    expect(result?.worlds).toMatchObject([{ tasks: 3, golden: { equal: 3, compared: 3, without: 0 } }])
    const { out } = await workshop.main(['suite', 'verify', 'till'])
    expect(out).toMatch(/till +– +3 +3\/3 +1\/3 +33\.3 %/)
    expect(await workshop.main(['suite', 'init', 'till.ts'])).toMatchObject({
      status: 1,
      err: expect.stringContaining('is there already'),
    })
  })
})

describe('a suite of a game', () => {
  it('has the calls of every seat as golden actions', async () => {
    expect(await workshop.main(['suite', 'init', NIM, '--out', 'suites/game.suite.json'])).toMatchObject({ status: 0 })
    const { result } = await verify('game')
    expect(result?.worlds).toMatchObject([{ tasks: 100, golden: { equal: 100, compared: 100 } }])
  })
})

describe('episodic suite verify', () => {
  it('names the first task whose golden actions come to something else, and what differs', async () => {
    writeFileSync(
      at('suites/other.ts'),
      TILL.replace("' more.'", "' in.'").replace('coins += coins', 'coins += coins + (coins === 5)'),
    )
    const { worlds, ...suite } = readSuite()
    writeFileSync(
      at('suites/other.suite.json'),
      JSON.stringify({ ...suite, name: 'other', worlds: [{ ...worlds[0], world: './other.ts' }] }),
    )
    const { status, err, result } = await verify('./suites/other.suite.json')
    expect(status).toBe(1)
    expect(err).toMatch(/other: task none: its answers differ \([\da-f]{16} here, [\da-f]{16} in the original\)\./)
    expect(err).toMatch(/task five: its answers differ [^;]*; its state differs [^;]*; it is not solved here/)
    expect(result?.worlds[0]?.golden).toMatchObject({ equal: 0, compared: 3 })
  })

  it('finds what a suite says of a world and is not so', async () => {
    const { worlds, ...suite } = readSuite()
    const wrong = { ...worlds[0], tasks: 3, golden: 4, floor: 2 }
    writeFileSync(at('suites/wrong.suite.json'), JSON.stringify({ ...suite, name: 'wrong', worlds: [wrong] }))
    const { status, err } = await verify('wrong')
    expect(status).toBe(1)
    expect(err).toContain('the suite has 4 as its number of "golden", and there are 3')
    expect(err).toContain('doing nothing solves 1 tasks, and the suite says 2 of 3')
  })
})

describe('episodic suite list', () => {
  it('lists suites of the folder and of installed packages, with tasks, and what is no suite', async () => {
    writeFileSync(at('suites/broken.suite.json'), '{}')
    const { status, out, err } = await workshop.main(['suite', 'list'])
    expect(status).toBe(0)
    expect(out).toMatch(/till +1\.0\.0 +till +3 +–/)
    expect(out).toMatch(/classics +\d/)
    expect(err).toContain('broken.suite.json is not a suite file')
  })
})

describe('a world of an installed package of benchmarks', () => {
  it('is named by its suite and its own name', async () => {
    const folder = at('node_modules/@episodic/benchmarks')
    mkdirSync(folder, { recursive: true })
    const { worlds, ...suite } = readSuite()
    const [{ goldenFile: _, golden: __, ...world }] = worlds
    writeFileSync(join(folder, 'drawer.ts'), TILL)
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: '@episodic/benchmarks', type: 'module', exports: { './shop/drawer': './drawer.ts' } }),
    )
    writeFileSync(
      join(folder, 'shop.suite.json'),
      JSON.stringify({ ...suite, name: 'shop', worlds: [{ ...world, world: '@episodic/benchmarks/shop/drawer' }] }),
    )
    const ran = await workshop.main([
      'run',
      'shop/drawer',
      '--policy',
      'nothing',
      '--tasks',
      '3',
      '--json',
      '--out',
      'drawer',
    ])
    expect([ran.status, ran.err]).toEqual([0, expect.anything()])
    expect((await verify('shop/drawer')).result?.worlds).toMatchObject([{ name: 'drawer', tasks: 3, golden: null }])
    expect(await verify('shop/box')).toMatchObject({ status: 2, err: expect.stringContaining('It has: drawer.') })
  })
})

describe('episodic suite run', () => {
  it('prints a score beside its proof, with and without known defects, and how much repeats differ', async () => {
    const suite = readSuite()
    const defects = [{ issue: 'sums#7', tasks: ['five'], what: 'It asks for another amount.' }]
    const worlds = [{ ...suite.worlds[0], defects }]
    const known = { ...suite, name: 'known', worlds, notReproduced: ['the judge of manners'] }
    writeFileSync(at('suites/known.suite.json'), JSON.stringify(known))
    const { status, out } = await workshop.main(['suite', 'run', 'known', '--policy', 'three', '--rollouts', '2'])
    expect(status).toBe(0)
    expect(out).toMatch(/till +1 task +3 +3\/3 +1\/3 +33\.3 %[\s\S]*till: known defects sums#7/)
    expect(out).toMatch(/till: three solves 33\.3 % \(2\/6\), 95 % interval/)
    expect(out).toMatch(/with 3 tasks, 0 of them solved in some rollouts and not in others/)
    expect(out).toContain('without known defects 50.0 % (2/4)')
    expect(out).toContain('till: three has thrifty 100.0 %')
    expect(out).toContain('not reproduced: the judge of manners')
    const kept = JSON.parse(readFileSync(at('runs/known-three-0/suite.json'), 'utf8')) as SuiteResult
    expect(kept.worlds[0]?.lines.at(-1)).toMatchObject({ kind: 'scored', solved: { successes: 2, count: 6, flips: 0 } })
  })
})
