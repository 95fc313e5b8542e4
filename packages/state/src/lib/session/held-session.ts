import { KeptState } from '../state/kept-state.ts'
import { StateError, storeInvalid } from '../state-error.ts'
import type { SessionStore, StoredSession } from '../store/session-store.ts'
import { sessionNotFound } from './session-errors.ts'
import { decodeSession, encodeSession, type SessionRecord } from './session-record.ts'

export interface HeldSession {
  /** With the state of `kept`. */
  readonly record: SessionRecord
  readonly kept: KeptState
  /** The pools that its pages are in, its own first. */
  readonly pools: readonly string[]
}

/**
 * Reads the state of a stored session; nothing of what `near`, another state of it, has too. Throws `store-invalid` if
 * a text or page is damaged, missing or too new, and `session-not-found` if the session is removed meanwhile.
 */
export async function holdSession(
  store: Pick<SessionStore, 'read' | 'readPages'>,
  stored: StoredSession,
  near?: KeptState,
): Promise<HeldSession> {
  const decoded = decodeSession(stored)
  const kept = await readState(store, stored.id, stored.state, near)
  return { record: { ...decoded, state: kept.state }, kept, pools: [stored.pool, ...stored.pools] }
}

/**
 * Reads the state that a stored text of a session stands for; nothing of what `near`, another state of it, has too.
 * Throws `store-invalid` if it or a page is damaged or missing, and `session-not-found` if the session is removed
 * meanwhile.
 */
export async function readState(
  store: Pick<SessionStore, 'read' | 'readPages'>,
  id: string,
  text: string,
  near?: KeptState,
): Promise<KeptState> {
  try {
    return await KeptState.read(text, (names) => store.readPages(id, names), near)
  } catch (cause) {
    // The pages of a removed session are gone with it.
    if (StateError.is(cause, 'store-invalid') && !(await store.read(id))) throw sessionNotFound()
    if (StateError.is(cause)) throw cause
    throw storeInvalid(
      `The state of session ${id} cannot be read from the store: ${(cause as Error).message}. Restore the store from a copy, or start a new one.`,
      { cause },
    )
  }
}

/** Pools that a session reads at most: each fork of a fork adds one, and pages are looked for in each. */
const MOST_POOLS = 32

/**
 * Stores a new session; resolves with `null` if its id is taken. `pools` are those of the session whose pages it reads.
 * With none, or with many, what a large state begins with goes into a pool that sessions with the same beginning share.
 *
 * `onShared` is called, and awaited, with the name of that pool and with whether this call has written its pages.
 *
 * Rejects with `session-not-found` if the session of `pools` is gone.
 */
export async function storeSession(
  store: Pick<SessionStore, 'create'>,
  { record, kept, pools }: HeldSession,
  onShared?: (pool: string, isNew: boolean) => Promise<void> | null,
): Promise<HeldSession | null> {
  if (!kept.isLarge) {
    const stored = encodeSession(record, kept.text)
    return (await store.create(stored)) ? { record, kept, pools: [stored.pool] } : null
  }
  const start = pools.length > 0 && pools.length <= MOST_POOLS ? null : kept.start
  const stored = { ...encodeSession(record, kept.text, kept.bytes), pools: start ? [start.pool] : pools }
  let isNew = false
  if (!(await create())) return null
  kept.keep()
  if (start) await onShared?.(start.pool, isNew)
  return { record, kept, pools: [stored.pool, ...stored.pools] }

  async function create(): Promise<boolean> {
    try {
      return await store.create(stored, undefined, start?.own)
    } catch (error) {
      if (!StateError.is(error, 'pages-missing')) throw error
      if (!start) throw sessionNotFound()
      // The first of this beginning brings its pages.
      isNew = true
      return store.create(stored, { pool: start.pool, pages: start.shared() }, start.own)
    }
  }
}
