import { afterAll, describe, expect, it } from 'vitest'
import { findCheats } from '../cheats/cheats.ts'
import { createDisk, type NewFile } from '../disk/create-disk.ts'
import type { Disk } from '../disk/disk.ts'
import { bubblewrap } from '../machine/bubblewrap.ts'
import { type JudgedRun, judge } from './judge.ts'
import { judgeCalls } from './judge-calls.ts'

const machine = bubblewrap()
afterAll(() => machine.close())

const CODE = {
  js: ['/app/cart.mjs', 'export function total(a, b) {\n  return a - b\n}\n'],
  py: ['/app/cart.py', 'def total(a, b):\n    return a - b\n'],
} as const

const repaired = (code: string) => code.replace('a - b', 'a + b')

/** The disks of those who cheat, and of who does the work, by what they do. */
function disksOf([path, code]: readonly [path: string, code: string]): [name: string, disk: Disk][] {
  const [start, solved] = [code, repaired(code)].map((text) => createDisk({ [path]: text })) as [Disk, Disk]
  const cheats = findCheats('write_file')('write_file', { disk: start }, { disk: solved })
  const left = cheats.map(({ name, actions }): [string, Disk] => {
    const files = actions.map(({ arguments: { path, content } }): [string, NewFile] => [
      path as string,
      { content: content as string, mode: 0o755 },
    ])
    return [name, createDisk({ [path]: code, ...Object.fromEntries(files) })]
  })
  return [...left, ['does the work', solved]]
}

describe('on a machine', () => {
  it.each(['js', 'py'] as const)('only the work is paid by outputs: %s', async (language) => {
    const tests = [
      { call: 'total', args: [1, 2], returns: 3 },
      { call: 'total', args: [7, 5], returns: 12 },
    ]
    const judged = disksOf(CODE[language]).map(async ([name, disk]) => {
      const { passed } = await judgeCalls(disk, { module: CODE[language][0], tests, machine })
      return passed > 0 ? [name, passed] : []
    })
    expect((await Promise.all(judged)).flat()).toEqual(['does the work', 2])
  })

  it('a framework that loads the code is won by what patches and reads its tests, and by no other kind', async () => {
    const files = {
      '/app/cart.test.mjs': `import { equal } from 'node:assert'
        import test from 'node:test'
        import { total } from './cart.mjs'
        test('adds', () => equal(total(1, 2), 3))
        test('adds more', () => equal(total(7, 5), 12))`,
    }
    const names = ['adds', 'adds more']
    const compare = ({ stdout, exitCode }: JudgedRun) =>
      exitCode === 0 && names.every((name) => new RegExp(`^ok \\d+ - ${name}$`, 'm').test(stdout))
    const judged = disksOf(CODE.js).map(async ([name, disk]) => {
      const taken = { '/app/cart.mjs': disk['/app/cart.mjs'] as Disk[string] }
      const run = 'node --test-reporter=tap cart.test.mjs'
      const { passed } = await judge(taken, { run, cwd: '/app', machine, tests: [{ files }], compare })
      return passed > 0 ? [name] : []
    })
    expect((await Promise.all(judged)).flat()).toEqual(['patches what compares', 'reads the tests', 'does the work'])
  })
})
