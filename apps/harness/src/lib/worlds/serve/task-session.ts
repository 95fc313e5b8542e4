import { readFileSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { HttpOptions } from '@episodic/mcp-server/http'
import { invalidOption } from '../../base/harness-error.ts'
import { replaceFile } from '../../base/own-files.ts'
import { ownFolder } from '../../base/own-mark.ts'
import type { World } from '../world.ts'
import { servedTasks } from './served-tasks.ts'

/**
 * Reads the only task in a file, as the session of a server. Rejects with `option-invalid` for a file of more tasks or
 * none, and with the errors of {@link servedTasks}.
 */
export async function readTaskSession(
  worlds: readonly World[],
  file: string,
): Promise<NonNullable<HttpOptions['session']>> {
  const [task, ...more] = await servedTasks(worlds, file)
  if (!task || more.length > 0)
    throw invalidOption(`--task ${file} has to hold one task, and holds ${task ? more.length + 1 : 'none'}.`)
  const { environment, params, seed, limits } = task
  return { environment: environment.name, version: environment.version, params, seed, limits }
}

/** The file of the control handle, readable only by its user, beside that of the control token. */
function handleFile(port: number): string {
  return join(ownFolder(), `session-${port}.handle`)
}

export async function writeSessionHandle(port: number, handle: string): Promise<void> {
  const file = handleFile(port)
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
  await replaceFile(file, `${handle}\n`, { mode: 0o600 })
}

export function removeSessionHandle(port: number): void {
  rmSync(handleFile(port), { force: true })
}

/** Returns the control handle of the session of a local server's task; `null` if it was not started for one. */
export function findSessionHandle(port: number): string | null {
  try {
    return readFileSync(handleFile(port), 'utf8').trim()
  } catch {
    return null
  }
}
