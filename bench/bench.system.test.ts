import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = (args: string[], env: NodeJS.ProcessEnv = process.env) =>
  promisify(execFile)(process.execPath, [join(import.meta.dirname, 'bench.ts'), ...args], { env })
const bench = async (...args: string[]) => (await run(args)).stdout

/** The exit status of a benchmark that fails, and what it says besides the line about the machine. */
async function failure(args: string[], env?: NodeJS.ProcessEnv) {
  const { code, stderr } = await run(args, env).catch((error) => error)
  return {
    code,
    said: String(stderr)
      .split('\n')
      .filter((line) => line !== '' && !/^\d+ cores of /.test(line)),
  }
}

describe('pnpm bench', () => {
  it('lists the benchmarks with --help, and runs none', async () => {
    const help = await bench('--help')
    expect(help).toMatch(/^Usage: pnpm bench /)
    for (const name of ['agent', 'http', 'run', 'workspace']) expect(help).toContain(name)
  })

  it('says what a benchmark measures, and its options', async () => {
    expect(await bench('view', '--help')).toMatch(/^view\n\n`episodic view` on a run.*\n.*--episodes <number>/s)
    expect(await bench('durability', '--help')).toMatch(/^durability\n\nSteps over HTTP on durable stores, .*\n$/)
  })

  it.each([
    ['agent', 'pgrep'],
    ['durability', 'redis-server'],
    ['fleet', 'redis-server'],
    ['gateway', 'python3'],
    ['processes', 'redis-server'],
    ['state', 'redis-server'],
    ['view', 'chromium'],
  ])('%s says that it needs %s where there are no programs, and measures nothing', async (name, program) => {
    const { code, said } = await failure([name], { PATH: import.meta.dirname })
    expect(code).toBe(77)
    expect(said[0]).toMatch(/^This benchmark needs /)
    expect(said[0]).toContain(program)
    expect(said.join('\n')).not.toMatch(/^ +at /m)
  })

  it.each([
    ['run', '--worlds', 'atlantis'],
    ['run', '--transports', 'pigeon'],
    ['run', '--rounds', '0'],
    ['learn', '--episodes', 'many'],
    ['state', '--no-such-option'],
    ['durability', '--no-such-option'],
    ['view', '--rounds'],
    ['learn', '--seeds', '1'],
  ])('rejects %s %s %s with one line', async (...args) => {
    const { code, said } = await failure(args)
    expect(code).toBe(2)
    expect(said).toHaveLength(1)
  })

  it.each([
    [['--against', 'no-such-commit', 'inprocess'], 'There is no commit no-such-commit here.'],
    [['--against'], '--against needs a commit'],
    [['--against', '--json'], '--against needs a commit'],
  ])('rejects %j with one line', async (args, message) => {
    const { code, said } = await failure(args)
    expect(code).toBe(2)
    expect(said).toEqual([expect.stringContaining(message)])
  })

  it('removes the other tree when it is interrupted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'episodic-test-'))
    try {
      const args = [join(import.meta.dirname, 'bench.ts'), '--against', 'HEAD', 'inprocess']
      const child = spawn(process.execPath, args, { env: { ...process.env, TMPDIR: folder }, stdio: 'pipe' })
      let said = ''
      for await (const chunk of child.stderr) {
        said += chunk
        if (said.includes('installing')) break
      }
      child.kill('SIGINT')
      const [code] = await once(child, 'exit')
      expect(code).toBe(130)
      expect(readdirSync(folder)).toEqual([])
      const { stdout } = await promisify(execFile)('git', ['worktree', 'list'], { cwd: import.meta.dirname })
      expect(stdout).not.toContain(folder)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
