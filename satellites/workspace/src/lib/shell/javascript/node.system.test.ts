import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createDisk } from '../../disk/create-disk.ts'
import { runCommand } from '../../tools/run-command.ts'

interface Ran {
  readonly stdout: string
  readonly exitCode: number
}

/** Runs Node itself over a folder with these files. */
async function runNode(files: Readonly<Record<string, string>>, args: readonly string[]): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-node-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    return await new Promise((resolve) => {
      const child = execFile(process.execPath, args, { cwd: folder, env: {} }, (error, stdout) =>
        resolve({ stdout: stdout.replaceAll(folder, '/app'), exitCode: Number(error?.code ?? 0) }),
      )
      child.stdin?.end()
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function runHere(files: Readonly<Record<string, string>>, args: readonly string[]): Promise<Ran> {
  const disk = createDisk(Object.fromEntries(Object.entries(files).map(([path, text]) => [`/app/${path}`, text])))
  const command = ['node', ...args].map((arg) => `'${arg}'`).join(' ')
  return runCommand(disk, command, { cwd: '/app', languages: ['javascript'] })
}

/** What is said of a test, without how long it took, and without the stacks of those that fail. */
function withoutTimes({ stdout, exitCode }: Ran): Ran {
  const [shown = ''] = stdout.split('✖ failing tests:')
  return { stdout: shown.replaceAll(/\(\d[\d.]*ms\)|duration_ms .*/g, '(time)'), exitCode }
}

const TESTS = `
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it, test } from 'node:test'
test('adds', () => assert.equal(1 + 1, 2))
test('fails', async () => assert.equal(1, 2))
test('left out', { skip: true }, () => {})
test('left out with a reason', { skip: 'later' }, () => {})
test.todo('to do')
test('to do, and fails', { todo: true }, () => { throw new Error('x') })
describe('suite', () => {
  before(() => console.log('before'))
  after(() => console.log('after'))
  beforeEach(() => console.log('before each'))
  afterEach(() => console.log('after each'))
  it('one', () => {})
  it('two', () => assert.deepEqual({ a: [1, 2] }, { a: [1, 3] }))
  describe('inner', () => { it('three', async () => {}) })
})
test('parent', async (t) => {
  await t.test('child', () => {})
  t.diagnostic('said')
})
test('throws a text', () => { throw 'text' })
`

describe('node', () => {
  it.each([
    [
      'a rejected promise that a statement drops',
      'const f = async () => { throw new Error("x") }; f(); console.log(1)',
    ],
    ['one that is handled', 'const f = async () => { throw new Error("x") }; f().catch((e) => console.log(e.message))'],
    ['one that is handled later', 'const p = Promise.reject(new Error("x")); p.catch(() => console.log("caught"))'],
    ['one of a timer', 'setTimeout(async () => { throw new Error("x") }, 5); setTimeout(() => console.log(1), 50)'],
    [
      'one that is listened for',
      'process.on("unhandledRejection", (e) => console.log("got", e.message)); (async () => { throw new Error("x") })()',
    ],
    ['an end within the end', 'process.on("exit", (code) => { console.log(code); process.exit(7) }); process.exit(2)'],
    ['an error within the end', 'process.on("exit", () => { throw new Error("x") })'],
    [
      'listeners that go',
      'const f = () => console.log("f"); process.once("a", f); process.on("b", f); process.emit("a"); process.emit("a"); process.emit("b"); process.off("b", f); console.log(process.emit("b"))',
    ],
  ])('ends as in Node with %s', async (_, program) => {
    const files = { 'here.txt': '' }
    expect(await runHere(files, ['-e', program])).toMatchObject(await runNode(files, ['-e', program]))
  })

  it('requires files, JSON and the modules of Node, once and when they are asked for', async () => {
    const files = {
      'main.js': `
        console.log('main', require.main === module, __filename, __dirname)
        const { twice, count } = require('./lib')
        console.log(twice(4), count(), require('./lib/index.js').count(), require('./data.json'))
        const { join } = require('node:path')
        if (false) require('./never.js')
        try { require('./none') } catch (error) { console.log(error.code) }
        console.log(join('a', 'b'), typeof require('assert').strict.equal, require('./cycle/a.js'))`,
      'lib/index.js': `
        console.log('lib')
        let counted = 0
        exports.twice = (value) => value * 2
        exports.count = () => ++counted`,
      'cycle/a.js': `exports.early = 1; exports.b = require('./b.js')`,
      'cycle/b.js': `module.exports = { seen: { ...require('./a.js') } }`,
      'never.js': `console.log('never')`,
      'data.json': '{"a":[1,2]}',
    }
    expect(await runHere(files, ['main.js'])).toMatchObject(await runNode(files, ['main.js']))
  })

  it('imports CommonJS and JSON into modules, and knows where a module is', async () => {
    const files = {
      'package.json': '{"type":"module"}',
      'main.js': `
        import data from './data.json' with { type: 'json' }
        import lib, { name } from './lib.cjs'
        const { last } = await import('./last.js')
        console.log(data, lib, name, last, import.meta.url, import.meta.dirname)`,
      'lib.cjs': `exports.name = 'lib'; exports.kind = typeof require`,
      'last.js': `export const last = import.meta.filename`,
      'data.json': '[1]',
    }
    expect(await runHere(files, ['main.js'])).toMatchObject(await runNode(files, ['main.js']))
  })

  it.each([['some.test.mjs'], ['--test']])('reports tests as Node does: %s', async (...args) => {
    const files = { 'some.test.mjs': TESTS }
    const [here, there] = [await runHere(files, args), await runNode(files, args)]
    expect(withoutTimes(here)).toEqual(withoutTimes(there))
    expect(here.stdout).toContain('1 !== 2')
    expect(here.exitCode).toBe(1)
  })

  it('asserts as Node does', async () => {
    const program = `
      const assert = require('assert')
      const said = async (run) => { try { await run(); console.log('holds') } catch (e) { console.log(e.name, e.code) } }
      const strict = assert.strict
      const cases = [
        () => assert.equal(1, '1'), () => strict.equal(1, '1'), () => assert.deepEqual([1], ['1']),
        () => strict.deepEqual([1], ['1']), () => strict.deepEqual(new Map([[1, { a: 1 }]]), new Map([[1, { a: 1 }]])),
        () => strict.deepEqual(new Set([{ a: 1 }]), new Set([{ a: 2 }])), () => strict.deepEqual([1, , 3], [1, undefined, 3]),
        () => strict.deepEqual(new Date(1), new Date(1)), () => strict.deepEqual(-0, 0), () => assert.deepEqual(NaN, NaN),
        () => assert.throws(() => { throw new TypeError('no') }, TypeError),
        () => assert.throws(() => { throw new TypeError('no') }, /^TypeError: no$/),
        () => assert.throws(() => { throw new TypeError('no') }, { name: 'TypeError', message: 'no' }),
        () => assert.throws(() => { throw new TypeError('no') }, { message: 'yes' }), () => assert.throws(() => {}),
        () => assert.throws(() => { throw new TypeError('no') }, RangeError),
        () => assert.rejects(Promise.reject(new Error('x'))), () => assert.rejects(async () => {}),
        () => assert.doesNotReject(async () => { throw new Error('x') }), () => assert.match('abc', /b/),
        () => assert.match('abc', /d/), () => assert(0), () => assert.ok(1), () => assert.ifError(null),
        () => assert.ifError(new Error('x')), () => assert.fail('no'), () => assert.equal(1, 2, new RangeError('own')),
      ]
      const all = async () => { for (const each of cases) await said(each) }
      all()`
    expect(await runHere({ 'main.js': program }, ['main.js'])).toMatchObject(
      await runNode({ 'main.js': program }, ['main.js']),
    )
  })
})
