import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that is removed with its content when it is disposed. */
export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string
}

/** Makes a folder of its own among the system's temporary ones. */
export async function openTemporaryFolder(): Promise<TemporaryFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'stateful-agents-')))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
