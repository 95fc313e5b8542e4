import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it } from 'vitest'
import { createMcpSessions } from '../../index.ts'
import { lives, notesCommand, serveNotes, until } from '../fixtures/servers.fixture.ts'

const program = fileURLToPath(new URL('../fixtures/process-end.fixture.ts', import.meta.url))
const stubborn = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../fixtures/stubborn-server.fixture.ts', import.meta.url))],
}

/** Runs a program that opens a session, up to where it has, and gives the process of its server. */
async function run(
  how: string,
  server: object,
): Promise<{ child: ChildProcess; serverPid: number; said: () => string }> {
  const child = spawn(process.execPath, [program, how, JSON.stringify(server)], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, serverPid: Number(line), said: () => said }
}

const lacksPgrep = inject('programs').pgrep === null

/** The processes that run a file, or wait for a process to end. */
async function running(pattern: string): Promise<number[]> {
  const pgrep = spawn('pgrep', ['-f', pattern], { stdio: ['ignore', 'pipe', 'ignore'] })
  const pids = (await pgrep.stdout.toArray()).join('').split('\n').filter(Boolean).map(Number)
  const alive = await Promise.all(pids.map(lives))
  return pids.filter((_, i) => alive[i])
}

describe('what is left when a program ends', () => {
  it.each([
    ['close', 0, null],
    ['exit', 0, null],
    ['throw', 1, null],
    ['forget', 0, null],
  ])('nothing, where it ends by %s', async (how, status, signal) => {
    const { child, serverPid, said } = await run(how, notesCommand())
    expect(await once(child, 'close')).toEqual([status, signal])
    await until(async () => !(await lives(serverPid)))
    const warned = /1 MCP session was never closed \(notes\)/.test(said())
    expect(warned).toBe(how !== 'close')
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'nothing, where %s ends it in the middle of a call',
    async (signal) => {
      const { child, serverPid } = await run('stay', notesCommand())
      child.kill(signal)
      expect(await once(child, 'close')).toEqual([null, signal])
      await until(async () => !(await lives(serverPid)))
    },
  )

  it.skipIf(lacksPgrep)('nothing of a server that heeds nothing, nor of what that has started', async () => {
    const mark = `stubborn-${process.pid}`
    const { child, serverPid } = await run('stay', { ...stubborn, args: [...stubborn.args, 'stdio', mark] })
    expect(await running(mark)).toContain(serverPid)
    child.kill('SIGKILL')
    await once(child, 'close')
    await until(async () => (await running(mark)).length === 0)
  })

  it('nothing in a session over HTTP that was forgotten, and nobody waits for it', async () => {
    await using server = await serveNotes()
    const { child, said } = await run('forget', { url: server.url })
    expect(await once(child, 'close')).toEqual([0, null])
    expect(said()).toMatch('1 MCP session was never closed (notes)')
  })
})

describe('closing a session', () => {
  it.skipIf(lacksPgrep)('ends a server that heeds nothing, and what that has started', async () => {
    const sessions = createMcpSessions({ mcpServers: { stubborn } })
    const session = await sessions.open('stubborn')
    const pid = Number((await session.callTool('where')).text)
    const ps = spawn('pgrep', ['-P', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] })
    const helper = Number((await ps.stdout.toArray()).join(''))
    expect([await lives(pid), await lives(helper)]).toEqual([true, true])
    await session.close()
    await until(async () => !(await lives(pid)) && !(await lives(helper)))
    await sessions.close()
  })

  it('ends what is still opening, and leaves no listener behind', async () => {
    const listeners = process.listenerCount('exit')
    const sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } })
    const opening = sessions.open('notes').catch((error) => error)
    await sessions.close()
    expect(await opening).toMatchObject({ code: 'session-closed' })
    for (let i = 0; i < 5; i++) {
      await using pool = createMcpSessions({ mcpServers: { notes: notesCommand() } })
      await using _ = await pool.open('notes')
      expect(process.listenerCount('exit')).toBe(listeners + 1)
    }
    expect(process.listenerCount('exit')).toBe(listeners)
  })
})
