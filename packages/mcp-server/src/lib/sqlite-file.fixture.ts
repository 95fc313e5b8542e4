import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionStore } from '@episodic/state'
import { openSqliteStore } from '@episodic/state/sqlite'
import { onTestFinished } from 'vitest'

/** Opens a store in a file of its own, which is gone after the test. */
export async function openSqliteFile(): Promise<SessionStore> {
  const folder = await mkdtemp(join(tmpdir(), 'episodic-store-'))
  const store = await openSqliteStore(join(folder, 'sessions.db'))
  onTestFinished(async () => {
    await store[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })
  return store
}
