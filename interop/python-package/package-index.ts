import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { freePort } from '../free-port.ts'

/** An index of Python packages on this machine, to which anybody may upload. */
export interface PackageIndex extends AsyncDisposable {
  /** For `pip install --index-url`. */
  readonly url: string
  /** For `twine upload`. */
  readonly uploadOptions: readonly string[]
}

/** Starts an index that keeps its packages in a folder. `python` has pypiserver. */
export async function startPackageIndex(python: string, folder: string): Promise<PackageIndex> {
  await mkdir(folder)
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  const server = spawn(
    python,
    ['-m', 'pypiserver', 'run', '--interface', '127.0.0.1', '--port', String(port), '-P', '.', '-a', '.', folder],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const ended = once(server, 'exit')
  while (!(await fetch(`http://${address}/`).then(Boolean, () => false))) await oneTurn(server)
  return {
    url: `http://${address}/simple/`,
    uploadOptions: ['--repository-url', `http://${address}/`, '--username', 'anybody', '--password', 'anything'],
    async [Symbol.asyncDispose]() {
      server.kill()
      await ended
    },
  }
}

async function oneTurn(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) throw new Error(`The index of Python packages ended with ${server.exitCode}.`)
  await new Promise(setImmediate)
}
