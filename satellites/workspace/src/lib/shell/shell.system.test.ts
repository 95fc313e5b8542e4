import { describe, expect, it } from 'vitest'
import { createDisk, runCommand } from '../../index.ts'

const DISK = createDisk({ '/app/notes.txt': 'one\n' })

describe('git', () => {
  it('keeps commits on the disk, with the time of the session, if it was asked for', async () => {
    const script = 'git init >/dev/null; git add -A; git commit -m one >/dev/null; echo two >> notes.txt; git status -s'
    const { stdout, stderr } = await runCommand(DISK, `${script}; git log --format=%ai`, { cwd: '/app', git: true })
    expect({ stdout, stderr }).toEqual({ stdout: ' M notes.txt\n2025-01-01 00:00:00 +0000\n', stderr: '' })
  })

  it('is not there otherwise', async () => {
    expect(await runCommand(DISK, 'git status')).toMatchObject({
      exitCode: 127,
      stderr: expect.stringMatching(/command not found/),
    })
  })
})

describe('node', () => {
  const run = (command: string, files: Readonly<Record<string, string>> = {}) =>
    runCommand(createDisk({ '/app/src/add.js': 'export const add = (a, b) => a + b\n', ...files }), command, {
      cwd: '/app',
      languages: ['javascript'],
    })

  it.each([
    [
      'imports',
      'import { add } from "./src/add.js"; console.log(add(5, 3), Date.now(), undefined)',
      '8 1735689600000 undefined\n',
      0,
    ],
    ['its arguments', 'console.log(process.argv.slice(2).join())', 'x,y z\n', 0],
    [
      'a file',
      'import { readFileSync } from "node:fs"; console.log(readFileSync("src/add.js", "utf8").length)',
      '35\n',
      0,
    ],
    ['a status', 'console.log(1); process.exit(3); console.log(2)', '1\n', 3],
    ['an end that is caught', 'try { process.exit(3) } finally { console.log(1) }', '', 3],
    ['an error', 'console.log(1); throw new TypeError("bad")', '1\n', 1],
    [
      'a main function',
      'const main = async () => { await null; throw new Error("no") }; main().catch((e) => { console.log(e.message); process.exit(6) })',
      'no\n',
      6,
    ],
  ] as const)('runs modules: %s', async (_, code, stdout, exitCode) => {
    expect(await run('node main.js x "y z"', { '/app/main.js': code })).toMatchObject({ stdout, exitCode })
  })

  it('runs code of its command line and of its input', async () => {
    const { stdout, exitCode } = await run('node -p 1+1; echo "console.log(2)" | node -; node -e "process.exit(5)"')
    expect({ stdout, exitCode }).toEqual({ stdout: '2\n2\n', exitCode: 5 })
  })

  it('draws from the session', async () => {
    const command = 'node -p "Math.random()"; node -p "Math.random()"'
    const { stdout } = await run(command)
    expect(new Set(stdout.split('\n')).size).toBe(3)
    expect(await run(command)).toMatchObject({ stdout })
  })

  it.each([
    ['node --test', 9],
    ['node -e "console.log({})"', 1],
    ['node -e "console.log(\'%d\', 1)"', 1],
    ['node -e "setTimeout(() => {}, 1)"', 1],
    ['node old.cjs', 1],
    ['node none.js', 1],
  ])('refuses what it would do otherwise than Node: %s', async (command, exitCode) => {
    const { stdout, stderr, exitCode: got } = await run(command, { '/app/old.cjs': '' })
    expect({ stdout, exitCode: got }).toEqual({ stdout: '', exitCode })
    expect(stderr).not.toBe('')
  })

  it('is not there if it was not asked for', async () => {
    expect(await runCommand(DISK, 'node -e 1')).toMatchObject({ exitCode: 127 })
  })
})
