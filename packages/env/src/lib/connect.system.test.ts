// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of a configuration are written that way
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Target } from '@episodic/mcp-client/channel'
import { inProcess } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { describe, expect, it } from 'vitest'
import { connect } from './connect.ts'
import {
  createWalkHost,
  externalCommand,
  readProcessId,
  walkCommand,
  withProcessId,
} from './fixtures/endpoints.fixture.ts'
import { move } from './fixtures/walk.fixture.ts'
import { parseMcpServers } from './transport/parse-mcp-servers.ts'

describe('connect', () => {
  it('takes a bare URL where the server wants no token', async () => {
    await using server = await serveHttp(createWalkHost())
    // The trainer endpoint always wants one, so a bare URL is refused there.
    await expect(connect(server.trainerUrl)).rejects.toMatchObject({ code: 'connection-failed' })
    await using connection = await connect({
      url: server.trainerUrl,
      headers: { Authorization: `Bearer ${server.controlToken}` },
    })
    expect(connection.environment().info.name).toBe('walk')
  })

  it('takes an entry of an mcpServers file', async () => {
    await using server = await serveHttp(createWalkHost())
    const { command, args } = walkCommand('trainer')
    const text = JSON.stringify({
      mcpServers: {
        remote: { type: 'http', url: server.trainerUrl, headers: { Authorization: 'Bearer ${TOKEN}' } },
        local: { command: '${NODE}', args },
      },
    })
    const servers = parseMcpServers(text, { TOKEN: server.controlToken, NODE: command })
    for (const target of servers.values()) {
      await using connection = await connect(target)
      await using environment = connection.environment()
      await environment.reset()
      expect((await environment.step(move(0))).info.seq).toBe(1)
    }
  })

  it('plays the first environment by default, or the one that is named', async () => {
    await using host = createWalkHost()
    await using connection = await connect(inProcess(host))
    expect(connection.environments.map(({ name }) => name)).toEqual(['walk', 'rest'])
    expect(connection.environment().info.name).toBe('walk')
    expect(connection.environment('rest').info.name).toBe('rest')
    expect(() => connection.environment('run')).toThrow('It has: walk, rest.')
  })

  it('stops the server that it started when it closes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'walk-'))
    try {
      await using connection = await connect(withProcessId(walkCommand('trainer'), join(folder, 'pid')))
      const environment = connection.environment()
      const pid = await readProcessId(join(folder, 'pid'))
      await environment.reset()
      await connection.close()
      expect(() => process.kill(pid, 0)).toThrow('ESRCH')
      await expect(environment.reset()).rejects.toMatchObject({ code: 'connection-failed' })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it.each([
    ['no URL', 'localhost'],
    ['another protocol', 'ftp://localhost/env'],
    ['a target of another protocol', { url: 'ftp://localhost/env' }],
    ['nothing', null],
    ['an empty object', {}],
  ])('refuses %s', async (_, target) => {
    await expect(connect(target as unknown as Target)).rejects.toMatchObject({
      name: 'EnvError',
      code: 'target-invalid',
    })
  })

  it('rejects with connection-failed if the server does not answer', async () => {
    const port = await freePort()
    await expect(connect(`http://127.0.0.1:${port}/env`)).rejects.toMatchObject({ code: 'connection-failed' })
    await expect(connect({ command: 'no-such-command-anywhere' })).rejects.toMatchObject({ code: 'connection-failed' })
    await expect(connect({ command: process.execPath, args: ['-e', ''] })).rejects.toMatchObject({
      code: 'connection-failed',
    })
  })

  it('says that the token is wrong', async () => {
    await using server = await serveHttp(createWalkHost())
    await expect(connect({ url: server.trainerUrl, token: 'wrong' })).rejects.toMatchObject({
      code: 'connection-failed',
      message: expect.stringContaining('bearer token'),
    })
  })

  it('rejects an MCP server without environments with not-an-environment', async () => {
    await using server = await serveHttp(createWalkHost())
    const others: Target[] = [
      server.agentUrl,
      walkCommand('agent'),
      externalCommand('memory', { MEMORY_FILE_PATH: '/dev/null' }),
    ]
    for (const target of others) await expect(connect(target)).rejects.toMatchObject({ code: 'not-an-environment' })
  })

  it('rejects with the reason of an abort', async () => {
    await using silent = await serveSilence()
    const abort = new AbortController()
    const connecting = connect(silent.url, { signal: abort.signal })
    await silent.reached
    abort.abort(new Error('enough'))
    await expect(connecting).rejects.toThrow('enough')
    await expect(connect(silent.url, { signal: abort.signal })).rejects.toThrow('enough')
  })

  it('leaves a host in the same process alone when it closes', async () => {
    await using host = createWalkHost()
    const connection = await connect(inProcess(host))
    await connection.close()
    await connection.close()
    await using next = await connect(inProcess(host))
    await next.environment().reset()
  })
})

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A server that takes connections and never answers. */
async function serveSilence() {
  const reached = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    reached.resolve()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}/env`,
    reached: reached.promise,
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}
