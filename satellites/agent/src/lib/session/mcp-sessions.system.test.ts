import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { AgentError, createMcpSessions, SessionExpiredError, SessionLostError } from '../../index.ts'
import {
  everythingCommand,
  lives,
  notesCommand,
  serveNotes,
  thinkingCommand,
  until,
} from '../fixtures/servers.fixture.ts'

const text = async (answer: Promise<{ readonly text: string }>) => (await answer).text
const failure = (promise: Promise<unknown>): Promise<AgentError> =>
  promise.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  )

describe('createMcpSessions', () => {
  it('keeps the state of a session from call to call, and none between sessions', async () => {
    await using sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } })
    await using ada = await sessions.open('notes')
    await using bob = await sessions.open('notes')
    expect([await text(ada.callTool('count')), await text(ada.callTool('count'))]).toEqual(['1', '2'])
    expect(await text(bob.callTool('count'))).toBe('1')
    expect(sessions.size).toBe(2)
  })

  it('keeps the history of a server that nobody here wrote', async () => {
    await using sessions = createMcpSessions({ mcpServers: { thinking: thinkingCommand } })
    await using session = await sessions.open('thinking')
    const lengths: unknown[] = []
    for (const thoughtNumber of [1, 2, 3]) {
      const { structured } = await session.callTool('sequentialthinking', {
        thought: 'so',
        nextThoughtNeeded: true,
        thoughtNumber,
        totalThoughts: 3,
      })
      lengths.push((structured as { thoughtHistoryLength: number }).thoughtHistoryLength)
    }
    expect(lengths).toEqual([1, 2, 3])
  })

  it('talks with a server that tries everything', async () => {
    await using sessions = createMcpSessions({ mcpServers: { everything: everythingCommand } })
    await using session = await sessions.open('everything')
    expect(await text(session.callTool('echo', { message: 'hello' }))).toBe('Echo: hello')
    const { content, isError } = await session.callTool('get-tiny-image')
    expect([content.map(({ type }) => type), isError]).toEqual([['text', 'image', 'text'], false])
    const { structured } = await session.callTool('get-structured-content', { location: 'New York' })
    expect(structured).toHaveProperty('temperature')
    expect(await session.callTool('get-sum', { a: 'x' })).toMatchObject({ isError: true })
  })

  it('gives text, structured content, pictures and refusals as they were said', async () => {
    await using sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } })
    await using session = await sessions.open('notes')
    expect(await session.callTool('sum', { a: 1, b: 2 })).toEqual({
      text: '{"sum":3}',
      structured: { sum: 3 },
      content: [],
      isError: false,
    })
    expect((await session.callTool('picture')).content[1]).toEqual({
      type: 'image',
      data: 'iVBORw0KGgo=',
      mimeType: 'image/png',
    })
    expect(await session.callTool('get', { key: 'none' })).toMatchObject({
      isError: true,
      text: 'There is no note none.',
    })
    expect(await session.callTool('put', { key: 1 })).toMatchObject({ isError: true })
    expect(session.tools.find(({ name }) => name === 'put')).toMatchObject({
      annotations: { idempotentHint: true },
      inputSchema: { required: ['key', 'value'] },
    })
  })

  it('shares a session only by name, and ends it with its last holder', async () => {
    await using server = await serveNotes()
    await using sessions = createMcpSessions({ mcpServers: { notes: { url: server.url } } })
    const [one, two] = await Promise.all([
      sessions.open('notes', { shareAs: 'team' }),
      sessions.open('notes', { shareAs: 'team' }),
    ])
    await using other = await sessions.open('notes', { shareAs: 'other team' })
    expect([one.sharedAs, other.sharedAs]).toEqual(['team', 'other team'])
    await one.callTool('count')
    expect(await text(two.callTool('count'))).toBe('2')
    expect(await text(other.callTool('count'))).toBe('1')
    await one.close()
    expect([one.health, two.health]).toEqual(['closed', 'open'])
    expect(await text(two.callTool('count'))).toBe('3')
    expect(AgentError.is(await failure(one.callTool('count')), 'session-closed')).toBe(true)
    await two.close()
    expect(await server.sessions()).toBe(1)
  })

  it('runs the calls of one session in the order in which they were made', async () => {
    await using sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } })
    await using session = await sessions.open('notes')
    const counts = await Promise.all(Array.from({ length: 20 }, () => text(session.callTool('count'))))
    expect(counts).toEqual(Array.from({ length: 20 }, (_, i) => String(i + 1)))
  })

  it('bounds how many sessions are open and how many calls wait', async () => {
    await using sessions = createMcpSessions(
      { mcpServers: { notes: notesCommand() } },
      { maximumSessions: 1, maximumWaitingCalls: 1 },
    )
    const session = await sessions.open('notes')
    expect((await failure(sessions.open('notes'))).code).toBe('too-many-sessions')
    const hanging = failure(session.callTool('hang'))
    const waiting = failure(session.callTool('count'))
    expect((await failure(session.callTool('count'))).code).toBe('too-many-calls')
    await session.close()
    expect([(await hanging).code, (await waiting).code]).toEqual(['outcome-unknown', 'session-closed'])
    await using _ = await sessions.open('notes')
  })

  it('says when a call gave no answer in time, and whether it may have had its effect', async () => {
    await using sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } }, { callMilliseconds: 50 })
    await using session = await sessions.open('notes')
    expect((await failure(session.callTool('look'))).code).toBe('call-timed-out')
    const lost = await failure(session.callTool('hang'))
    expect(lost).toMatchObject({ code: 'outcome-unknown', details: { tool: 'hang', reason: 'timed-out' } })
    expect(session.health).toBe('open')
  })

  it('gives a call up for its own signal, and the session goes on', async () => {
    await using sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } })
    await using session = await sessions.open('notes')
    const stop = new AbortController()
    const hanging = failure(session.callTool('hang', {}, { signal: stop.signal }))
    const queued = text(session.callTool('count'))
    stop.abort(new Error('enough'))
    expect((await hanging).message).toBe('enough')
    expect(await queued).toBe('1')
    const gone = AbortSignal.abort(new Error('never mind'))
    expect((await failure(session.callTool('count', {}, { signal: gone }))).message).toBe('never mind')
    expect((await failure(sessions.open('notes', { signal: gone }))).message).toBe('never mind')
    expect(await text(session.callTool('read'))).toBe('1')
  })

  it('ends its children, and what its servers keep for it', async () => {
    await using server = await serveNotes()
    const sessions = createMcpSessions({ mcpServers: { notes: notesCommand(), far: { url: server.url } } })
    const near = await sessions.open('notes')
    await sessions.open('far')
    const pid = Number(await text(near.callTool('where')))
    expect([await lives(pid), await server.sessions()]).toEqual([true, 1])
    await sessions.close()
    expect([await lives(pid), await server.sessions()]).toEqual([false, 0])
    expect((await failure(sessions.open('notes'))).code).toBe('session-closed')
    expect(near.health).toBe('closed')
  })
})

