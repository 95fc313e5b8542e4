import type { DumpRequest, DumpResult, Json, JsonObject, LoggedStep } from '@episodic/protocol'
import { decodeSession, type SessionRecord, type SessionStore } from '@episodic/state'
import type { Environment } from './environment.ts'

/** What stands in the place of a value that is not dumped. */
const HIDDEN = '[hidden]'

/**
 * Reads one session as a bug report needs it: its record and a page of its step log; `null` where there is none of that id.
 *
 * Private state is left out, and so is what it can be computed from: the seed, the position of chance, state hashes, the
 * data of events, and what was prepared. With `private` these are included. What the world lists as its `secrets` at that
 * moment is hidden in every text either way, where `environmentOf` knows the world.
 */
export async function dumpSession(
  store: Pick<SessionStore, 'read' | 'readLog'>,
  { id, private: all, after, limit }: DumpRequest,
  environmentOf: (record: SessionRecord) => Environment | undefined,
): Promise<(DumpResult & { readonly owner: string | null }) | null> {
  const stored = await store.read(id)
  if (!stored) return null
  const record = decodeSession(stored)
  const entries = await store.readLog(id, { after, limit })
  const secrets = environmentOf(record)?.secrets(record.state, record.params) ?? []
  const hide = <T>(value: unknown): T => JSON.parse(JSON.stringify(value, (_, part) => withoutSecrets(part, secrets)))
  return {
    owner: record.owner,
    session: hide(all ? wholeRecord(record) : publicRecord(record)),
    log: entries.map(({ text }) => hide<JsonObject>(all ? JSON.parse(text) : publicStep(JSON.parse(text)))),
    next: entries.length < limit ? null : (entries.at(-1)?.revision ?? null),
  }
}

function withoutSecrets(part: unknown, secrets: readonly string[]): unknown {
  if (typeof part !== 'string') return part
  return secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), part)
}

function wholeRecord(record: SessionRecord): object {
  const { base } = record
  return base ? { ...record, base: { ...base, state: JSON.parse(base.state) } } : record
}

function publicRecord(record: SessionRecord): object {
  const { base, outside, state } = record
  return {
    ...record,
    seed: HIDDEN,
    rng: HIDDEN,
    state: { public: state.public, private: HIDDEN },
    base: base && { seats: base.seats, now: base.now, state: HIDDEN, rng: HIDDEN, history: base.history },
    ...(outside && { outside: HIDDEN }),
  }
}

function publicStep({ published, ...step }: LoggedStep): object {
  const { events, prepared, ...report } = step.report
  const withoutData = (event: { readonly data: Json }) => ({ ...event, data: HIDDEN })
  return {
    ...step,
    report: {
      ...report,
      stateHash: HIDDEN,
      ...(events && { events: events.map(withoutData) }),
      ...(prepared !== undefined && { prepared: HIDDEN }),
    },
    ...(published && { published: published.map(withoutData) }),
  }
}
