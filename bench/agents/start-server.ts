import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Killable, startProcess } from '../../chaos/processes/start-process.ts'
import { freePort } from '../../interop/free-port.ts'

/** A server that is measured. */
export interface MeasuredServer extends AsyncDisposable {
  readonly pid: number
  readonly port: number
}

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
/** Milliseconds between two attempts to connect to a server that starts. */
const ATTEMPTS = 100

/** Starts a server in Python, whose arguments are given its port, and resolves when it listens. */
export async function startPython(python: string, args: (port: string) => string[]): Promise<MeasuredServer> {
  const port = await freePort()
  const server = startProcess(python, [...args(String(port))], { cwd: FOLDER })
  let ended = false
  const onEnd = () => {
    ended = true
  }
  server.exited.then(onEnd, onEnd)
  while (!(await listens(port))) {
    if (ended) throw new Error(`The server ended: ${server.said}`)
    await pause(ATTEMPTS)
  }
  return measured(server, port)
}

function measured(server: Killable, port: number): MeasuredServer {
  return { pid: server.pid, port, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
