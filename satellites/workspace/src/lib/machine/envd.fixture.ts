/**
 * The daemon within a sandbox of the fake of E2B's servers: it runs processes, and reads and writes files, as `envd`
 * does: the Connect protocol with JSON for `process.Process`, and plain HTTP for `/files`.
 *
 * `node envd.fixture.ts <socket> <token>` listens on a socket; the sandbox around it is the work of who starts it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'

interface Running {
  readonly child: ChildProcess
  readonly config: object
  readonly tag: string | undefined
}

const [, , socket = '', token = ''] = process.argv
const running = new Map<number, Running>()

const server = createServer(async (request, response) => {
  try {
    await answer(request, response)
  } catch (cause) {
    fail(response, 500, 'internal', (cause as Error).message)
  }
})
rmSync(socket, { force: true })
server.listen(socket, () => process.stdout.write('listening\n'))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox')
  if (pathname === '/health') return void response.writeHead(204).end()
  if (request.headers['x-access-token'] !== token) return fail(response, 401, 'unauthenticated', 'unauthorized access')
  const body = await buffer(request)
  if (pathname === '/files') return files(request, body, searchParams.get('path'), response)
  if (pathname === '/process.Process/Start') return start(request, body, response)
  const asked = body.length > 0 ? JSON.parse(body.toString()) : {}
  const process = [...running].find(
    ([pid, { tag }]) => pid === asked.process?.pid || (tag !== undefined && tag === asked.process?.tag),
  )
  if (pathname === '/process.Process/List') {
    const processes = [...running].map(([pid, { config, tag }]) => ({ config, pid, ...(tag && { tag }) }))
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ processes }))
  }
  if (!process) return fail(response, 404, 'not_found', 'process not found')
  const { stdin } = process[1].child
  if (pathname === '/process.Process/SendSignal') process[1].child.kill(SIGNALS[asked.signal] ?? 'SIGTERM')
  else if (pathname === '/process.Process/SendInput') stdin?.write(Buffer.from(asked.input.stdin, 'base64'))
  else if (pathname === '/process.Process/CloseStdin') stdin?.end()
  else return fail(response, 404, 'unimplemented', `${pathname} is not in this fake`)
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
}

const SIGNALS: Record<string | number, NodeJS.Signals> = {
  SIGNAL_SIGTERM: 'SIGTERM',
  SIGNAL_SIGKILL: 'SIGKILL',
  15: 'SIGTERM',
  9: 'SIGKILL',
}

/** Starts a process, and streams its events. The process goes on if the stream is cut, until its time is over. */
function start(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  if (request.headers['content-type'] !== 'application/connect+json')
    return void response.writeHead(415, { 'accept-post': 'application/connect+json' }).end()
  const length = body.readUInt32BE(1)
  const { process: config, tag, stdin = true } = JSON.parse(body.subarray(5, 5 + length).toString())
  response.writeHead(200, { 'content-type': 'application/connect+json' })
  const end = (error?: object) => {
    if (!response.writableEnded) response.end(frame(2, error ? { error } : {}))
  }
  const child = spawn(config.cmd, config.args ?? [], {
    cwd: config.cwd ?? '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/root', ...config.envs },
    stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
  child.on('error', (error) => end({ code: 'invalid_argument', message: error.message }))
  const { pid } = child
  if (pid === undefined) return
  running.set(pid, { child, config, tag })
  const event = (fields: object) => response.write(frame(0, { event: fields }))
  event({ start: { pid } })
  child.stdout?.on('data', (data: Buffer) => event({ data: { stdout: data.toString('base64') } }))
  child.stderr?.on('data', (data: Buffer) => event({ data: { stderr: data.toString('base64') } }))
  const milliseconds = Number(request.headers['connect-timeout-ms'] ?? 0)
  let isLate = false
  const late = setTimeout(
    () => {
      isLate = true
      child.kill('SIGKILL')
    },
    milliseconds > 0 ? milliseconds : 2 ** 31 - 1,
  )
  child.on('close', (code, signal) => {
    clearTimeout(late)
    running.delete(pid)
    const status = signal ? `signal: ${signal}` : `exit status ${code}`
    event({
      end: {
        ...(code !== 0 && { exitCode: code ?? -1 }),
        exited: signal === null,
        status,
        ...(signal && { error: status }),
      },
    })
    end(isLate ? { code: 'deadline_exceeded', message: 'context deadline exceeded' } : undefined)
  })
}

function frame(flags: number, message: object): Buffer {
  const json = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head.writeUInt8(flags)
  head.writeUInt32BE(json.length, 1)
  return Buffer.concat([head, json])
}

async function files(request: IncomingMessage, body: Buffer, path: string | null, response: ServerResponse) {
  if (request.method === 'GET') {
    try {
      const content = readFileSync(resolve('/root', path ?? ''))
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(content)
    } catch {
      fail(response, 404, 404, `path '${path}' does not exist`)
    }
    return
  }
  const type = request.headers['content-type'] ?? ''
  const contents = type.startsWith('multipart/form-data')
    ? (await new Response(body, { headers: { 'content-type': type } }).formData()).getAll('file')
    : [new File([body], path ?? '')]
  const written = []
  for (const content of contents as File[]) {
    const at = resolve('/root', path || content.name)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, await content.bytes())
    written.push({ path: at, name: at.slice(at.lastIndexOf('/') + 1), type: 'file' })
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(written))
}

function fail(response: ServerResponse, status: number, code: string | number, message: string): void {
  if (response.headersSent) return void response.destroy()
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ code, message }))
}
