import { readFileSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../base/own-files.ts'
import { ownFolder } from '../../base/own-mark.ts'

/**
 * The file of a local server's control token, readable only by its user. It is named after the port, so that commands
 * on the same machine find it by the server's URL.
 */
function controlTokenFile(port: number): string {
  return join(ownFolder(), `control-${port}.token`)
}

export async function writeControlToken(port: number, token: string): Promise<string> {
  const file = controlTokenFile(port)
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
  await replaceFile(file, `${token}\n`, { mode: 0o600 })
  return file
}

export function removeControlToken(port: number): void {
  rmSync(controlTokenFile(port), { force: true })
}

/** Returns the control token of a local server by its URL; `undefined` if there is no readable token file. */
export function findControlToken(url: string): string | undefined {
  const { hostname, port, pathname } = new URL(url)
  if (!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname) || pathname !== '/env') return undefined
  try {
    return readFileSync(controlTokenFile(Number(port || 80)), 'utf8').trim()
  } catch {
    return undefined
  }
}
