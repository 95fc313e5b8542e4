import type { HttpOptions } from '@episodic/mcp-server/http'
import { invalidOption } from '@episodic/runs/base/harness-error'
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