describe('what goes wrong at the start', () => {
  it.each([
    ['an unknown server', 'none', 'server-unknown', /It has: gone, dies, rubbish, silent, nowhere\./],
    ['a command that is not there', 'gone', 'connection-failed', /there is no command no-such-command/],
    ['a server that ends', 'dies', 'connection-failed', /ended with status 3\. It printed: no database/],
    ['a server that prints rubbish', 'rubbish', 'connection-failed', /It printed: Welcome!/],
    ['a server that says nothing', 'silent', 'connection-failed', /has not answered within 1\.5 seconds of its start/],
    ['a server that is not there', 'nowhere', 'connection-failed', /ECONNREFUSED|fetch failed/],
  ])('says so of %s', async (_, name, code, message) => {
    const run = (source: string) => ({ command: process.execPath, args: ['-e', source] })
    await using sessions = createMcpSessions(
      {
        mcpServers: {
          gone: { command: 'no-such-command' },
          dies: run('console.error("no database"); process.exit(3)'),
          rubbish: { command: 'sh', args: ['-c', 'echo Welcome!; exec cat > /dev/null'] },
          silent: run('setInterval(() => {}, 1000)'),
          nowhere: { url: 'http://127.0.0.1:1/mcp' },
        },
      },
      // Any other server has the time that it needs on a busy machine.
      { openMilliseconds: { silent: 1_500, rubbish: 5_000 }[name] },
    )
    const error = await failure(sessions.open(name))
    expect(error).toMatchObject({ name: 'AgentError', code })
    expect(error.message).toMatch(message)
    expect(sessions.size).toBe(0)
  })

  it.each([404, 405])('says of an address that may be the wrong one what it answered: %s', async (status) => {
    const server = createServer((_, response) => response.writeHead(status).end('no such page'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`
    await using sessions = createMcpSessions({ mcpServers: { far: { url } } })
    const error = await failure(sessions.open('far'))
    server.closeAllConnections()
    server.close()
    expect([error.code, error.message]).toEqual(['connection-failed', expect.stringContaining(`${status}. Its path`)])
  })

  it('talks with a server that greets before it speaks', async () => {
    const greeting = 'process.stdout.write("Welcome!\\n{}\\n"); await import(process.argv[1])'
    const [file, kind] = notesCommand().args!
    await using sessions = createMcpSessions({
      mcpServers: { notes: { command: process.execPath, args: ['--input-type=module', '-e', greeting, file!, kind!] } },
    })
    await using session = await sessions.open('notes')
    expect(await text(session.callTool('count'))).toBe('1')
  })

  it('refuses a configuration that is wrong, naming what is', () => {
    const wrong = (mcpServers: object, options = {}) => {
      try {
        createMcpSessions({ mcpServers } as never, options)
      } catch (error) {
        return `${(error as AgentError).code}: ${(error as Error).message}`
      }
    }
    expect(wrong({ a: {} })).toMatch('config-invalid: The configuration is wrong at mcpServers.a: it needs either')
    expect(wrong({ a: { url: 'ftp://x' } })).toMatch('mcpServers.a.url')
    expect(wrong({ a: { command: 'x', arg: [] } })).toMatch('mcpServers.a')
    expect(wrong({ a: { url: 'http://x', token: `\${NOPE}` } }, { variables: {} })).toMatch('NOPE, which is not set')
    expect(wrong({ a: { command: 'x' } }, { recovery: { b: { restore: async () => {} } } })).toMatch('server-unknown')
  })

  it('sends a token and headers, and says when they are refused', async () => {
    await using server = await serveNotes({ TOKEN: 'secret' })
    const { url } = server
    await using sessions = createMcpSessions(
      {
        mcpServers: {
          token: { url, token: `\${TOKEN}` },
          header: { url, headers: { Authorization: 'Bearer secret' } },
          none: { url },
        },
      },
      { variables: { TOKEN: 'secret' } },
    )
    for (const name of ['token', 'header']) {
      await using session = await sessions.open(name)
      expect(await text(session.callTool('count'))).toBe('1')
    }
    expect(await failure(sessions.open('none'))).toMatchObject({ code: 'unauthorized', details: { status: 401 } })
  })
})

describe('a session that is lost', () => {
  it('says so of a child that ends, during a call and before one', async () => {
    await using sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } })
    await using session = await sessions.open('notes')
    const lost = await failure(session.callTool('die'))
    expect(lost).toMatchObject({ code: 'outcome-unknown', details: { server: 'notes', tool: 'die', reason: 'lost' } })
    expect(lost.message).toMatch('Whether it had its effect cannot be known')
    const before = await failure(session.callTool('count'))
    expect(SessionLostError.is(before)).toBe(true)
    expect(before.message).toMatch('The call was not made. Refresh the session')
    expect(await session.checkHealth()).toBe('lost')
    await session.refresh()
    expect([session.health, await text(session.callTool('count'))]).toEqual(['open', '1'])
  })

  it('is lost when its child is killed between calls', async () => {
    await using sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } })
    await using session = await sessions.open('notes')
    process.kill(Number(await text(session.callTool('where'))), 'SIGKILL')
    await until(() => session.health === 'lost')
  })

  it('says so of a server over HTTP that was killed during a call', async () => {
    await using server = await serveNotes()
    await using sessions = createMcpSessions({ mcpServers: { notes: { url: server.url } } })
    await using session = await sessions.open('notes')
    const arrived = server.hangs()
    const hanging = failure(session.callTool('hang'))
    await arrived
    await server.kill()
    expect((await hanging).code).toBe('outcome-unknown')
    expect((await failure(session.callTool('read'))).code).toBe('session-lost')
    expect(await session.checkHealth()).toBe('lost')
  })

  it('distinguishes an expired session from a lost one', async () => {
    await using server = await serveNotes()
    await using sessions = createMcpSessions({ mcpServers: { notes: { url: server.url } } })
    await using idle = await sessions.open('notes')
    await idle.callTool('expire')
    const expired = await failure(idle.callTool('count'))
    expect(SessionExpiredError.is(expired) && !SessionLostError.is(expired)).toBe(true)
    await using asked = await sessions.open('notes')
    await server.restart()
    expect([await asked.checkHealth(), idle.health]).toEqual(['expired', 'expired'])
  })

  it('is recovered by its hook, and a call that was not made is made then', async () => {
    await using server = await serveNotes()
    let restored = 0
    await using sessions = createMcpSessions(
      { mcpServers: { notes: { url: server.url } } },
      {
        recovery: {
          notes: {
            async restore(session) {
              restored++
              await session.callTool('put', { key: 'name', value: 'Ada' })
            },
          },
        },
      },
    )
    await using session = await sessions.open('notes')
    await session.callTool('expire')
    expect(await text(session.callTool('get', { key: 'name' }))).toBe('Ada')
    await server.restart()
    expect(await text(session.callTool('count'))).toBe('1')
    expect(restored).toBe(2)
  })

  it('makes a call again only where that is safe, and as often as it may', async () => {
    let opened = 0
    await using sessions = createMcpSessions(
      { mcpServers: { notes: notesCommand() } },
      { recovery: { notes: { attempts: 3, restore: async () => void opened++ } } },
    )
    await using session = await sessions.open('notes')
    expect((await failure(session.callTool('die'))).code).toBe('outcome-unknown')
    expect(opened).toBe(0)
    expect((await failure(session.callTool('fall'))).code).toBe('session-lost')
    // Once for the call before, and twice for its own second and third attempt.
    expect(opened).toBe(3)
    expect((await failure(session.callTool('die', {}, { mayRepeat: true }))).code).toBe('session-lost')
    expect(opened).toBe(6)
    expect(await text(session.callTool('count'))).toBe('1')
  })

  it('looks for a server that is gone for a while, and no longer', async () => {
    await using server = await serveNotes()
    await using sessions = createMcpSessions(
      { mcpServers: { notes: { url: server.url } } },
      { reconnects: 3, reconnectMilliseconds: 1, recovery: { notes: { restore: async () => {} } } },
    )
    await using session = await sessions.open('notes')
    await server.kill()
    const lost = await failure(session.callTool('count'))
    expect(lost).toMatchObject({ code: 'session-lost' })
    expect(lost.message).toMatch('could not be opened again in 3 attempts')
    await server.restart()
    expect(await text(session.callTool('count'))).toBe('1')
  })

  it('says when its hook failed, and hangs in none', async () => {
    await using server = await serveNotes()
    let how = 'throws'
    await using sessions = createMcpSessions(
      { mcpServers: { notes: { url: server.url } } },
      {
        openMilliseconds: 5_000,
        recovery: {
          notes: {
            async restore(fresh) {
              if (how === 'throws') throw new Error('no such user')
              if (how === 'calls the session') await session.callTool('count')
              await fresh.callTool('count')
            },
          },
        },
      },
    )
    await using session = await sessions.open('notes')
    await session.callTool('expire')
    expect((await failure(session.callTool('count'))).message).toMatch('its restore hook failed: no such user')
    how = 'calls the session'
    const late = await failure(session.refresh())
    expect(late.code).toBe('restore-failed')
    expect(late.message).toMatch('Its calls go through its own argument')
    how = 'works'
    expect(await text(session.callTool('put', { key: 'a', value: 'b' }))).toBe('kept')
  })

  it('refuses by name a tool that vanished when it was refreshed', async () => {
    await using server = await serveNotes()
    await using sessions = createMcpSessions({ mcpServers: { notes: { url: server.url } } })
    await using session = await sessions.open('notes')
    expect((await failure(session.callTool('nope'))).message).toMatch('has no such tool. It has: count,')
    await server.restart({ WITHOUT: 'count' })
    await session.refresh()
    const vanished = await failure(session.callTool('count'))
    expect(vanished.code).toBe('tool-unknown')
    expect(vanished.message).toMatch('has no such tool any more since the session was refreshed')
    await server.restart()
    await session.refresh()
    expect(await text(session.callTool('count'))).toBe('1')
  })
})
