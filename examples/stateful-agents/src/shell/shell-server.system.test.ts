import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

  it('shares nothing with a second session on the same folder', async () => {
    await using other = await connect(SERVER, [folder.path])
    await run('export ONLY_HERE=yes')
    expect(await other.ask('run_command', { command: 'echo "[$ONLY_HERE]"' })).toMatchObject({ output: '[]\n' })
  })

  it.each([
    ['quotes', `it's "quoted" and \`ticked\``],
    ['a dollar and a backslash', String.raw`$HOME \n $(id) !`],
    ['many lines', 'one\ntwo\n\n'],
    ['no end of line', 'unfinished'],
    ['other alphabets', 'Grüße, 世界 🦔'],
    ['what looks like a mark', '0123 0 /tmp'],
  ])('preserves %s', async (_, text) => {
    const quoted = `'${text.replaceAll("'", String.raw`'\''`)}'`
    expect(await run(`printf %s ${quoted}`)).toMatchObject({ output: text, exitCode: 0 })
  })

  it('runs concurrent calls one after the other, in their order', async () => {
    const numbers = Array.from({ length: 20 }, (_, index) => index)
    const answers = await Promise.all(numbers.map((number) => run(`LIST="$LIST ${number}"; echo $LIST`)))
    expect(answers.at(-1)?.output).toBe(`${numbers.join(' ')}\n`)
  })

  it('returns the error output with the exit code', async () => {
    expect(await session.fail('run_command', { command: 'ls nowhere' })).toMatch(/nowhere.*exit code 2/s)
    expect(await session.fail('run_command', { command: 'echo "unfinished' })).toMatch(/unexpected EOF.*exit code 2/s)
    expect(await run('echo still here')).toMatchObject({ output: 'still here\n' })
  })

  it('returns to the folder after a command has left it', async () => {
    expect(await run(`cd ${dirname(folder.path)}`)).toMatchObject({
      folder: folder.path,
      output: expect.stringContaining('stays in'),
    })
  })

  it('starts a new shell after a command has ended it, and reports the loss', async () => {
    await run('export SOON_GONE=yes')
    expect(await session.fail('run_command', { command: 'exit 3' })).toMatch(/ended the shell.*are gone/)
    expect(await run('echo "[$SOON_GONE]"')).toMatchObject({ output: '[]\n' })
  })

  it('bounds the output of a command', async () => {
    const { output } = await run('yes | head -c 1000000; echo the end')
    expect((output as string).length).toBeLessThan(40_000)
    expect(output).toContain('Only the first 32768 characters are shown.')
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
