import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '@episodic/run/base/own-files'
import { ownFolder } from '@episodic/run/base/own-mark'

/**
 * The secrets of local servers, each in a file that only its user can read. It is named after the port, so that
 * commands on the same machine find it by the server's URL.
 */
function serverSecrets(nameOf: (port: number) => string) {
  const fileOf = (port: number) => join(ownFolder(), nameOf(port))
  return {
    async write(port: number, secret: string): Promise<string> {
      makeFolder(ownFolder(), 0o700)
      await replaceFile(fileOf(port), `${secret}\n`, { mode: 0o600 })
      return fileOf(port)
    },
    remove: (port: number) => rmSync(fileOf(port), { force: true }),
    find(port: number): string | undefined {
      try {
        return readFileSync(fileOf(port), 'utf8').trim()
      } catch {
        return undefined
      }
    },
  }
}

export const controlTokens = serverSecrets((port) => `control-${port}.token`)

/** The control handles of the sessions of local servers that were started for a task. */
export const sessionHandles = serverSecrets((port) => `session-${port}.handle`)

/** Returns the control token of a local server by the URL of its trainer endpoint. */
export function findControlToken(url: string): string | undefined {
  const { hostname, port, pathname } = new URL(url)
  if (!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname) || pathname !== '/env') return undefined
  return controlTokens.find(Number(port || 80))
}
