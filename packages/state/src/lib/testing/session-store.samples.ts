import { expect } from 'vitest'
import type { LogEntry, SessionStore, StoredSession } from '../store/session-store.ts'

// What the contract suite puts into stores.

export const ID = 'session-1'

export function sessionOf(id: string, changes: Partial<StoredSession> = {}): StoredSession {
  const { origin, base, head, state } = { origin: '{"o":1}', base: null, head: `{"id":"${id}"}`, state: '{}' }
  return { id, revision: 0, epoch: 1, touchedAt: 0, origin, base, head, state, ...changes }
}

export function entriesOf(id: string, revisions: readonly number[]): LogEntry[] {
  return revisions.map((revision) => ({ revision, text: `${id}:${revision}` }))
}

export async function play(store: SessionStore, id: string, range: { from: number; to: number }): Promise<void> {
  for (let revision = range.from; revision < range.to; revision++) {
    const [entry] = entriesOf(id, [revision + 1])
    const next = sessionOf(id, { revision: revision + 1 })
    expect(await store.commit(next, { revision, epoch: 1 }, entry)).toBe(true)
  }
}
