import { join } from 'node:path'
import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { linesAs } from '@episodic/run/base/json-lines'
import { appendNow, makeFolder } from '@episodic/run/base/own-files'
import { z } from 'zod'
import { type Grouped, groupOf, type PlacedSteps, placedSchema, placeSteps } from '../forks/credit/session-credit.ts'
import { callOf, type RecordedCall } from '../forks/recorded-call.ts'
import { allSteps, forkSchema, randomId, type SessionFork, SessionForks } from '../forks/session-forks.ts'
import { createFolderJournal } from '../journal/folder-journal.ts'
import { openRolloutQueue } from '../rollouts/rollout-queue.ts'
import { Weights } from '../rollouts/weights.ts'
import type { Engine } from './engine.ts'
import { GatewaySession } from './gateway-session.ts'

export interface OpenSession {
  readonly id: string
  /** Names the session in addresses, and is a key of the API for its agent. It is a secret. */
  readonly token: string
  readonly metadata: JsonObject
  /** What its episode earned; `null` until somebody says it. */
  readonly reward: number | null
  /** Where it goes on from another one. Left out if it began anew. */
  readonly fork?: SessionFork | undefined
  readonly placed?: PlacedSteps | undefined
  readonly session: GatewaySession
  /** Reads its calls, in the order in which they ended. */
  calls(): Promise<readonly RecordedCall[]>
}

export type GatewaySessions = Awaited<ReturnType<typeof openGatewaySessions>>

/** A line of the file of sessions. The last one of a session counts. */
const lineSchema = z.object({
  id: z.string(),
  token: z.string(),
  metadata: jsonObjectSchema,
  reward: z.number().nullable(),
  fork: forkSchema.optional(),
  placed: placedSchema.optional(),
  closed: z.literal(true).optional(),
})
type SessionEntry = z.infer<typeof lineSchema>

/** Opens the sessions that are kept in a folder, which is created. Rejects with HarnessError `disk-failed`. */
export async function openGatewaySessions(folder: string, engine: Engine) {
  const file = join(folder, 'sessions.jsonl')
  const journal = createFolderJournal(join(folder, 'answers'), {
    mostBytes: Number.POSITIVE_INFINITY,
    redact: (text) => text,
    onFailed(cause) {
      throw new HarnessError('disk-failed', `An answer cannot be kept in ${folder}: ${cause.message}`, { cause })
    },
  })
  makeFolder(folder, 0o700)
  const weights = new Weights()
  const byId = new Map<string, OpenSession>()
  const byToken = new Map<string, OpenSession>()
  const turns = new Map<string, Promise<unknown>>()
  const forks = new SessionForks(journal, (line) => {
    note(line)
    return hold(line)
  })
  const last = new Map<string, SessionEntry>()
  for await (const line of linesAs(lineSchema, file)) {
    forks.remember(line)
    if (line.closed) last.delete(line.id)
    else last.set(line.id, line)
  }
  for (const line of last.values()) await hold(line)

  /** Does what changes one session after what was asked before. */
  async function inTurn<T>(id: string, run: () => Promise<T>): Promise<T> {
    const before = turns.get(id)
    const done = before ? before.then(run, run) : run()
    turns.set(id, done)
    return await done.finally(() => turns.get(id) === done && turns.delete(id))
  }

  async function hold(line: SessionEntry): Promise<OpenSession> {
    forget(line.id)
    const kept = await journal.open(line.id)
    // Tokens are many, so they are read again when somebody wants them.
    const session = new GatewaySession({ engine, journal: kept, weights, record: () => null })
    session.remember(kept.entries)
    const opened: OpenSession = {
      ...line,
      session,
      calls: async () => (await journal.open(line.id)).entries.map(callOf),
    }
    byId.set(line.id, opened)
    byToken.set(line.token, opened)
    return opened
  }

  function forget(id: string): void {
    const opened = byId.get(id)
    opened?.session[Symbol.dispose]()
    byId.delete(id)
    if (opened) byToken.delete(opened.token)
  }

  function note({ id, token, metadata, reward, fork, placed }: SessionEntry, closed?: true): void {
    forks.remember({ fork })
    appendNow(file, `\n${JSON.stringify({ id, token, metadata, reward, fork, placed, closed })}\n`, 0o600)
  }

  const sessions = {
    weights,
    /**
     * Opens a session. One that is open is opened again: its first requests get the answers that were kept, so that an
     * agent that is begun anew pays for none twice.
     *
     * @param id - Default: a new one.
     * @param isNewKey - whether its agent gets another key, and who has the one before reaches it no more.
     */
    open(id = randomId(9), metadata: JsonObject = {}, isNewKey = false): Promise<OpenSession> {
      return inTurn(id, async () => {
        const known = byId.get(id)
        const line = known && !isNewKey ? known : { metadata, reward: null, ...known, id, token: randomId(32) }
        if (line !== known) note(line)
        return await hold(line)
      })
    },
    fork: forks.fork.bind(forks),
    find: (id: string) => byId.get(id),
    findByToken: (token: string) => byToken.get(token),
    groupOf: (session: Grouped) => groupOf(session, [...byId.values()]),
    async place(session: Pick<OpenSession, 'id' | 'fork'>, played: Parameters<typeof allSteps>[1]) {
      const steps = allSteps(session, played)
      return typeof steps === 'string' ? steps : placeSteps((await journal.open(session.id)).entries, steps)
    },
    reward(id: string, reward: number, placed?: PlacedSteps): void {
      const known = byId.get(id)
      if (!known) return
      const earned = { ...known, reward, placed: placed ?? known.placed }
      note(earned)
      byId.set(id, earned)
      byToken.set(known.token, earned)
    },
    close(id: string): Promise<void> {
      return inTurn(id, async () => {
        const known = byId.get(id)
        if (!known) return
        note(known, true)
        forget(id)
        await journal.discard(id)
      })
    },
    [Symbol.dispose]() {
      for (const id of [...byId.keys()]) forget(id)
    },
  }
  const rollouts = await openRolloutQueue({
    sessions: {
      renew: async (id, metadata) => void (await sessions.open(id, metadata, true)),
      reward: sessions.reward,
      close: (id) => void sessions.close(id).catch(() => {}),
      isBusy: (id) => byId.get(id)?.session.isBusy ?? false,
      credited: (group) => sessions.groupOf({ id: '', metadata: { group } }),
    },
    weights,
    now: Date.now,
    file: join(folder, 'rollouts.jsonl'),
  })
  return { ...sessions, rollouts }
}
