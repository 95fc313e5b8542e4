import type { Host } from '@episodic/mcp-server'
import { DEFAULT_SEAT, type EnvironmentInfo, type OpenResult, WireError } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/internal'
import { openSession } from '../episode/open-session.ts'
import { RequestProblem } from '../http/request-problem.ts'
import { type TextBlock, textBlock } from './blocks.ts'
import { type OrsSession, type OrsSessionSettings, openOrsSession } from './ors-session.ts'
import type { TaskRow } from './requests.ts'

export interface Creation {
  readonly environment: EnvironmentInfo
  readonly row: TaskRow
}

interface Entry {
  /** `null` once the client has deleted the session. */
  readonly session: Promise<OrsSession> | null
  /** When it was last used, in milliseconds of a monotonic clock. */
  readonly usedAt: number
}

/** Characters of a session id: those of this server have 36. */
const MOST_CHARACTERS = 200

export type OrsSessions = ReturnType<typeof createOrsSessions>

/**
 * The sessions of the clients, by the ids that they send. An id opens nothing by itself: it is made before the client
 * says what to play, and its session is found in the store by it, also after a restart of the server.
 *
 * Entries that were not used for as long as a session is kept idle are dropped.
 */
export function createOrsSessions(host: Host, settings: OrsSessionSettings, now: () => number = monotonic) {
  /** The least recently used entry is the first. */
  const entries = new Map<string, Entry>()
  const clock = now
  return {
    /**
     * Opens the session of an id. A client whose answer was lost may repeat this until its first call.
     *
     * Rejects with 400 if it is open and another is asked for, or was played; with 410 if it was deleted; and with
     * errors of `open`.
     */
    async create(principal: string | null, id: string, creation: Creation): Promise<void> {
      const key = toSessionKey(principal, id)
      const entry = entries.get(key)
      if (entry?.session === null) throw deleted(id)
      const opening = open(principal, id, creation)
      const session = await (entry ? findAgain(principal, id, opening) : keep(key, opening))
      if (session.isPlayed) throw alreadyOpen(id)
    },
    find,
    async delete(principal: string | null, id: string): Promise<void> {
      const key = toSessionKey(principal, id)
      const entry = entries.get(key)
      if (entry?.session === null) return
      const session = await find(principal, id).catch(ignoreMissing)
      if (!session) return
      use(key, null)
      await session.close()
    },
  }

  async function find(principal: string | null, id: string): Promise<OrsSession> {
    const key = toSessionKey(principal, id)
    const entry = entries.get(key)
    if (entry?.session === null) throw deleted(id)
    return keep(key, entry?.session ?? restore(principal, id))
  }

  async function findAgain(principal: string | null, id: string, opening: Promise<OrsSession>): Promise<OrsSession> {
    try {
      await opening
    } catch (error) {
      throw WireError.is(error, 'invalid-params') ? alreadyOpen(id) : error
    }
    return find(principal, id)
  }

  async function open(principal: string | null, id: string, { environment, row }: Creation): Promise<OrsSession> {
    const { opened, session } = await openSession(host, principal, {
      environment: environment.name,
      params: row.params ?? undefined,
      seed: row.seed,
      limits: row.limits ?? undefined,
      requestKey: requestKeyOf(id),
    })
    return openOrsSession(session, settings, promptOf(row, opened))
  }

  async function restore(principal: string | null, id: string): Promise<OrsSession> {
    try {
      return await openOrsSession(await host.findOpened(principal, requestKeyOf(id)), settings, null)
    } catch (error) {
      if (WireError.is(error, 'session-not-found')) throw new RequestProblem(404, `There is no session ${id}.`)
      throw error
    }
  }

  async function keep(key: string, session: Promise<OrsSession>): Promise<OrsSession> {
    use(key, session)
    try {
      return await session
    } catch (error) {
      if (entries.get(key)?.session === session) entries.delete(key)
      throw error
    }
  }

  function use(key: string, session: Promise<OrsSession> | null): void {
    const now = clock()
    entries.delete(key)
    entries.set(key, { session, usedAt: now })
    for (const [oldest, { usedAt }] of entries) {
      if (now - usedAt <= host.idleSeconds * 1_000) return
      entries.delete(oldest)
    }
  }
}

function toSessionKey(principal: string | null, id: string): string {
  if (id.length > MOST_CHARACTERS)
    throw new RequestProblem(400, `A session id has at most ${MOST_CHARACTERS} characters.`)
  return JSON.stringify([principal, id])
}

/** The prefix keeps these ids apart from the request keys of other endpoints. */
function requestKeyOf(id: string): string {
  return `open-reward-standard:${id}`
}

function promptOf({ prompt, hints }: TaskRow, { seats }: OpenResult): readonly TextBlock[] {
  const observation = seats[DEFAULT_SEAT]?.observation.text ?? ''
  return [prompt ?? '', ...(hints ?? []), observation].filter((text) => text !== '').map(textBlock)
}

function alreadyOpen(id: string): RequestProblem {
  return new RequestProblem(400, `Session ${id} already exists.`)
}

function deleted(id: string): RequestProblem {
  return new RequestProblem(410, `Session ${id} was deleted.`)
}

function ignoreMissing(error: unknown): null {
  if (RequestProblem.is(error, 404)) return null
  throw error
}
