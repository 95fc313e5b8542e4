import { writeSync } from 'node:fs'
import { systemClock } from './clock.ts'
import { adding, play } from './counting-session.fixture.ts'
import { openRedisStore } from './redis-store.ts'
import { Session } from './session.ts'
import type { StoredSession } from './session-store.ts'

// A process of its own for the tests of the Redis store: `node redis-writer.fixture.ts <url> <steps>` plays so many
// steps of the counting session, each an ordinary call, and tells of each answer.

const [url = '', steps] = process.argv.slice(2)
await using store = await openRedisStore(url)
const stored = (await store.read('counting-1')) as StoredSession
const session = new Session(stored, { store, clock: systemClock, history: null, queue: 1 })
for (let step = 0; step < Number(steps); step++) {
  const { step: answer } = await play(session, adding(1))
  writeSync(1, `${JSON.stringify(answer)}\n`)
}
