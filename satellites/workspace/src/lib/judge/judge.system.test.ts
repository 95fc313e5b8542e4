import { describe, expect, it } from 'vitest'
import { createDisk } from '../disk/create-disk.ts'
import { type JudgeTest, judge } from './judge.ts'
import { judgeCalls } from './judge-calls.ts'

const whyOf = async (judged: ReturnType<typeof judge>) => (await judged).tests.map(({ why }) => why)

describe('judge', () => {
  const SUM = createDisk({
    '/app/sum.sh': 'read a b; echo $((a + b)); echo "$1" >> /app/log; cat /app/log.old 2> /dev/null; true',
  })
  const run = 'bash sum.sh'

  it('compares what is printed, the exit code and files, of each test on a disk of its own', async () => {
    const tests: JudgeTest[] = [
      { stdin: '1 2\n', stdout: '3\n', args: ["it's $HOME"], after: { '/app/log': "it's $HOME\n" } },
      { name: 'large', stdin: '40 2\n', stdout: '42\n', args: ['b'], after: { '/app/log': 'b\n' } },
      { stdin: '1 2\n', files: { '/app/log.old': 'old\n' }, stdout: '3\nold\n' },
      { stdin: '1 1\n', stdout: '3\n' },
      { stdin: '1 2\n', stdout: '3\n', exitCode: 1 },
      { stdin: '1 2\n', after: { '/app/none': '' } },
    ]
    const judged = await judge(SUM, { run, cwd: '/app', tests })
    expect(judged.passed).toBe(3)
    expect(judged.tests.map(({ name, passed }) => [name, passed])).toEqual([
      ['1', true],
      ['large', true],
      ['3', true],
      ['4', false],
      ['5', false],
      ['6', false],
    ])
    expect(judged.tests.slice(3).map(({ why }) => why)).toEqual([
      'not "3\\n". Printed "2\\n" and "", exit code 0.',
      'exit code 0, and not 1. Printed "3\\n" and "", exit code 0.',
      '/app/none is null, and not "". Printed "3\\n" and "", exit code 0.',
    ])
  })

  it('leaves the comparison to the world where an answer has several forms', async () => {
    const compare = ({ stdout }: { readonly stdout: string }, { near }: { readonly near: number }) =>
      Math.abs(Number(stdout) - near) < 1
    const tests = [
      { stdin: '1 2\n', near: 3.5 },
      { stdin: '1 2\n', near: 5 },
    ]
    expect((await judge(SUM, { run, cwd: '/app', tests, compare })).passed).toBe(1)
  })

  it('refuses tests that a program passes by ending', async () => {
    await expect(judge(SUM, { run, tests: [] })).rejects.toThrow('at least one test')
    await expect(judge(SUM, { run, tests: [{ exitCode: 0 }] })).rejects.toThrow('asks for no output')
  })

  it('says that a program ran too long', async () => {
    const disk = createDisk({ '/app/loop.js': 'for (;;);' })
    const judged = judge(disk, {
      run: 'node /app/loop.js',
      languages: ['javascript'],
      seconds: 1,
      tests: [{ stdout: '' }],
    })
    expect(await whyOf(judged)).toEqual([expect.stringContaining('ran for more than 1 seconds')])
  })
})

describe('judgeCalls', () => {
  it('compares what functions return, resolve with and throw', async () => {
    const disk = createDisk({
      '/app/src/code.js': `import { one } from './one.js'
        export const add = (a, b = one) => ({ sum: a + b, none: undefined })
        export const later = async (value) => value
        export function fail() { throw new RangeError('too much') }
        console.log('a word')`,
      '/app/src/one.js': 'export const one = 1',
      '/app/src/judge_calls.mjs': 'console.log(\'::answer [0,{"value":4}]\')',
    })
    const judged = await judgeCalls(disk, {
      module: '/app/src/code.js',
      tests: [
        { call: 'add', args: [1, 2], returns: { none: undefined, sum: 3 } },
        { call: 'add', args: [1], returns: { sum: 2 } },
        { call: 'later', args: [[null, 'a\n']], returns: [null, 'a\n'] },
        { call: 'fail', args: [], throws: 'too much' },
        { call: 'fail', args: [], throws: 'too little' },
        { name: 'what is not there', call: 'missing', args: [], returns: 1 },
      ],
    })
    expect(judged.tests).toEqual([
      { name: 'add(1, 2)', passed: true, why: '' },
      { name: 'add(1)', passed: true, why: '' },
      { name: 'later([null,"a\\n"])', passed: true, why: '' },
      { name: 'fail()', passed: true, why: '' },
      { name: 'fail()', passed: false, why: 'Not {"error":"too little"}: {"error":"too much"}' },
      { name: 'what is not there', passed: false, why: 'Not {"value":1}: {"error":"not a function"}' },
    ])
  })

  it('refuses Python without a machine', async () => {
    const judged = judgeCalls(createDisk({ '/app/code.py': '' }), { module: '/app/code.py', tests: [] })
    await expect(judged).rejects.toThrow('needs a machine')
  })

  it('fails all that is not answered by code that ends, does not load, or prints other answers', async () => {
    const tests = [{ call: 'add', args: [1, 2], returns: 3 }]
    const codes = ['process.exit(0)', 'export const = 1', 'console.log(\'::answer [0,{"value":4}]\\n::answer {\')']
    const judged = codes.map((code) =>
      judgeCalls(createDisk({ '/app/code.js': code }), { module: '/app/code.js', tests }),
    )
    expect(await Promise.all(judged.map(whyOf))).toEqual([
      ['Not {"value":3}: no answer. Printed "" and "", exit code 0.'],
      [expect.stringContaining('SyntaxError')],
      ['Not {"value":3}: {"error":"not a function"}'],
    ])
  })
})
