// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of a configuration are written that way
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Target } from '@episodic/mcp-client/channel'
import { createHost, inProcess } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { META } from '@episodic/protocol'
import { createManualClock } from '@episodic/state'
import { describe, expect, it } from 'vitest'
import { connect } from './connect.ts'
import { runEpisode } from './environment/run-episode.ts'
import {
  createWalkHost,
  externalCommand,
  readProcessId,
  walkCommand,
  withProcessId,
} from './fixtures/endpoints.fixture.ts'
import { move, walk } from './fixtures/walk.fixture.ts'
import { scriptedPolicy } from './policy/scripted-policy.ts'
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

  it('plays many environments at once', async () => {
    await using server = await serveHttp(createWalkHost())
    await using connection = await connect({ url: server.trainerUrl, token: server.controlToken })
    const episodes = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        runEpisode({
          createEnvironment: () => connection.environment(),
          policy: scriptedPolicy([move(1), move(1), move(1)]),
          task: { params: { size: 1_000 }, limits: { steps: 3 } },
          seed: `seed-${i}`,
        }),
      ),
    )
    expect(episodes.filter(({ kind }) => kind === 'finished')).toHaveLength(200)
    expect(new Set(episodes.map(({ start }) => start?.info.id)).size).toBe(200)
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

describe('a lost session', () => {
  it('is an error of the step, and gone for the close', async () => {
    await using host = createWalkHost()
    const channel = inProcess(host)
    await using connection = await connect({
      ...channel,
      async request(method, params, options) {
        const meta = params._meta as { [META.session]?: string } | undefined
        if (method === 'tools/call') await channel.request('environment/close', { session: meta?.[META.session] ?? '' })
        return channel.request(method, params, options)
      },
    })
    const environment = connection.environment()
    await environment.reset()
    await expect(environment.step(move(1))).rejects.toMatchObject({ name: 'WireError', code: 'session-not-found' })
    await environment.close()
  })

  it('is an error of the step where the session has expired', async () => {
    const clock = createManualClock()
    await using host = createHost({ environments: [walk], clock, bounds: { idleSeconds: 60 } })
    await using connection = await connect(inProcess(host))
    await using environment = connection.environment()
    await environment.reset()
    clock.advance(61_000)
    await host.sweep()
    await expect(environment.step(move(1))).rejects.toMatchObject({ code: 'session-not-found' })
    await environment.reset()
    expect((await environment.step(move(0))).info.seq).toBe(1)
  })

  it('fails the episode when the server dies in the middle of it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'walk-'))
    try {
      await using connection = await connect(withProcessId(walkCommand('trainer'), join(folder, 'pid')))
      const pid = await readProcessId(join(folder, 'pid'))
      const episode = await runEpisode({
        createEnvironment: () => connection.environment(),
        policy: {
          name: 'killer',
          start:
            () =>
            (_, { last }) => {
              if (last) process.kill(pid, 'SIGKILL')
              return move(0)
            },
        },
      })
      expect(episode).toMatchObject({ kind: 'failed', cause: { name: 'EnvError', code: 'connection-failed' } })
      expect(episode.steps).toHaveLength(1)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('fails the episode when an HTTP server goes away in the middle of it', async () => {
    const server = await serveHttp(createWalkHost())
    await using connection = await connect({ url: server.trainerUrl, token: server.controlToken })
    const episode = await runEpisode({
      createEnvironment: () => connection.environment(),
      policy: {
        name: 'closer',
        start:
          () =>
          async (_, { last }) => {
            if (last) await server[Symbol.asyncDispose]()
            return move(0)
          },
      },
    })
    expect(episode).toMatchObject({ kind: 'failed', cause: { name: 'EnvError', code: 'connection-failed' } })
    expect(episode.steps).toHaveLength(1)
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
