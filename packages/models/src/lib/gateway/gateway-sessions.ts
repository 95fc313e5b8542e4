import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { jsonAs } from '@episodic/run/base/json'
import { appendNow, makeFolder } from '@episodic/run/base/own-files'
import { z } from 'zod'
import { callOf, type RecordedCall } from '../forks/recorded-call.ts'
import { forkSchema, randomId, type SessionFork, SessionForks } from '../forks/session-forks.ts'
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
  const forks = new SessionForks(journal, (line) => {
    note(line)
    return hold(line)
  })
  for (const line of await readLines(file)) {
    if (line.closed) forget(line.id)
    else await hold(line)
  }

  async function hold(line: SessionEntry): Promise<OpenSession> {
    byId.get(line.id)?.session[Symbol.dispose]()
    forks.remember(line)
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

  function note({ id, token, metadata, reward, fork }: SessionEntry, closed?: true): void {
    appendNow(file, `${JSON.stringify({ id, token, metadata, reward, fork, ...(closed && { closed }) })}\n`, 0o600)
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
    async open(id = randomId(9), metadata: JsonObject = {}, isNewKey = false): Promise<OpenSession> {
      const known = byId.get(id)
      const line = known && !isNewKey ? known : { metadata, reward: null, ...known, id, token: randomId(32) }
      if (line !== known) {
        note(line)
        forget(id)
      }
      return await hold(line)
    },
    fork: forks.fork.bind(forks),
    find: (id: string) => byId.get(id),
    findByToken: (token: string) => byToken.get(token),
    reward(id: string, reward: number): void {
      const known = byId.get(id)
      if (!known) return
      const earned = { ...known, reward }
      note(earned)
      byId.set(id, earned)
      byToken.set(known.token, earned)
    },
    async close(id: string): Promise<void> {
      const known = byId.get(id)
      if (!known) return
      note(known, true)
      forget(id)
      await journal.discard(id)
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
    },
    weights,
    now: Date.now,
    file: join(folder, 'rollouts.jsonl'),
  })
  return { ...sessions, rollouts }
}

async function readLines(file: string): Promise<SessionEntry[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  // What a process wrote last may lack its end.
  return text.split('\n').flatMap((line) => jsonAs(lineSchema, line) ?? [])
}
