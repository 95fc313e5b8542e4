import { fileURLToPath } from 'node:url'
import { type Killable, startProcess } from '../../chaos/processes/start-process.ts'

const CLI = fileURLToPath(new URL('../../apps/harness/src/cli.ts', import.meta.url))

/** A server of `episodic view`, for which a browser would have logged in. */
export interface ViewServer extends AsyncDisposable {
  readonly pid: number
  readonly origin: string
  readonly cookie: { readonly name: string; readonly value: string }
  /** Resolves with the answer to a request; rejects unless it is a success. */
  get(path: string): Promise<Response>
}

/** Starts the server on a folder of runs and logs in. */
export async function startViewServer(runs: string): Promise<ViewServer> {
  const server: Killable = startProcess(process.execPath, [CLI, 'view', runs, '--port', '0', '--no-open', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }
  const { origin, hash } = new URL(url)
  const token = new URLSearchParams(hash.split('?')[1]).get('token')
  const headers = { 'content-type': 'application/json', origin }
  const login = await fetch(`${origin}/api/login`, { method: 'POST', headers, body: JSON.stringify({ token }) })
  const [name = '', value = ''] = String(login.headers.get('set-cookie')).split(/[=;]/)
  return {
    pid: server.pid,
    origin,
    cookie: { name, value },
    async get(path) {
      const response = await fetch(`${origin}${path}`, { headers: { cookie: `${name}=${value}` } }).catch((cause) => {
        throw new Error(`${path} was not answered: ${server.said}`, { cause })
      })
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return response
    },
    async [Symbol.asyncDispose]() {
      // So that it writes the index.
      server.signal('SIGINT')
      await server.exited
    },
  }
}
