import { writeSync } from 'node:fs'
import { StateError } from '@episodic/state'
import { openRedisStore } from '@episodic/state/redis'
import { holdTally, sign } from './tally.ts'

// A process for `zombie`: `node zombie-writer.ts <redis> <name> <session…>`. It writes to its sessions without end, and
// does not notice that it is frozen. After a rejected write it tries a few times more, and then reports the session:
// the last accepted revision, and the code of every rejection.

const TRIES = 5

const [url = '', name = '', ...ids] = process.argv.slice(2)
const say = (message: object) => writeSync(1, `${JSON.stringify(message)}\n`)
const store = await openRedisStore(url)
let begun = 0
await Promise.all(
  ids.map(async (id) => {
    const session = await holdTally(store, id)
    const refusals: string[] = []
    const accepted: number[] = []
    while (refusals.length < TRIES) {
      try {
        accepted.push(await sign(session, name))
        if (accepted.length === 3 && ++begun === ids.length) say({ begun })
      } catch (error) {
        refusals.push(StateError.is(error) ? error.code : String(error))
      }
    }
    say({ id, accepted: accepted.length, last: accepted.at(-1), refusals })
  }),
)
await store[Symbol.asyncDispose]()
