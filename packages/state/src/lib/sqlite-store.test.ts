import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeSessionStore } from './session-store.contract.ts'
import { openSqliteStore } from './sqlite-store.ts'

let folder: string
let files = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'episodic-sqlite-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each(['process', 'power'] as const)('a commit that outlives: %s', (durability) => {
  const paths = new WeakMap<object, string>()
  const open = async (path: string) => {
    const store = await openSqliteStore(path, { durability })
    paths.set(store, path)
    return store
  }
  describeSessionStore(`sqlite, ${durability}`, {
    open: () => open(join(folder, `${files++}.db`)),
    async reopen(store) {
      await store[Symbol.asyncDispose]()
      return open(paths.get(store) as string)
    },
  })
})
