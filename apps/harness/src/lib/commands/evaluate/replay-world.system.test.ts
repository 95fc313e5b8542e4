import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, openWorkshop, type Workshop } from '../../fixtures/episodic.fixture.ts'

let workshop: Workshop

beforeAll(async () => {
  workshop = openWorkshop()
  mkdirSync(at('worlds'))
  writeFileSync(at('worlds/toss.ts'), COIN_WORLD)
  for (const [seed, out] of [
    ['0', []],
    ['1', ['--out', 'runs/other']],
  ] as const)
    expect(
      await workshop.main(['run', 'worlds/toss.ts', '--policy', 'random', '--tasks', '9', '--seed', seed, ...out]),
    ).toMatchObject({ status: 0 })
})
afterAll(() => workshop[Symbol.dispose]())

const at = (path: string): string => join(workshop.folder, path)

describe('the world of a run', () => {
  it('is found by replay, compare and report without options, for any file name of its module', async () => {
    expect(await workshop.main(['replay', 'runs/coin-random-0'])).toMatchObject({ status: 0, err: '' })
    expect(await workshop.main(['report', 'runs/coin-random-0'])).toMatchObject({ status: 0, err: '' })
    expect(
      await workshop.main(['run', './worlds/toss.ts', '--policy', 'random', '--tasks', '9', '--out', 'again']),
    ).toMatchObject({ status: 0 })
    expect(await workshop.main(['compare', 'runs/coin-random-0', 'again'])).toMatchObject({ status: 0, err: '' })
  })

  it('is recorded with paths that stay valid if the whole project is moved', async () => {
    const { sources } = JSON.parse(readFileSync(at('runs/coin-random-0/run.json'), 'utf8'))
    expect(sources).toEqual({
      world: {
        reference: 'worlds/toss.ts',
        file: '../../worlds/toss.ts',
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      dataset: null,
    })
    mkdirSync(at('moved/runs'), { recursive: true })
    cpSync(at('worlds'), at('moved/worlds'), { recursive: true })
    cpSync(at('runs/coin-random-0'), at('moved/runs/coin'), { recursive: true })
    // The mark of a run is of its folder, so what it names has to be named again.
    const moved = await workshop.main(['replay', 'moved/runs/coin'])
    expect(moved).toMatchObject({ status: 2, err: expect.stringContaining('--world moved/worlds/toss.ts') })
    const named = ['replay', 'moved/runs/coin', '--world', 'moved/worlds/toss.ts']
    expect(await workshop.main(named)).toMatchObject({ status: 0, err: '' })
  })

  it('is reported as changed if its module has changed, and is still played', async () => {
    writeFileSync(at('worlds/toss.ts'), `${COIN_WORLD}\n// A comment that changes no rule.\n`)
    const replayed = await workshop.main(['replay', 'runs/coin-random-0'])
    expect(replayed).toMatchObject({ status: 0, out: expect.stringContaining('9 reproduced') })
    expect(replayed.err).toContain('worlds/toss.ts has changed since this run was played')
    const resume = ['run', 'worlds/toss.ts', '--policy', 'random', '--tasks', '9', '--resume']
    expect((await workshop.main(resume)).err).toContain('worlds/toss.ts has changed since this run started.')
    writeFileSync(at('worlds/toss.ts'), COIN_WORLD)
    expect((await workshop.main(resume)).err).not.toContain('has changed')
  })
})
