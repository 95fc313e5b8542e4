import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const FIXTURE = fileURLToPath(new URL('../fixtures/http-process.fixture.ts', import.meta.url))
/** The system's own limit of connections that wait to be accepted, on Linux. */
const SOMAXCONN = '/proc/sys/net/core/somaxconn'

async function startServer() {
  const child = spawn(process.execPath, [FIXTURE], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, port: Number(new URL(url).port) }
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

describe.runIf(existsSync(SOMAXCONN))('serveHttp', () => {
  it('loses no request that comes while its process is stopped, however many clients connect meanwhile', async () => {
    // With a queue that is too short, further clients are not connected before the process goes on.
    const clients = Math.min(1_000, Number(readFileSync(SOMAXCONN, 'utf8')) - 1)
    const { child, port } = await startServer()
    child.kill('SIGSTOP')
    const sockets = await Promise.all(Array.from({ length: clients }, () => open(port)))
    for (const socket of sockets)
      socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`)
    child.kill('SIGCONT')
    const answers = await Promise.all(sockets.map(text))
    expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 200'))).toHaveLength(clients)
  })
})
