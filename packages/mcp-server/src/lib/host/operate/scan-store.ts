import type { SessionRecord, SessionStore, StoredSession } from '@episodic/state'
import { decodeSession } from '@episodic/state/internal'
import { nextTurn } from '../yield-to-event-loop.ts'

const PAGE = 250

/** Goes through all sessions of a store in the order of their ids, a page in a turn of the event loop. */
export async function* eachStored(
  store: SessionStore,
  after?: string,
): AsyncGenerator<{ readonly stored: StoredSession; readonly record: Omit<SessionRecord, 'state'> }> {
  for (;;) {
    const page = await store.list({ after, limit: PAGE })
    for (const stored of page) yield { stored, record: decodeSession(stored) }
    if (page.length < PAGE) return
    after = page.at(-1)?.id
    await nextTurn()
  }
}
