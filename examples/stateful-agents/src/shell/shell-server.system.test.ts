import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, type TestSession } from '../connect.fixture.ts'
import { openTemporaryFolder, type TemporaryFolder } from '../temporary-folder.ts'

const SERVER = './shell/shell-server.ts'

/** Long enough that only a hang exceeds it. */
const WITHIN = { timeout: 120_000 }

describe('the shell server', () => {
  let folder: TemporaryFolder
  let session: TestSession
  beforeAll(async () => {
    folder = await openTemporaryFolder()
    session = await connect(SERVER, [folder.path])
  })
  afterAll(async () => {
    await session[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })
  const run = (command: string) => session.ask('run_command', { command })

  it('keeps the working directory and the variables from call to call', async () => {
    await run('mkdir -p deep/er && cd deep/er')
    await run('export GREETING="good morning"')
    expect(await run('echo "$GREETING"')).toEqual({
      output: 'good morning\n',
      exitCode: 0,
      folder: join(folder.path, 'deep/er'),
    })
    await run(`cd ${folder.path}`)
  })

  it('hides the server’s environment variables from commands', async () => {
    await using other = await connect(SERVER, [folder.path], { SECRET_KEY: 'abc', PATH: process.env.PATH ?? '' })
    expect((await other.ask('run_command', { command: 'env' })).output).not.toContain('SECRET_KEY')
  })

  it('stops a cancelled command with all its children', async () => {
    await using other = await connect(SERVER, [folder.path])
    const caller = new AbortController()
    const running = other.client.callTool(
      { name: 'run_command', arguments: { command: 'touch started; sleep 1000 & echo $! > sleeper; wait' } },
      undefined,
      { signal: caller.signal },
    )
    await expect.poll(() => existsSync(join(folder.path, 'sleeper')), WITHIN).toBe(true)
    caller.abort()
    await expect(running).rejects.toThrow()
    const { output } = await other.ask('run_command', { command: 'cat sleeper' })
    await expect.poll(() => isAlive(Number(output)), WITHIN).toBe(false)
  })

  it('leaves no process when the client disconnects during a command', async () => {
    const other = await connect(SERVER, [folder.path])
    const running = other.call('run_command', { command: 'echo $$ > left; sleep 1000' })
    await expect.poll(() => existsSync(join(folder.path, 'left')), WITHIN).toBe(true)
    const { output } = await run('cat left')
    await other[Symbol.asyncDispose]()
    await expect(running).rejects.toThrow()
    for (const pid of [other.pid, Number(output)]) await expect.poll(() => isAlive(pid), WITHIN).toBe(false)
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
