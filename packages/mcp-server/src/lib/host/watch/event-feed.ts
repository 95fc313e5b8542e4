import type { LoggedStep, PublishedEvent } from '@episodic/protocol'
import { eventTexts } from '@episodic/protocol/internal'
import type { SessionRecord } from '@episodic/state'
import { decodeSession } from '@episodic/state/internal'
import type { EventNotification, ListenRange } from '../host.ts'
import { type CachedSession, notFound } from '../sessions/session-cache.ts'
import { pollUntil } from '../sessions/watchers.ts'
import type { WatchSetting } from './watch-log.ts'

const PAGE = 250

/**
 * Yields what the player of a seat may know of a session's events, as they happen; see `SessionRef.events`. Listening
 * does not count as use: it does not wait in the session's queue, and the session expires all the same.
 */
export async function* eventNotifications(
  cached: CachedSession,
  { after, signal, seat }: ListenRange & { readonly seat: string },
  { sessions, store, clock }: Omit<WatchSetting, 'stopping'>,
): AsyncGenerator<EventNotification, void, undefined> {
  const { session, environment } = cached
  const { id } = session.record
  const takesEvents = environment.eventInfos.length > 0
  let seen = after ?? (await present()).revision
  const findEvents = async (): Promise<EventNotification | null> => {
    if (signal?.aborted) return null
    const record = session.record.revision > seen ? session.record : await present()
    const over = record.end !== null
    if (record.revision <= seen && !over) return null
    const said = withoutSecrets(cached, seat, await saidIn(record))
    seen = record.revision
    return said.length > 0 || over ? { revision: seen, said, over } : null
  }
  while (!signal?.aborted) {
    const found = await pollUntil(cached, findEvents, { clock, wait: Number.POSITIVE_INFINITY, signals: [signal] })
    if (found) yield found
    if (found?.over) return
  }

  async function present(): Promise<Pick<SessionRecord, 'revision' | 'end' | 'outside'>> {
    const stored = await sessions.guardStore(store.read(id))
    if (!stored) throw notFound()
    return stored.revision === session.record.revision ? session.record : decodeSession(stored)
  }

  async function saidIn({ outside, revision: last }: Pick<SessionRecord, 'revision' | 'outside'>): Promise<string[]> {
    if (!takesEvents) return []
    // Each commit is one event from outside, or one step with what it published.
    const said = new Map<number, readonly Said[]>()
    for (const event of outside?.pending ?? []) said.set(event.revision, [event])
    for (let from = seen; ; ) {
      const page = await sessions.guardStore(store.readLog(id, { after: from, limit: PAGE }))
      for (const { text, revision } of page) {
        const { report, published } = JSON.parse(text) as LoggedStep
        for (const event of report.events ?? []) said.set(event.revision, [event])
        if (published) said.set(revision, published)
      }
      const entry = page.at(-1)
      if (!entry || page.length < PAGE) break
      from = entry.revision
    }
    // The log may be newer than the record: an event may be in both, and a later one is reported next time.
    const fresh = [...said].filter(([revision]) => revision > seen && revision <= last)
    return fresh.sort(([a], [b]) => a - b).flatMap(([, events]) => events.flatMap((event) => eventTexts(event, seat)))
  }
}

type Said = Pick<PublishedEvent, 'said' | 'sent'>

/** Drops texts that contain a secret of the session; each is reported as a fault of the environment. */
function withoutSecrets({ secrets }: CachedSession, seat: string, said: readonly string[]): string[] {
  return said.filter((text) => {
    try {
      secrets[seat]?.assertAbsent({ text, worldText: () => text, callerText: () => '' })
      return true
    } catch {
      return false
    }
  })
}
