import type { Json, JsonObject, LoggedStep, MethodResult } from '@episodic/protocol'
import { mapTexts } from '@episodic/protocol/internal'
import type { SessionRecord, SessionStore } from '@episodic/state'
import { holdSession, readState } from '@episodic/state/internal'
import type { DumpQuery } from '../host.ts'

const HIDDEN = '[hidden]'

/**
 * Reads one session for a bug report: its record and a page of its step log. Resolves with `null` if there is no
 * session of that id, or if `owner` is given and the session has another owner.
 *
 * Private state is left out, and so is what it can be computed from: the seed, the position of chance, state hashes,
 * the data of events, and what was prepared. With `private` these are included. The texts that `secretsOf` returns for
 * the record are hidden either way, in values and in keys; what it throws is passed on.
 */
export async function dumpSession(
  store: Pick<SessionStore, 'read' | 'readLog' | 'readPages'>,
  { id, owner, private: all, after, limit }: DumpQuery,
  secretsOf: (record: SessionRecord) => readonly string[],
): Promise<MethodResult<'dump'> | null> {
  const stored = await store.read(id)
  if (!stored) return null
  const { record } = await holdSession(store, stored)
  if (owner !== undefined && owner !== record.owner) return null
  const secrets = secretsOf(record)
  const entries = await store.readLog(id, { after, limit })
  const hideIn = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
  const hide = (value: object): JsonObject => mapTexts(JSON.parse(JSON.stringify(value)), hideIn)
  return {
    session: hide(all ? await wholeRecord(store, record) : publicRecord(record)),
    log: entries.map(({ text }) => hide(all ? JSON.parse(text) : publicStep(JSON.parse(text)))),
    next: entries.length < limit ? null : (entries.at(-1)?.revision ?? null),
  }
}

async function wholeRecord(store: Pick<SessionStore, 'read' | 'readPages'>, record: SessionRecord): Promise<object> {
  const { id, base } = record
  return base ? { ...record, base: { ...base, state: (await readState(store, id, base.state)).state } } : record
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
