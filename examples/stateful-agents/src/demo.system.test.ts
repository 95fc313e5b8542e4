import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'

/** Long enough that only a hang exceeds it. */
const WITHIN = { timeout: 150_000 }

describe('the demo', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'demo-test-'))
    await chmod(folder, 0o755) // PostgreSQL runs as a user of its own, and must get in.
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** Starts the demo as a terminal does, in a process group of its own. */
  const start = (args: readonly string[], env: Record<string, string> = {}): ChildProcess =>
    spawn(process.execPath, [fileURLToPath(new URL('./demo.ts', import.meta.url)), ...args], {
      env: { PATH: process.env.PATH, TMPDIR: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
  const run = async (args: readonly string[], env?: Record<string, string>) => {
    const demo = start(args, env)
    const [stdout, stderr, [code]] = await Promise.all([
      text(demo.stdout as NodeJS.ReadableStream & AsyncIterable<Buffer>),
      text(demo.stderr as NodeJS.ReadableStream & AsyncIterable<Buffer>),
      once(demo, 'exit'),
    ])
    return { stdout, stderr, code }
  }

  it('prints a table of the requested scenes, and exits with 0', async () => {
    const { stdout, stderr, code } = await run(['--only', 'files,thinking'])
    expect(stderr).toMatch(/^thinking: .*\nfiles: .*\n$/)
    expect(stdout).toMatch(/thinking +a session a call .*✗ +history 1, 1, 1\n +one session .*✓ +history 1, 2, 3\n/)
    expect(stdout).toMatch(/files +a session a call .*✗ .*\n +one session .*✓ +read sunrise, then noon\n/)
    expect(code).toBe(0)
    expect(await readdir(folder)).toEqual([])
  })

  it('prints a line of JSON for each row, and nothing else', async () => {
    const { stdout, stderr, code } = await run(['--only', 'thinking', '--json', '--agent', 'ai-sdk'])
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows).toMatchObject([
      { scene: 'thinking', sessions: 'a session a call', kind: 'played', works: false, opened: 4 },
      { scene: 'thinking', sessions: 'one session', kind: 'played', works: true, opened: 1 },
    ])
    expect([stderr, code]).toEqual(['', 0])
  })

  it('exits with 1 and names a row with an unexpected result', async () => {
    // Nobody listens on the port of the discard protocol.
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9', OPENAI_MODEL: 'none' }
    const { stdout, stderr, code } = await run(['--only', 'thinking'], env)
    expect(stdout).toMatch(/one session +– +failed: Connection error/)
    expect(stderr).toContain('thinking with one session did not come out as expected')
    expect(code).toBe(1)
  })

  it('prints its usage', async () => {
    const { stdout, code } = await run(['--help'])
    expect(stdout).toContain('--only <scenes>')
    expect(code).toBe(0)
  })

  it.each([
    [
      'a scene that there is not',
      ['--only', 'browser,teapot'],
      {},
      'There is no scene "teapot". There is: thinking, browser',
    ],
    [
      'an agent that there is not',
      ['--agent', 'crewai'],
      {},
      'There is no agent "crewai". There is: langchain, ai-sdk, openai.',
    ],
    ['an option that there is not', ['--fast'], {}, "Unknown option '--fast'"],
    ['words too many', ['browser'], {}, "Unexpected argument 'browser'"],
    ['a real model that is not named', ['--agent', 'openai'], {}, 'wants OPENAI_BASE_URL'],
    ['an endpoint without a model', [], { OPENAI_BASE_URL: 'http://127.0.0.1:9' }, 'and OPENAI_MODEL'],
  ])('refuses %s', async (_, args, env, message) => {
    const { stdout, stderr, code } = await run(args, env)
    expect(stderr).toContain(message)
    expect([stdout, code]).toEqual(['', 2])
  })

  /** Starts it, and waits until a scene has a program running: what initdb starts is also called postgres. */
  const startUntil = async (scene: string, program: string) => {
    const demo = start(['--only', scene])
    const exited = once(demo, 'exit')
    let started: number[] = []
    await expect
      .poll(() => {
        started = descendantsOf(demo.pid as number)
        const names = namesOf(started)
        return names.includes(program) && (program === 'initdb' || !names.includes('initdb'))
      }, WITHIN)
      .toBe(true)
    return { demo, exited, started }
  }

  const found = inject('programs')
  // Without its program a scene is skipped, and pgrep and ps are needed to see what runs.
  const MIDDLES = (
    [
      ['browser', 'chromium', found.chromium],
      ['database', 'initdb', found.initdb],
      ['database', 'postgres', found.initdb],
    ] as const
  ).filter(([, , path]) => path && found.pgrep && found.ps)

  it.each(MIDDLES)('leaves no process and no file after Ctrl-C in %s while %s runs', async (scene, program) => {
    const { demo, exited, started } = await startUntil(scene, program)
    process.kill(-(demo.pid as number), 'SIGINT')
    expect(await exited).toEqual([130, null])
    await expect.poll(() => namesOf(started), WITHIN).toEqual([])
    expect(await readdir(folder)).toEqual([])
  })

  it.each(MIDDLES)('leaves no process after a kill in %s while %s runs', async (scene, program) => {
    const { demo, exited, started } = await startUntil(scene, program)
    demo.kill('SIGKILL')
    expect(await exited).toEqual([null, 'SIGKILL'])
    await expect.poll(() => namesOf(started), WITHIN).toEqual([])
  })
})

function descendantsOf(pid: number): number[] {
  const children = pgrep(['-P', String(pid)])
  return [...children, ...children.flatMap(descendantsOf)]
}

function pgrep(args: readonly string[]): number[] {
  try {
    return execFileSync('pgrep', args, { encoding: 'utf8' }).trim().split('\n').map(Number)
  } catch (error) {
    if ((error as { status?: number }).status === 1) return [] // None was found.
    throw error
  }
}

/** The names of those processes that still run. */
function namesOf(pids: readonly number[]): string[] {
  if (pids.length === 0) return []
  try {
    const listing = execFileSync('ps', ['-o', 'stat=,comm=', '-p', pids.join(',')], { encoding: 'utf8' })
    const lines = listing
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
    return lines.flatMap(([state, name]) => (state?.startsWith('Z') || !name ? [] : [name]))
  } catch (error) {
    if ((error as { status?: number }).status === 1) return []
    throw error
  }
}
