import { describe, expect, it } from 'vitest'
import { openCountingSession } from '../fixtures/counting-session.fixture.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import type { StoredSession } from '../store/session-store.ts'
import { holdSession } from './held-session.ts'
import { encodeSession } from './session-record.ts'

/** Decodes a stored session whose state is in no page. */
async function decode(stored: StoredSession) {
  const { record } = await holdSession(createMemoryStore(), stored)
  return record
}

describe('holdSession', () => {
  it('gives back where a session began, and keeps the state there as the very text that it was given', async () => {
    const { session } = await openCountingSession()
    const text = JSON.stringify({ public: { total: 7 }, private: { drawn: 1 } })
    const { rng, history } = session.record
    const base = { state: text, rng, now: 3, seats: { agent: { seq: 7 } }, history, request: 'digest' }
    const record = { ...session.record, state: JSON.parse(text), base }
    const stored = encodeSession(record, text)
    expect(stored).toEqual(encodeSession(record))
    expect(stored.base).toBe(text)
    expect(stored.origin).not.toContain('drawn')
    expect(await decode(stored)).toEqual(record)
    await expect(decode({ ...stored, base: null })).rejects.toThrow('where it began is there in part')
  })

  it('refuses what is damaged or of another version, and names the session', async () => {
    const { store } = await openCountingSession()
    const stored = (await store.read('counting-1')) as StoredSession
    const bad = [
      { ...stored, head: stored.head.slice(0, -1) },
      { ...stored, state: '' },
      { ...stored, origin: stored.origin.replace('"format":1', '"format":2') },
    ]
    for (const session of bad)
      await expect(decode(session)).rejects.toThrow(
        expect.objectContaining({ code: 'store-invalid', message: expect.stringContaining('counting-1') }),
      )
  })
})
