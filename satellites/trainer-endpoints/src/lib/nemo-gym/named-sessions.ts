import { contentId, WireError } from '@episodic/protocol'
import { LRUCache } from 'lru-cache'
import type { EpisodeRequest } from '../episode/open-session.ts'
import type { RolloutSession, RolloutSessions } from './rollout-session.ts'

export interface NamedSession {
  readonly id: string
  /** The attempt that it is for: a retry of the same attempt has the same. */
  readonly episode: string
}

/** What is known of a name. Without a handle, its session is closed and may not be opened again. */
interface Known {
  readonly episode: string | null
  readonly handle: string | null
}

/** Names that are remembered at once: closed ones too, so that a late request does not open them again. */
const REMEMBERED = 100_000

/**
 * Sessions with names that their client chose. Opening a name again returns the same session, closing one twice or one
 * that never was is fine, and a closed name is never opened again.
 */
export function createNamedSessions(sessions: RolloutSessions) {
  const byName = new LRUCache<string, Known>({ max: REMEMBERED })
  return {
    /** Rejects with `invalid-params` for another episode's name, `episode-ended` for a closed one, and as `open`. */
    async open(principal: string | null, { id, episode }: NamedSession, task: EpisodeRequest): Promise<RolloutSession> {
      const key = toSessionKey(principal, id)
      const known = byName.get(key)
      if (known?.handle === null) throw closed(id)
      if (known && known.episode !== episode)
        throw new WireError('invalid-params', `The session ${id} is of another episode. Choose another name.`)
      const { session } = await sessions.open(principal, { ...task, requestKey: requestKeyOf(id) })
      if (byName.get(key)?.handle === null) {
        // It was closed while it was being opened.
        await session.ref.close()
        throw closed(id)
      }
      byName.set(key, { episode, handle: session.handle })
      return session
    },
    async isNameOf(principal: string | null, id: string, handle: string): Promise<boolean> {
      const known = byName.get(toSessionKey(principal, id))
      if (known) return known.handle === null || known.handle === handle
      return sessions.isOpenedBy(principal, requestKeyOf(id), handle)
    },
    async close(principal: string | null, id: string): Promise<void> {
      const key = toSessionKey(principal, id)
      const known = byName.get(key)
      byName.set(key, { episode: null, handle: null })
      if (known?.handle === null) return
      try {
        // An earlier process may have opened it.
        await sessions.closeOpened(principal, requestKeyOf(id))
      } catch (error) {
        // Not closed, so that the client may try again.
        if (!WireError.is(error, 'store-unavailable')) throw error
        if (known) byName.set(key, known)
        else byName.delete(key)
        throw error
      } finally {
        if (known) sessions.forget(principal, known.handle)
      }
    },
  }
}

/** The key under which a session was opened: the same name always opens the same one. */
function requestKeyOf(id: string): string {
  return `nemo-gym ${contentId(id)}`
}

function closed(id: string): WireError {
  return new WireError('episode-ended', `The session ${id} is closed, and its name cannot be used again.`)
}

function toSessionKey(principal: string | null, id: string): string {
  return JSON.stringify([principal, id])
}
