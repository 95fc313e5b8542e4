import { contentId } from '@episodic/protocol'
import { expect } from 'vitest'
import type { LogEntry, SessionStore, StoredPage, StoredSession } from '../store/session-store.ts'

// What the contract suite puts into stores.

export const ID = 'session-1'

export function sessionOf(id: string, changes: Partial<StoredSession> = {}): StoredSession {
  const { origin, base, head, state } = { origin: '{"o":1}', base: null, head: `{"id":"${id}"}`, state: '{}' }
  const pages = { pool: `${id}.0`, pools: [] }
  return { id, revision: 0, epoch: 1, touchedAt: 0, origin, base, head, state, ...pages, ...changes }
}

export function pagesOf(...texts: readonly string[]): StoredPage[] {
  return texts.map((text) => ({ name: contentId(text), text }))
}

export function namesOf(...texts: readonly string[]): string[] {
  return pagesOf(...texts).map(({ name }) => name)
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
