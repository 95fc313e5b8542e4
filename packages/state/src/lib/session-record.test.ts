import { describe, expect, it } from 'vitest'
import { adding, openCountingSession, play } from './counting-session.fixture.ts'
import { decodeSession, encodeSession } from './session-record.ts'
import type { StoredSession } from './session-store.ts'

describe('decodeSession', () => {
  it('gives back the record that was encoded', async () => {
    const { session } = await openCountingSession({ history: { entries: 9, bytes: 900 } })
    for (const by of [1, 2, 100]) await play(session, adding(by))
    const stored = encodeSession(session.record)
    expect(decodeSession(stored)).toEqual(session.record)
    expect(encodeSession(decodeSession(stored))).toEqual(stored)
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
      expect(() => decodeSession(session)).toThrow(
        expect.objectContaining({ code: 'store-invalid', message: expect.stringContaining('counting-1') }),
      )
  })
})
