/**
 * A fake of a server of E2B's API, with faults: sandboxes are bubblewrap boxes with a daemon in each
 * (`envd.fixture.ts`), their time to live is kept, and every request can be lost, refused or cut. E2B's own client in
 * JavaScript, version 2.51, creates, lists and ends its sandboxes, and runs programs and writes files in them.
 *
 * As a program, `node e2b-server.fixture.ts <port> <rate> <seed>` has this rate of requests go wrong.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { createRng } from '@episodic/protocol'

export type Asked = 'create' | 'list' | 'kill' | 'timeout' | 'start' | 'upload' | 'other'

/**
 * What goes wrong with a request: it is answered with a status and not done; done, and the reply lost; never done, and
 * the connection closed; answered up to so many bytes; or its sandbox is gone while it is done.
 */
export type Fault = { readonly status: number } | 'lost' | 'refused' | { readonly cutAfter: number } | 'vanish'

export interface E2bServerOptions {
  readonly port?: number
  readonly faultOf?: (asked: Asked) => Fault | null
  /** Sandboxes that may run at once. Default 20. */
  readonly most?: number
}

interface Sandbox {
  readonly id: string
  readonly token: string
  readonly socket: string
  readonly folder: string
  readonly box: ChildProcess
  readonly created: { readonly templateID: string; readonly metadata: Record<string, string> } & Record<string, unknown>
  expiry: NodeJS.Timeout
  endAt: number
}

export const API_KEY = `e2b_${'0'.repeat(40)}`

const here = import.meta.dirname

