import { mkdtempSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, type Host, openInProcess } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { type SocketPlace, serveSocket } from '@episodic/mcp-server/socket'
import type { CommandTarget, Target } from './target.ts'
import { rest, walk } from './walk.fixture.ts'

/** A way to the walk, and what has to be undone when a test has used it. */
export interface Door extends AsyncDisposable {
  readonly target: Target
}

export function createWalkHost(): Host {
  return createHost({ environments: [walk, rest] })
}

/** The doors that a server of environments has. Each gives the same worlds. */
export const DOORS: { readonly [name: string]: () => Promise<Door> } = {
  async 'in process'() {
    const host = createWalkHost()
    return { target: openInProcess(host), [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() }
  },
  http: () => openWeb((url) => url),
  websocket: () => openWeb((url) => url.replace(/^http/, 'ws')),
  'unix socket': () => openSocket({ path: join(mkdtempSync(join(tmpdir(), 'doors-')), 'walk.sock') }),
  tcp: () => openSocket({ port: 0 }),
  async stdio() {
    return { target: walkCommand('trusted'), async [Symbol.asyncDispose]() {} }
  },
}

async function openWeb(urlOf: (trustedUrl: string) => string): Promise<Door> {
  const host = createWalkHost()
  const server = await serveHttp(host)
  return {
    target: { url: urlOf(server.trustedUrl), token: server.controlToken },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
    },
  }
}

async function openSocket(place: SocketPlace): Promise<Door> {
  const host = createWalkHost()
  const server = await serveSocket(host, place)
  return {
    target: { url: server.url, token: server.controlToken ?? undefined },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
    },
  }
}

/** Starts a server of walks as a child process. */
export function walkCommand(door: 'trusted' | 'agent'): CommandTarget {
  return { command: process.execPath, args: [new URL('serve-walk.fixture.ts', import.meta.url).pathname, door] }
}

/** A command that writes its process id to a file before it becomes the server. */
export function withProcessId({ command, args = [], env }: CommandTarget, file: string): CommandTarget {
  return { command: 'sh', args: ['-c', 'echo $$ > "$0"; exec "$@"', file, command, ...args], env }
}

export async function readProcessId(file: string): Promise<number> {
  return Number(await readFile(file, 'utf8'))
}

/** An MCP server of the `@modelcontextprotocol` organisation, as a command. */
export function foreignCommand(name: 'memory' | 'everything', env?: CommandTarget['env']): CommandTarget {
  return { command: process.execPath, args: [FOREIGN_PROGRAMS[name]], env }
}

const require = createRequire(import.meta.url)
const FOREIGN_PROGRAMS = {
  memory: require.resolve('@modelcontextprotocol/server-memory/dist/index.js'),
  everything: require.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
}
