import type { MethodResult } from '@episodic/protocol'
import type { SessionRecord, SessionStore, StoredSession } from '@episodic/state'
import { answeredIn, decodeSession, storedBytes } from '@episodic/state/internal'
import type { SessionsQuery } from '../host.ts'
import { nextTurn } from '../yield-to-event-loop.ts'

/** Lists sessions as an operator sees them, with how many there are in all. `now` is milliseconds since 1970. */
export async function listSessions(
  store: SessionStore,
  { owner, ...page }: SessionsQuery,
  now: number,
): Promise<{ total: number; sessions: MethodResult<'sessions'>['sessions'][number][] }> {
  if (owner === undefined) {
    const [total, stored] = await Promise.all([store.count(), store.list(page)])
    return { total, sessions: stored.map((session) => summarise(session, decodeSession(session), now)) }
  }
  let total = 0
  const sessions: MethodResult<'sessions'>['sessions'][number][] = []
  for await (const { stored, record } of eachStored(store)) {
    if (record.owner !== owner) continue
    total += 1
    if (record.id > (page.after ?? '') && sessions.length < page.limit) sessions.push(summarise(stored, record, now))
  }
  return { total, sessions }
}

function summarise(
  stored: StoredSession,
  record: Omit<SessionRecord, 'state'>,
  now: number,
): MethodResult<'sessions'>['sessions'][number] {
  const { seats, turn, end, shared } = record
  const progress = Object.entries(seats).map(
    ([seat, { seq, end: ownEnd = end }]) => [seat, { steps: seq, end: ownEnd }] as const,
  )
  return {
    id: record.id,
    environment: record.environment.name,
    owner: record.owner,
    age: secondsSince(record.createdAt, now),
    idle: secondsSince(record.touchedAt, now),
    bytes: storedBytes(stored, record),
    ...(shared !== undefined && { shared }),
    steps: answeredIn(seats),
    ...(turn && { seats: Object.fromEntries(progress), turn: end ? [] : turn }),
    history: record.history.length,
    end,
  }
}

/** Another process may have written the time, by a clock that is ahead of this one's. */
function secondsSince(time: number, now: number): number {
  return Math.max(0, now - time) / 1_000
}

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