export async function startE2bServer({ port = 0, faultOf = () => null, most = 20 }: E2bServerOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'e2b-'))
  const sandboxes = new Map<string, Sandbox>()
  const counts = { created: 0, started: 0, faults: 0, bytes: 0 }

  const end = (sandbox: Sandbox) => {
    clearTimeout(sandbox.expiry)
    sandboxes.delete(sandbox.id)
    sandbox.box.once('exit', () => {
      for (const [group] of groupsOf(sandbox.folder)) void removeGroup(group)
      rmSync(sandbox.folder, { recursive: true, force: true })
    })
    sandbox.box.kill('SIGKILL')
  }
  const expireIn = (sandbox: Sandbox, seconds: number) => {
    clearTimeout(sandbox.expiry)
    sandbox.endAt = Date.now() + seconds * 1_000
    sandbox.expiry = setTimeout(() => end(sandbox), seconds * 1_000)
    sandbox.expiry.unref()
  }

  const create = async (created: Sandbox['created'] & { timeout?: number }): Promise<[number, object]> => {
    if (created.templateID !== 'base')
      return [404, { code: 404, message: `template '${created.templateID}' not found` }]
    if (sandboxes.size >= most)
      return [429, { code: 429, message: `you have reached the maximum number of concurrent E2B sandboxes (${most})` }]
    counts.created += 1
    const id = `i${String(counts.created).padStart(6, '0')}`
    const own = join(folder, id)
    mkdirSync(own)
    const token = `token-${id}`
    const sandbox: Sandbox = {
      ...{ id, token, folder: own, created, endAt: 0 },
      socket: join(own, 'envd.sock'),
      box: startBox(own, token),
      expiry: setTimeout(() => {}, 0),
    }
    await new Promise((resolve, reject) => {
      sandbox.box.stdout?.once('data', resolve)
      sandbox.box.once('exit', () => reject(new Error('A sandbox did not start: is bubblewrap installed?')))
    })
    sandboxes.set(id, sandbox)
    expireIn(sandbox, created.timeout ?? 15)
    const { templateID } = created
    return [201, { templateID, sandboxID: id, clientID: 'fake', envdVersion: '0.6.4', envdAccessToken: token }]
  }

  const api = async (asked: Asked, request: IncomingMessage, url: URL): Promise<[number, object | null]> => {
    if (request.headers['x-api-key'] !== API_KEY) return [401, { code: 401, message: 'Invalid API key' }]
    const [, id = '', action] = /^\/sandboxes\/([^/]+)(?:\/(\w+))?$/.exec(url.pathname) ?? []
    if (asked === 'create') return create((await json(request)) as Sandbox['created'])
    if (url.pathname === '/v2/sandboxes') {
      const wanted = [...new URLSearchParams(url.searchParams.get('metadata') ?? '')]
      return [
        200,
        [...sandboxes.values()]
          .filter(({ created }) =>
            wanted.every(([key, value]) => created.metadata?.[key] === decodeURIComponent(value)),
          )
          .map(({ id, created, endAt }) => ({
            ...{ templateID: created.templateID, sandboxID: id, clientID: 'fake', metadata: created.metadata },
            ...{ cpuCount: 2, memoryMB: 512, diskSizeMB: 1024, envdVersion: '0.6.4', state: 'running' },
            ...{ startedAt: new Date(0).toISOString(), endAt: new Date(endAt).toISOString() },
          })),
      ]
    }
    const sandbox = sandboxes.get(id)
    if (!sandbox) return [404, { code: 404, message: `sandbox '${id}' not found` }]
    if (action === undefined && request.method === 'DELETE') end(sandbox)
    else if (action === 'timeout') expireIn(sandbox, ((await json(request)) as { timeout: number }).timeout)
    else return [404, { code: 404, message: `${url.pathname} is not in this fake` }]
    return [204, null]
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://server')
    counts.bytes += Number(request.headers['content-length'] ?? 0)
    response.on('close', () => {
      counts.bytes += response.socket?.bytesWritten ?? 0
    })
    const asked = askedOf(request.method ?? '', url.pathname)
    const fault = faultOf(asked)
    if (fault) counts.faults += 1
    // What a program asks that has started this one as a process.
    if (url.pathname === '/fake') return reply(response, 200, { ...counts, running: sandboxes.size })
    if (fault === 'refused') return void request.socket.destroy()
    if (typeof fault === 'object' && fault !== null && 'status' in fault) {
      request.resume()
      return reply(response, fault.status, { code: fault.status, message: 'a fault of the fake' })
    }
    const id = request.headers['e2b-sandbox-id'] as string | undefined
    if (id === undefined) {
      const [status, body] = await api(asked, request, url).catch((): [number, object] => [
        500,
        { code: 500, message: 'fake' },
      ])
      if (fault !== null) return void request.socket.destroy()
      return reply(response, status, body)
    }
    if (asked === 'start') counts.started += 1
    const sandbox = sandboxes.get(id)
    if (!sandbox) return reply(response, 502, { sandboxId: id, message: 'The sandbox was not found', code: 502 })
    forward(request, response, sandbox, fault, () => end(sandbox))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${taken}`,
    counts,
    running: () => [...sandboxes.values()].map(({ id, created }) => ({ id, ...created })),
    /** Ends all sandboxes at once, as a server does that fails. */
    endAll: () => [...sandboxes.values()].forEach(end),
    [Symbol.asyncDispose]: async () => {
      for (const sandbox of sandboxes.values()) end(sandbox)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function askedOf(method: string, path: string): Asked {
  // Newer clients create at the second version's path.
  if (path.endsWith('/sandboxes')) return method === 'POST' ? 'create' : 'list'
  if (path.endsWith('/timeout')) return 'timeout'
  if (method === 'DELETE') return 'kill'
  if (path === '/process.Process/Start') return 'start'
  return path === '/files' && method === 'POST' ? 'upload' : 'other'
}

function reply(response: ServerResponse, status: number, body: object | null): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body === null ? '' : JSON.stringify(body))
}

/** Passes a request on to the daemon of a sandbox, and its answer back, with a fault. */
function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { socket }: Sandbox,
  fault: 'lost' | { readonly cutAfter: number } | 'vanish' | null,
  end: () => void,
): void {
  const { method, url, headers } = request
  const inner = httpRequest({ socketPath: socket, method, path: url, headers }, (answer) => {
    if (fault === 'lost') return void answer.resume().on('end', () => request.socket.destroy())
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    let left = typeof fault === 'object' && fault !== null ? fault.cutAfter : Number.POSITIVE_INFINITY
    answer.on('data', (data: Buffer) => {
      response.write(data.subarray(0, left))
      left -= data.length
      if (left <= 0) request.socket.destroy()
      if (fault === 'vanish') end()
    })
    answer.on('end', () => response.end()).on('error', () => request.socket.destroy())
  })
  inner.on('error', () => request.socket.destroy())
  request.pipe(inner)
}

/** Removes a control group once the last of its processes has gone. */
async function removeGroup(group: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1)
    try {
      for (const inner of readdirSync(group, { withFileTypes: true }))
        if (inner.isDirectory()) rmdirSync(join(group, inner.name))
      return rmdirSync(group)
    } catch {
      await pause(50)
    }
}

/** Control groups of a box, in those of this machine: its root may make others in them. */
function groupsOf(folder: string): [group: string, seenAs: string][] {
  const name = `e2b-${basename(dirname(folder))}-${basename(folder)}`
  return ['/sys/fs/cgroup/memory', '/sys/fs/cgroup/pids'].flatMap((root): [string, string][] => {
    if (!existsSync(root)) return []
    mkdirSync(join(root, name), { recursive: true })
    return [[join(root, name), root]]
  })
}

function startBox(folder: string, token: string): ChildProcess {
  const node = dirname(dirname(realpathSync(process.execPath)))
  const system = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc'].flatMap((path) => ['--ro-bind-try', path, path])
  return spawn(
    'bwrap',
    [
      ...['--unshare-all', '--die-with-parent', '--clearenv', '--uid', '0', '--gid', '0', '--cap-add', 'ALL'],
      ...[...system, '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--dir', '/root', '--dir', '/workspace'],
      ...['--ro-bind', node, '/opt/node', '--ro-bind', here, '/opt/envd', '--bind', folder, '/run/envd'],
      ...groupsOf(folder).flatMap(([group, seenAs]) => ['--bind', group, seenAs]),
      ...['/opt/node/bin/node', '/opt/envd/envd.fixture.ts', '/run/envd/envd.sock', token],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
}

const FAULTS: readonly Fault[] = [
  ...([{ status: 429 }, { status: 500 }, { status: 502 }, 'lost', 'refused', 'vanish'] as const),
  ...[{ cutAfter: 0 }, { cutAfter: 40 }, { cutAfter: 400 }],
]

if (import.meta.main) {
  const [, , port, rate, seed = '1'] = process.argv
  const faults = createRng(seed).stream('faults')
  await startE2bServer({
    port: Number(port),
    most: 1_000,
    faultOf: () => (faults.float() < Number(rate) ? faults.pick(FAULTS) : null),
  })
  process.stdout.write('listening\n')
}
